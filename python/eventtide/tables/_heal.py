"""A table of results that late rows correct, cycle by cycle."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from eventtide._session_kind import is_connect
from eventtide._text.durations import Duration, frame_micros
from eventtide.errors import refused
from eventtide.tables._framed_cycle import FramedCycle
from eventtide.tables._keyed_cycle import KeyedCycle
from eventtide.tables._session_cycle import SessionCycle
from eventtide.tables._target import target
from eventtide.windows._repairing import may_miss_some

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from eventtide.observe._location import QueryOrPath
    from eventtide.tables._target import Source, Target
    from eventtide.windows._builder import WindowBuilder

__all__ = ["heal"]

_FIX = "et.heal(counts, query, source='lake.rows', table='lake.counts')"


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
        The time from one cycle to the next, a millisecond or more.
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
        The window cannot be healed: it closes by idleness, it has triggers or late updates, it is a
        count window, a sliding window under ``"window_closed"``, or by key another one than a
        tumbling window. Or the session is one of Spark Connect, or the query has several windows.
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
    times, so a table that is partitioned or clustered by time is read in parts. For sessions it
    reads all rows of the keys that have late rows, as late rows extend and merge sessions. A
    session is corrected once all that it merges with have closed. Rows of `source` that the query
    has refused, because their time was in the future, count.

    Examples
    --------
    >>> import eventtide as et
    >>> healing = et.heal(counts, query, source="lake.rows", table="lake.counts")  # doctest: +SKIP
    """
    session, found = target(window, query, source=source, table=table, spark=spark, fix=_FIX)
    if is_connect(session):
        problem, allowed = "is a session of Spark Connect", "a classic session"
        raise refused("spark", session, problem, allowed=allowed, fix="et.repair")
    interval = frame_micros("every", every)
    folder = f"{found.checkpoint}/eventtide/heal/{_slug(table)}"
    cycle = _cycle(found, f"{folder}/pending")
    writer = cycle.signals(session).writeStream.foreachBatch(cycle)
    writer = writer.queryName(f"healing {table}")
    writer = writer.option("checkpointLocation", folder)
    if once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{interval} microseconds").start()


def _cycle(of: Target, pending: str) -> FramedCycle | KeyedCycle | SessionCycle:
    if of.is_by_key:
        return KeyedCycle(of)
    if of.is_session:
        return SessionCycle(of, pending)
    return FramedCycle(of, every_closed=may_miss_some(of.window.settings))


def _slug(table: str) -> str:
    """Return a name for the folder of a table: readable, and different for each table."""
    digest = sha256(table.encode()).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9_]+', '_', table).strip('_')[-40:]}_{digest}"
