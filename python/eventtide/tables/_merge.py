"""MERGE of results into a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.columns import backquoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

__all__ = ["merge"]

_VIEW, _GONE = "eventtide_corrections", "_eventtide_gone"


def merge(
    rows: DataFrame, table: str, keys: Sequence[str], *, gone: DataFrame | None = None
) -> None:
    """Write rows into a table in one commit, in place of the rows with the same keys.

    The rows with the keys of `gone` are deleted.
    """
    columns = [backquoted(name) for name in rows.columns]
    same = " AND ".join(f"old.{key} <=> new.{key}" for key in map(backquoted, keys))
    values = ", ".join(f"new.{column}" for column in columns)
    changes = ", ".join(f"old.{column} = new.{column}" for column in columns)
    statement = (
        f"MERGE INTO {table} AS old USING {_VIEW} AS new ON {same}"  # noqa: S608 - a name in SQL
        f" WHEN MATCHED AND new.{_GONE} THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {changes}"
        f" WHEN NOT MATCHED AND NOT new.{_GONE} THEN"
        f" INSERT ({', '.join(columns)}) VALUES ({values})"
    )
    marked = rows.withColumn(_GONE, F.lit(False))  # noqa: FBT003 - a value
    if gone is not None:
        marked = marked.unionByName(gone.withColumn(_GONE, F.lit(True)))  # noqa: FBT003 - a value
    marked.createOrReplaceTempView(_VIEW)  # of the session of one stream
    try:
        rows.sparkSession.sql(statement)
    finally:
        rows.sparkSession.catalog.dropTempView(_VIEW)
