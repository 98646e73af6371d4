"""MERGE of results into a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.columns import backquoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

__all__ = ["merge"]

_VIEW = "eventtide_corrections"


def merge(rows: DataFrame, table: str, keys: Sequence[str]) -> None:
    """Write rows into a table in one commit, in place of the rows with the same keys."""
    columns = [backquoted(name) for name in rows.columns]
    same = " AND ".join(f"old.{key} <=> new.{key}" for key in map(backquoted, keys))
    values = ", ".join(f"new.{column}" for column in columns)
    changes = ", ".join(f"old.{column} = new.{column}" for column in columns)
    statement = (
        f"MERGE INTO {table} AS old USING {_VIEW} AS new ON {same}"  # noqa: S608 - a name in SQL
        f" WHEN MATCHED THEN UPDATE SET {changes}"
        f" WHEN NOT MATCHED THEN INSERT ({', '.join(columns)}) VALUES ({values})"
    )
    rows.createOrReplaceTempView(_VIEW)  # of the session of one stream
    try:
        rows.sparkSession.sql(statement)
    finally:
        rows.sparkSession.catalog.dropTempView(_VIEW)
