"""MERGE of corrected results into a table."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.columns import backquoted
from eventtide.windows._corrections import CHANGED, Corrections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

__all__ = ["correct", "merge"]

_GONE, _WINDOW = "_eventtide_gone", "window"
_ATTEMPTS = 20

# What Delta and Iceberg say if another writer has committed meanwhile.
_CONFLICTS = (
    "ConcurrentAppend",
    "ConcurrentModification",
    "DELTA_CONCURRENT",
    "CommitFailedException",
    "Found conflicting files",
)


def correct(  # noqa: PLR0913 - keywords
    table: str,
    *,
    old: DataFrame,
    new: DataFrame,
    keys: list[str],
    chains: DataFrame | None = None,
    gone: DataFrame | None = None,
) -> None:
    """Write the results of `new` into a table that are not in `old`, and delete `gone`.

    All windows of `new` have closed, so the query that appends to the table meanwhile has others.
    """
    compared = Corrections(
        old=old,
        new=new,
        late=new,  # all count as touched
        chains=chains,
        keys=keys,
        takes_all=True,
    )
    changed = compared.corrected().where(F.col(CHANGED) != "unchanged").drop(CHANGED)
    changed = changed.localCheckpoint()
    if changed.isEmpty() and (gone is None or gone.isEmpty()):
        return
    merge(changed, table, [_WINDOW, *keys], gone=gone)


def merge(
    rows: DataFrame, table: str, keys: Sequence[str], *, gone: DataFrame | None = None
) -> None:
    """Write rows into a table in one commit, in place of the rows with the same keys.

    The rows with the keys of `gone` are deleted. If another writer commits first, the statement is
    repeated.
    """
    columns = [backquoted(name) for name in rows.columns]
    same = " AND ".join(f"old.{key} <=> new.{key}" for key in map(backquoted, keys))
    values = ", ".join(f"new.{column}" for column in columns)
    changes = ", ".join(f"old.{column} = new.{column}" for column in columns)
    view = f"eventtide_corrections_{uuid4().hex}"  # other streams of the session have their own
    statement = (
        f"MERGE INTO {table} AS old USING {view} AS new ON {same}"  # noqa: S608 - a name in SQL
        f" WHEN MATCHED AND new.{_GONE} THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {changes}"
        f" WHEN NOT MATCHED AND NOT new.{_GONE} THEN"
        f" INSERT ({', '.join(columns)}) VALUES ({values})"
    )
    marked = rows.withColumn(_GONE, F.lit(False))  # noqa: FBT003 - a value
    if gone is not None:
        marked = marked.unionByName(gone.withColumn(_GONE, F.lit(True)))  # noqa: FBT003 - a value
    marked.createOrReplaceTempView(view)
    try:
        _repeated(rows, table, statement)
    finally:
        rows.sparkSession.catalog.dropTempView(view)


def _repeated(rows: DataFrame, table: str, statement: str) -> None:
    for left in reversed(range(_ATTEMPTS)):
        try:
            rows.sparkSession.sql(statement)
        except Exception as error:  # noqa: PERF203 - the formats have no class in common
            if not left or not any(name in f"{type(error)} {error}" for name in _CONFLICTS):
                raise
            rows.sparkSession.sql(f"REFRESH TABLE {table}")
        else:
            return
