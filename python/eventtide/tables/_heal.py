"""A table of results that late rows correct, cycle by cycle."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._session_kind import is_connect
from eventtide._text.durations import Duration, micros
from eventtide.errors import refused
from eventtide.tables._merge import merge
from eventtide.tables._target import Target, target
from eventtide.windows._corrections import CHANGED, Corrections
from eventtide.windows._event_time import EventTime
from eventtide.windows._repairing import may_miss_some
from eventtide.windows._shapes import Framed

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from eventtide.observe._location import QueryOrPath
    from eventtide.tables._target import Source
    from eventtide.windows._builder import WindowBuilder

__all__ = ["heal"]

_FIX = "et.heal(counts, query, source='lake.rows', table='lake.counts')"
_TIME, _WINDOW = "time", "window"
_MOST_RANGES = 50


def heal(  # noqa: PLR0913 - keywords
    window: WindowBuilder,
    query: QueryOrPath,
    *,
    source: Source,
    table: str,
    every: Duration = "1m",
    once: bool = False,
    spark: SparkSession | None = None,
) -> StreamingQuery:
    """Correct a table of results for late rows, again and again, until it equals a batch query.

    A stream follows the late log and the closed windows of the query. In each cycle it recomputes
    the closed windows that have new late rows from all rows, and merges what differs into the
    table, in one commit.

    Parameters
    ----------
    window : WindowBuilder
        The window of the query, over any DataFrame. It must set its event time.
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location. It must log late rows.
    source : str or callable
        All rows of the query, including late rows: the name of a table, or a function that is
        called in each cycle with the session and returns a batch DataFrame.
    table : str
        The name of the table in SQL, such as ``lake.counts`` or ``delta.`/data/counts` ``, into
        which the query writes its results. It must support ``MERGE``, as Delta and Iceberg do.
    every : str or timedelta
        The time from one cycle to the next.
    once : bool
        Whether to correct what there is to correct now, and end. Otherwise the stream runs until it
        is stopped.
    spark : SparkSession, optional
        The session to run in. By default the session of the query, or the active session.

    Returns
    -------
    StreamingQuery
        The stream, which has been started.

    Raises
    ------
    InvalidArgumentError
        The window cannot be healed: it is not a tumbling, sliding or cumulative window in the time
        of the query, it has triggers, or it is a sliding window under ``"window_closed"``. Or the
        session is one of Spark Connect, or the query has several windows.
    CheckpointError
        There is no checkpoint, or the query does not log late rows.

    Notes
    -----
    After a cycle, the table equals ``window.over(source)`` for each window that the query has
    closed, without the rows that came since; `prove` compares them. A cycle that is killed is
    repeated, and a repeated ``MERGE`` of the same results changes nothing. The stream keeps its
    position in the checkpoint of the query, in ``eventtide/heal``, one for each table. With
    `late_retention`, late rows stay until it has read them.

    Each cycle reads the rows of the windows that it recomputes: it filters `source` by their event
    times, so a table that is partitioned or clustered by time is read in parts. Rows of `source`
    that the query has refused, because their time was in the future, count.

    Examples
    --------
    >>> import eventtide as et
    >>> healing = et.heal(counts, query, source="lake.rows", table="lake.counts")  # doctest: +SKIP
    """
    session, found = target(window, query, source=source, table=table, spark=spark, fix=_FIX)
    _check(session, found)
    cycle = Cycle(found, every_closed=may_miss_some(found.window.settings))
    writer = cycle.signals(session).writeStream.foreachBatch(cycle)
    writer = writer.queryName(f"healing {table}")
    folder = f"{found.checkpoint}/eventtide/heal/{_slug(table)}"
    writer = writer.option("checkpointLocation", folder)
    if once:
        return writer.trigger(availableNow=True).start()
    seconds = micros("every", every, positive=True) / 1_000_000
    return writer.trigger(processingTime=f"{seconds} seconds").start()


def _check(session: SparkSession, found: Target) -> None:
    if is_connect(session):
        problem, allowed = "is a session of Spark Connect", "a classic session"
        raise refused("spark", session, problem, allowed=allowed, fix="et.repair")
    shape = found.window.settings.shape
    if not isinstance(shape, Framed):
        problem = "has windows that close at times of their keys"
        allowed = "a tumbling, sliding or cumulative window"
        raise refused("window", found.window, problem, allowed=allowed, fix="et.repair every night")


def _slug(table: str) -> str:
    """Return a name for the folder of a table: readable, and different for each table."""
    digest = sha256(table.encode()).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9_]+', '_', table).strip('_')[-40:]}_{digest}"


@dataclass(frozen=True)
class Cycle:
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

        def read(source: str) -> DataFrame:
            stream = spark.readStream.format(source)
            return stream.option("checkpoint", self.target.checkpoint).load()

        late = read("eventtide-late").where("_reason NOT IN ('future', 'bad_time')")
        closed = read("eventtide-completeness")
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
