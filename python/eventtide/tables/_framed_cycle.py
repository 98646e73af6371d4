"""A cycle that corrects the tumbling, sliding and cumulative windows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide.tables._merge import correct
from eventtide.tables._ranges import within
from eventtide.windows._event_time import EventTime

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from eventtide.tables._target import Target

__all__ = ["FramedCycle"]

_TIME, _WINDOW = "time", "window"


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
        if affected.isEmpty():
            return
        rows = self.target.rows(spark).where(within(self.target.time, affected))
        found = self.target.results(rows)
        new = found.join(affected, _WINDOW, "left_semi").localCheckpoint()
        old = self.target.written(spark, new).join(affected, _WINDOW, "left_semi")
        correct(self.target.table, old=old, new=new, keys=new.columns[1 : 1 + self.target.keys])

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
