"""Comparison of the old and the new results of the same windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.columns import backquoted
from eventtide.windows._comparable import comparable

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["CHANGED", "Corrections"]

CHANGED = "changed"
_WINDOW, _KEY, _GROUP = "window", "key", "group"
_NEW, _OLD, _LATE, _CHAIN = "new", "old", "late", "chain"


@dataclass(frozen=True)
class Corrections:
    """Results that the query wrote, and results recomputed from all rows.

    Results are compared in groups. A group is one window and key. For sessions, a group is one
    chain of rows of a key without a gap between them.

    Attributes
    ----------
    old, new : DataFrame
        The results that were written, and the results recomputed from all rows.
    late : DataFrame
        The windows of the late rows only.
    chains : DataFrame or None
        The sessions of all rows without a maximum duration; each session is a group. None if a
        group is a window.
    keys : list of str
        The key columns, which all of these DataFrames have.
    takes_all : bool
        Whether every group is corrected, even if it has no late rows.
    """

    old: DataFrame
    new: DataFrame
    late: DataFrame
    chains: DataFrame | None
    keys: list[str]
    takes_all: bool

    def corrected(self) -> DataFrame:
        """Return the corrected results, with the columns of `old` and `CHANGED`."""
        rows = F.when(self._is_touched(), F.transform(_NEW, self._judged)).otherwise(
            F.transform(_OLD, lambda old: _told(old, F.lit("unchanged")))
        )
        told = self._groups().select(F.explode(rows).alias("told"))
        return told.select("told.row.*", f"told.{CHANGED}")

    def _groups(self) -> DataFrame:
        columns = F.struct(*map(_named, self.old.columns))
        yes = F.lit(True)  # noqa: FBT003 - a value
        parts = [
            self._part(self.new, columns.alias(_NEW)),
            self._part(self.old, columns.alias(_OLD)),
            self._part(self.late, yes.alias(_LATE)),
        ]
        if self.chains is not None:
            parts.append(self._part(self.chains, yes.alias(_CHAIN)))
        together = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)
        group = F.col(_WINDOW) if self.chains is None else _chain()
        return (
            together.withColumn(_GROUP, group)
            .groupBy(_KEY, _GROUP)
            .agg(*(F.collect_list(name).alias(name) for name in (_NEW, _OLD, _LATE)))
        )

    def _part(self, rows: DataFrame, value: Column) -> DataFrame:
        keys = (comparable(_named(key), rows.schema[key].dataType) for key in self.keys)
        key = F.struct(F.lit(0), *(part.alias(f"_{i}") for i, part in enumerate(keys)))
        return rows.select(_WINDOW, key.alias(_KEY), value)

    def _is_touched(self) -> Column:
        """Return whether the new results of a group replace the old results."""
        if self.takes_all:
            return F.size(_NEW) > 0
        touched = F.size(_LATE) > 0
        if self.chains is not None:
            # A row that is not late may merge an open session with an emitted session.
            touched |= F.size(_OLD) > F.size(_NEW)
        return touched & (F.size(_NEW) > 0)

    def _judged(self, new: Column) -> Column:
        """Return a new result with its `CHANGED` value."""
        before = F.filter(_OLD, lambda old: _overlap(old, new))
        same = F.forall(before, lambda old: self._comparable(old).eqNullSafe(self._comparable(new)))
        changed = F.when(F.size(before) == 0, "new").when(same, "unchanged").otherwise("corrected")
        return _told(new, changed)

    def _comparable(self, row: Column) -> Column:
        fields = self.new.schema.fields
        return F.struct(*(comparable(row[field.name], field.dataType) for field in fields))


def _chain() -> Column:
    """Return the chain in which a result begins, or the result's window if there is none."""
    start = F.col(_WINDOW).getField("start")
    order = Window.partitionBy(_KEY).orderBy(start, F.col(_CHAIN).desc_nulls_last())
    before = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    chain = F.last(F.when(F.col(_CHAIN), F.col(_WINDOW)), ignorenulls=True).over(before)
    return F.when(start < chain.getField("end"), chain).otherwise(F.col(_WINDOW))


def _overlap(one: Column, other: Column) -> Column:
    a, b = one[_WINDOW], other[_WINDOW]
    return (a["start"] < b["end"]) & (b["start"] < a["end"])


def _told(row: Column, changed: Column) -> Column:
    return F.struct(row.alias("row"), changed.alias(CHANGED))


def _named(column: str) -> Column:
    return F.col(backquoted(column))
