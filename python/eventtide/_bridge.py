"""The bridge to Spark's JVM, chosen by the kind of session that an object belongs to.

Nothing else chooses. A bridge is a module with the functions of `Bridge`. It is imported when it is
first used, because a client of Spark Connect has no py4j.
"""

# pyright: reportReturnType=false
# The methods of a protocol have no bodies.

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from eventtide._session_kind import is_connect
from eventtide.errors import renamed, unready

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

    from eventtide._jvm.handles import ScriptedQueryHandle, ScriptHandle
    from eventtide._request import Request
    from eventtide.errors import EventtideError

    Thing: TypeAlias = "DataFrame | SparkSession | StreamingQuery | DataStreamWriter | Column"

__all__ = ["Bridge", "columns", "named_errors", "named_errors_of", "of"]

_Query = TypeVar("_Query", bound="StreamingQuery")


class Bridge(Protocol):
    """The functions of a bridge. Each checks the session first, and raises eventtide's errors."""

    def schema(self, df: DataFrame) -> StructType | None:
        """Return the schema of `df`, None where the server may not be asked: in a pipeline."""

    def requested(self, df: DataFrame, request: Request) -> DataFrame:
        """Return `df` with a watermark or a window; the caller has checked the arguments."""

    def named_sql(self, column: Column) -> tuple[str, str] | None:
        """Return the alias and the SQL text of a column, None if it lacks one of them."""

    def read_state(self, results: DataFrame, checkpoint: str) -> DataFrame:
        """Return the current results of the open windows in a query's checkpoint."""

    def progress_json(self, query: StreamingQuery) -> str | None:
        """Return the progress of a query's watermarks as JSON, None without a watermark."""

    def blame(self, query: StreamingQuery) -> str | None:
        """Return the text of `blame` for a query, None without a watermark."""

    def checkpoint_json(
        self, session: SparkSession, checkpoint: str, plan: DataFrame | None
    ) -> str:
        """Return the contents of a checkpoint as JSON, and whether a plan can continue from it."""

    def why(self, session: SparkSession, checkpoint: str, question: Mapping[str, str]) -> str:
        """Return why a window is open or has closed, or why a row was late."""

    def clean_late(
        self, session: SparkSession, checkpoint: str, late_to: Sequence[str], *, dry_run: bool
    ) -> list[str]:
        """Remove unreferenced late files, and return their paths."""

    def compact_late(
        self, session: SparkSession, checkpoint: str, late_to: Sequence[str]
    ) -> tuple[int, int, int]:
        """Compact late files; return the numbers of batches, files before and files after."""

    def forget_late_reader(self, session: SparkSession, checkpoint: str, reader: str) -> None:
        """Remove a reader of late rows from a checkpoint."""

    def repartition(self, session: SparkSession, checkpoint: str, partitions: int) -> int:
        """Change the number of state partitions; return the number before."""

    def session_of(self, query: StreamingQuery) -> SparkSession:
        """Return the session of a query."""

    def checkpoint_of(self, query: StreamingQuery) -> str:
        """Return the checkpoint location of a query, running or stopped."""

    def read_late(self, session: SparkSession, options: Mapping[str, str]) -> DataFrame:
        """Return the current rows of a late log."""

    def completeness(self, session: SparkSession, options: Mapping[str, str]) -> DataFrame:
        """Return the closed windows of a query."""

    def complete_up_to(self, session: SparkSession) -> int | None:
        """Return the time up to which windows are complete with the batch of this thread."""

    def has_file(self, session: SparkSession, path: str) -> bool:
        """Tell whether a file exists, on any file system of Hadoop."""

    def stream_late(self, session: SparkSession, options: Mapping[str, str]) -> DataFrame:
        """Return the rows of a late log as a stream."""

    def late_nodes(self, df: DataFrame) -> list[str]:
        """Return the ids of the nodes of a plan with late rows, in the order of their logs."""

    def written(self, writer: DataStreamWriter) -> DataFrame:
        """Return the DataFrame that a writer writes."""

    def writes(self, writer: DataStreamWriter, df: DataFrame) -> bool:
        """Return whether a writer was created from this DataFrame object."""

    def await_late_log(self, query: StreamingQuery) -> None:
        """Wait until a started query has a late log, or has ended."""

    def start(
        self,
        writer: DataStreamWriter,
        calls: type[_Query],
        *,
        followed: bool = False,
        drain: bool = False,
    ) -> _Query:
        """Start a query with the methods of `calls`; if `followed`, a companion can follow it."""

    def backfill(self, writer: DataStreamWriter, calls: type[_Query], history: DataFrame) -> _Query:
        """Start a query that reads a history in place of its stream, and ends."""

    def follow_late(self, query: StreamingQuery, window: int) -> Mapping[str, str] | None:
        """Announce a companion, and return the options of its stream of late rows.

        The option ``companion`` is its checkpoint location. None if the query ended before it had a
        late log.
        """

    def has_named_sources(self, query: StreamingQuery) -> bool:
        """Return whether Spark requires a name for each source of a query and its companion."""

    def await_companion(self, query: StreamingQuery, companion: StreamingQuery) -> None:
        """Wait until a companion is tied to its query: each ends with the other."""

    def release_late(self, query: StreamingQuery) -> None:
        """Release a query started with `followed` that has no companion after all."""

    def await_calls(self, query: StreamingQuery, timeout: float | None) -> bool:
        """Wait until a query and its companion have ended; return false if the time is up."""

    def catch_up_calls(self, query: StreamingQuery) -> None:
        """Wait for the calls of all committed batches of a query."""

    def explain_json(self, df: DataFrame) -> str:
        """Return the description of eventtide's operators in a DataFrame's plan, as JSON."""

    def script(self, session: SparkSession, schema: StructType) -> ScriptHandle:
        """Return an empty script, for the test kit."""

    def scripted_query(
        self,
        df: DataFrame,
        output_mode: str,
        checkpoint: str,
        start_ms: int,
        *,
        real_time: bool = False,
    ) -> ScriptedQueryHandle:
        """Return a query with a scripted clock, not yet started."""

    def named(self, error: Exception, query: StreamingQuery | None = None) -> EventtideError | None:
        """Return the eventtide error that caused an error of Spark, None if there is none.

        If the error is of a `query`, its session is asked.
        """


def columns(df: DataFrame) -> list[str] | None:
    """Return the columns of `df`, None where the server may not be asked."""
    schema = of(df).schema(df)
    return None if schema is None else schema.names


def of(*things: Thing) -> Bridge:
    """Return the bridge of the session that these objects belong to.

    Raises
    ------
    SetupError
        Some belong to a classic session, and others to Spark Connect.
    """
    kinds = {is_connect(thing) for thing in things}
    if len(kinds) > 1:
        raise unready(
            "One of these objects belongs to a classic session, and another to Spark Connect.",
            "Use objects of one session.",
        )
    if kinds == {True}:
        from eventtide import _connect  # noqa: PLC0415 - it needs the client of Spark Connect

        return _connect  # type: ignore[return-value] # for the classes of Spark Connect
    from eventtide import _jvm  # noqa: PLC0415 - only where there is py4j

    return _jvm


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise eventtide's JVM errors as their Python classes; other errors are not changed.

    Eventtide's functions raise these classes already. A query runs in a separate thread, so an
    error that stops it reaches Python as Spark's ``StreamingQueryException``. This block converts
    it to the error that caused it.

    Raises
    ------
    EventtideError
        In place of an exception that an eventtide error caused: `CheckpointError`,
        `RefusedDataError` and the like.

    Examples
    --------
    >>> import eventtide as et
    >>> with et.named_errors():  # doctest: +SKIP
    ...     query.awaitTermination()
    """
    with renamed(_named):
        yield


@contextmanager
def named_errors_of(query: StreamingQuery) -> Iterator[None]:
    """Do the same for the errors of a query, which its own session knows best."""
    with renamed(lambda error: of(query).named(error, query)):
        yield


def _named(error: Exception) -> EventtideError | None:
    # An error of a session comes after the bridge of the session was imported.
    bridges = map(sys.modules.get, ("eventtide._jvm", "eventtide._connect"))
    found = (bridge.named(error) for bridge in bridges if bridge is not None)
    return next((named for named in found if named is not None), None)
