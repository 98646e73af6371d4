"""What a table of results is compared with: the results of the same windows over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import TimestampNTZType

from eventtide import _bridge
from eventtide._session_kind import is_query
from eventtide._text.arguments import of_type
from eventtide._text.columns import backquoted, listed
from eventtide.errors import CheckpointError, refused
from eventtide.observe._checkpoint import read_checkpoint
from eventtide.observe._location import located
from eventtide.tables._chains import Chains
from eventtide.windows._repairing import as_built, final_window, late_rule
from eventtide.windows._shapes import Framed
from eventtide.windows._unframed import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from eventtide.observe._location import QueryOrPath
    from eventtide.windows._builder import WindowBuilder
    from eventtide.windows._settings import Settings

__all__ = ["Source", "Target", "target"]

Source: TypeAlias = "str | Callable[[SparkSession], DataFrame]"
"""All rows of a query: the name of a table, or a function that reads them."""

_NEVER = datetime(1, 1, 1, tzinfo=timezone.utc)
_SOURCE_FIX = "source=lambda spark: spark.read.parquet('/data/archive')"


@dataclass(frozen=True)
class Target:
    """A table with the results of a query's window.

    Attributes
    ----------
    window : WindowBuilder
        The window, with final results and without a watermark.
    checkpoint : str
        The checkpoint location of the query.
    source : str or callable
        All rows.
    table : str
        The name of the table in SQL.
    is_by_key : bool
        Whether keys, or groups of keys, have their own watermark in the query.
    """

    window: WindowBuilder
    checkpoint: str
    source: Source
    table: str
    is_by_key: bool

    def closed_up_to(self, spark: SparkSession) -> datetime:
        """Return the end up to which the query has written results."""
        [window] = read_checkpoint(self.checkpoint, spark=spark).windows
        return window.closed_up_to or _NEVER

    def closed_by(self, spark: SparkSession) -> datetime | None:
        """Return the watermark up to which the query has written results."""
        return read_checkpoint(self.checkpoint, spark=spark).closed_by

    def chains(self, spark: SparkSession) -> Chains:
        """Return the chains of rows that sessions, or tumbling windows by key, have."""
        results = self.results(self.rows(spark))
        return Chains(self.window, results.columns[1 : 1 + self.keys])

    @property
    def is_session(self) -> bool:
        """Whether the windows are sessions."""
        return isinstance(self.window.settings.shape, Session)

    def late(self, reader: DataStreamReader | DataFrameReader) -> DataFrame:
        """Return the late rows that a window lacks."""
        late = reader.format("eventtide-late").option("checkpoint", self.checkpoint).load()
        return late.where("_reason NOT IN ('future', 'bad_time', 'bad_gap')")

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return all rows, as they are now."""
        return spark.table(self.source) if isinstance(self.source, str) else self.source(spark)

    def results(self, rows: DataFrame) -> DataFrame:
        """Return the results of some rows."""
        return self.window.over(rows).results

    def written(self, spark: SparkSession, like: DataFrame) -> DataFrame:
        """Return the results in the table, with the columns of `like` in their order."""
        spark.sql(f"REFRESH TABLE {self.table}")  # another application may have written into it
        found = spark.table(self.table)
        if missing := [name for name in like.columns if name not in found.columns]:
            problem = f"lacks the columns {listed(missing)} of the window"
            allowed = f"a table with {listed(like.columns)}"
            raise refused("table", self.table, problem, allowed=allowed, fix="another table")
        return found.select(*(backquoted(name) for name in like.columns))

    @property
    def time(self) -> Column:
        """The event time of a row."""
        time = self.window.settings.event_time
        assert time is not None  # noqa: S101 - `final_window` refuses windows without one
        return F.col(time.column)

    @property
    def keys(self) -> int:
        """The number of columns of keys."""
        return len(self.window.settings.key_by)


def target(  # noqa: PLR0913 - the arguments of `heal`
    window: WindowBuilder,
    query: QueryOrPath,
    *,
    source: Source,
    table: str,
    spark: SparkSession | None,
    fix: str,
) -> tuple[SparkSession, Target]:
    """Check the arguments of `heal` and `prove`; return the session too."""
    of_type("table", table, str, "the name of a table", "table='lake.counts'")
    if not callable(source):
        allowed = "the name of a table, or a function of the session that reads all rows"
        of_type("source", source, str, allowed, _SOURCE_FIX)
    session, checkpoint = located(query, spark, fix)
    if is_query(query):
        _bridge.of(query).await_late_log(query)
    built = as_built(window, session)
    final = final_window(built)
    _check_window(built)
    found = Target(final, checkpoint, source, table, built.settings.is_by_key)
    _check_windows(session, found)
    _check_time(found.results(found.rows(session)))
    return session, found


def _check_window(window: WindowBuilder) -> None:
    """Reject windows that may be open when a row is late for them, or have several results."""
    of = window.settings
    if of.key_idle_timeout or of.emit or of.late_updates:
        problem = "has windows that close by idleness, or that have several results"
        allowed = "a window that a watermark closes, without triggers"
    elif of.is_by_key and not _late_row_is_of_closed(of):
        problem = "has windows by key that may be open when a row is late"
        allowed = "tumbling windows by key under late_rule('window_closed')"
    else:
        return
    raise refused("window", window, problem, allowed=allowed, fix="et.repair every night")


def _check_time(results: DataFrame) -> None:
    """Reject times without a zone, which a table and a session may read as other instants."""
    [end] = results.select("window.end").schema.fields
    if end.dataType == TimestampNTZType():
        problem, allowed = "has an event time of type TIMESTAMP_NTZ", "TIMESTAMP"
        fix = "F.col('ts').cast('timestamp')"
        raise refused("window", "window", problem, allowed=allowed, fix=fix)


def _late_row_is_of_closed(of: Settings) -> bool:
    """Return whether a late row is of windows that have closed only."""
    shape = of.shape
    if not isinstance(shape, Framed) or shape.frames > 1:
        return False
    return late_rule(of, shape) != "behind_watermark"


def _check_windows(session: SparkSession, of: Target) -> None:
    try:
        count = len(read_checkpoint(of.checkpoint, spark=session).windows)
    except CheckpointError as error:
        if error.condition == "CHECKPOINT_EMPTY":  # its query has just begun
            return
        raise
    if count != 1:
        problem, allowed = f"has {count} windows", "a query with one window"
        raise refused("query", of.checkpoint, problem, allowed=allowed, fix="et.repair")
