"""A cycle that corrects the tumbling, sliding and cumulative windows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide.tables._merge import merge
from eventtide.windows._corrections import CHANGED, Corrections
from eventtide.windows._event_time import EventTime

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from eventtide.tables._target import Target

__all__ = ["FramedCycle"]

_TIME, _WINDOW = "time", "window"
_MOST_RANGES = 50


@dataclass(frozen=True)
class FramedCycle:
    """One cycle: a batch of the stream of signals.

    Attributes
    ----------
    target : Target
        The table.
    every_closed : bool
        Whether a row that is not late may miss some of its windows, so that no late row tells of
        it. Then all windows with the start of a window that has closed are recomputed.
    """

    target: Target
    every_closed: bool

    def signals(self, spark: SparkSession) -> DataFrame:
        """Return the stream of late rows' times and of closed windows."""
        late = self.target.late(spark.readStream)
        stream = spark.readStream.format("eventtide-completeness")
        closed = stream.option("checkpoint", self.target.checkpoint).load()
        if self.every_closed:
            closed = closed.select(F.col("window.start").alias(_TIME), _no_window(closed))
        else:
            closed = closed.where("late > 0").select(_no_time(), _WINDOW)
        return late.select(F.col("_event_time").alias(_TIME), _no_window(closed)).union(closed)

    def __call__(self, signals: DataFrame, _: int) -> None:
        """Recompute the windows, and merge what differs."""
        spark = signals.sparkSession
        affected = self._affected(signals, self.target.closed_up_to(spark))
        ranges = _ranges([(row.start, row.end) for row in affected.select("window.*").collect()])
        if not ranges:
            return
        rows = self.target.rows(spark).where(_within(self.target.time, ranges))
        found = self.target.results(rows)
        new = found.join(affected, _WINDOW, "left_semi").localCheckpoint()
        old = self.target.written(spark, new).join(affected, _WINDOW, "left_semi")
        keys = new.columns[1 : 1 + self.target.keys]
        compared = Corrections(old=old, new=new, late=new, chains=None, keys=keys, takes_all=True)
        changed = compared.corrected().where(F.col(CHANGED) != "unchanged").drop(CHANGED)
        merge(changed.localCheckpoint(), self.target.table, [_WINDOW, *keys])

    def _affected(self, signals: DataFrame, closed_up_to: datetime) -> DataFrame:
        """Return the windows to recompute."""
        times = signals.where(F.col(_TIME).isNotNull()).select(_TIME)
        plain = replace(self.target.window.settings, event_time=EventTime(_TIME), key_by=())
        spans = replace(self.target.window, _df=times, settings=plain)
        of_times = spans.agg(F.count("*").alias("n")).results.select(_WINDOW)
        named = signals.where(F.col(_WINDOW).isNotNull()).select(_WINDOW)
        both = of_times.union(named).distinct()
        return both.where(F.col("window.end") <= F.lit(closed_up_to)).localCheckpoint()


def _no_time() -> Column:
    return F.lit(None).cast("timestamp").alias(_TIME)


def _no_window(closed: DataFrame) -> Column:
    return F.lit(None).cast(closed.schema[_WINDOW].dataType).alias(_WINDOW)


def _ranges(windows: list[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """Return the times that windows cover, in few ranges.

    Examples
    --------
    >>> _ranges([(5, 6), (1, 3), (2, 4)])
    [(1, 4), (5, 6)]
    """
    ranges: list[tuple[datetime, datetime]] = []
    for start, end in sorted(windows):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    if len(ranges) > _MOST_RANGES:
        return [(ranges[0][0], ranges[-1][1])]
    return ranges


def _within(time: Column, ranges: list[tuple[datetime, datetime]]) -> Column:
    """Return whether a time is in one of the ranges; their ends are included."""
    parts = [time.between(F.lit(start), F.lit(end)) for start, end in ranges]
    return reduce(Column.__or__, parts)
