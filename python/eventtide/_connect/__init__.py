"""The Spark Connect bridge: the only package that uses Spark Connect's messages.

Each function sends a request or a question to the server; ``ConnectAnswers`` there has the answers.
Requests are analyzed at once, as in a classic session, so that their errors are raised where they
were made.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql.connect.column import Column
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.expressions import ColumnAlias, SQLExpression
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.connect.streaming.query import StreamingQuery

from eventtide._connect.answers import ask, ask_of, check
from eventtide._connect.failures import in_flow, named, named_errors
from eventtide._connect.handles import ScriptedQueryHandle, ScriptHandle
from eventtide._connect.plans import RequestPlan
from eventtide._request import Request
from eventtide._session_kind import combined
from eventtide.errors import unready

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.connect.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

__all__ = [
    "await_calls",
    "await_companion",
    "await_late_log",
    "backfill",
    "blame",
    "catch_up_calls",
    "checkpoint_json",
    "checkpoint_of",
    "clean_late",
    "compact_late",
    "complete_up_to",
    "completeness",
    "explain_json",
    "follow_late",
    "forget_late_reader",
    "has_file",
    "has_named_sources",
    "late_nodes",
    "named",
    "named_sql",
    "progress_json",
    "read_late",
    "read_state",
    "release_late",
    "repartition",
    "requested",
    "schema",
    "script",
    "scripted_query",
    "session_of",
    "start",
    "stream_late",
    "why",
    "writes",
    "written",
]

_Query = TypeVar("_Query", bound=StreamingQuery)


def schema(df: DataFrame) -> StructType | None:
    """Return the schema of a DataFrame, None in a flow function of a pipeline."""
    try:
        return df.schema
    except PySparkException as error:
        if in_flow(error):
            return None
        raise


def requested(df: DataFrame, request: Request) -> DataFrame:
    """Return `df` with a watermark or a window; the caller has checked the arguments."""
    if request.names_python_policy:
        raise unready(
            "The server cannot call a policy in Python, whose class is in this process.",
            "Use a classic session, or a policy in the server's jars: WatermarkPolicies.from_jar.",
        )
    check(df.sparkSession)
    return _analyzed(DataFrame(RequestPlan(df._plan, request), df.sparkSession))


def named_sql(column: Column) -> tuple[str, str] | None:
    """Return the alias and the SQL text of a column, None if one of them is missing."""
    alias = column._expr
    if not isinstance(alias, ColumnAlias):
        return None
    inner = alias._child
    written = {"written": inner._expr} if isinstance(inner, SQLExpression) else {}
    question = Request.of("sql_of", written, columns={"column": [Column(inner)]})
    text = ask(SparkSession.active(), question)
    return None if text is None else (alias._alias[0], text)


def read_state(results: DataFrame, checkpoint: str) -> DataFrame:
    """Return the current results of the open windows in a query's checkpoint."""
    return requested(results, Request.of("read_state", {"checkpoint": checkpoint}))


def progress_json(query: StreamingQuery) -> str | None:
    """Return the progress of a query's watermarks as JSON, None without a watermark."""
    return ask_of(query, "progress")


def blame(query: StreamingQuery) -> str | None:
    """Return the text of `blame` for a query, None without a watermark."""
    return ask_of(query, "blame")


def checkpoint_json(session: SparkSession, checkpoint: str, plan: DataFrame | None) -> str:
    """Return the contents of a checkpoint as JSON, and whether a plan can continue from it."""
    return str(ask(session, Request.of("checkpoint", {"checkpoint": checkpoint}), plan))


def why(session: SparkSession, checkpoint: str, question: Mapping[str, str]) -> str:
    """Return why a window is open or has closed, or why a row was late."""
    options = {"checkpoint": checkpoint, "question": json.dumps(dict(question))}
    return str(ask(session, Request.of("why", options)))


def clean_late(
    session: SparkSession, checkpoint: str, late_to: Sequence[str], *, dry_run: bool
) -> list[str]:
    """Remove unreferenced late files, and return their paths."""
    more = {"late_to": json.dumps(list(late_to)), "dry_run": json.dumps(dry_run)}
    found = ask(session, Request.of("clean_late", {"checkpoint": checkpoint, **more}))
    return [str(path) for path in json.loads(found or "[]")]


def compact_late(
    session: SparkSession, checkpoint: str, late_to: Sequence[str]
) -> tuple[int, int, int]:
    """Compact late files; return the numbers of batches, files before and files after."""
    options = {"checkpoint": checkpoint, "late_to": json.dumps(list(late_to))}
    batches, before, after = json.loads(ask(session, Request.of("compact_late", options)) or "[]")
    return batches, before, after


def forget_late_reader(session: SparkSession, checkpoint: str, reader: str) -> None:
    """Remove a reader of late rows from a checkpoint."""
    options = {"checkpoint": checkpoint, "reader": reader}
    ask(session, Request.of("forget_late_reader", options))


def repartition(session: SparkSession, checkpoint: str, partitions: int) -> int:
    """Change the number of state partitions; return the number before."""
    options = {"checkpoint": checkpoint, "partitions": str(partitions)}
    return int(ask(session, Request.of("repartition", options)) or 0)


def session_of(query: StreamingQuery) -> SparkSession:
    """Return the session of a query."""
    return query._session


def checkpoint_of(query: StreamingQuery) -> str:
    """Return the checkpoint location of a query, running or stopped."""
    return str(ask_of(query, "checkpoint_of"))


def read_late(session: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return the current rows of a late log."""
    check(session)
    return _analyzed(session.read.format("eventtide-late").options(**options).load())


def stream_late(session: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return the rows of a late log as a stream."""
    check(session)
    return _analyzed(session.readStream.format("eventtide-late").options(**options).load())


def complete_up_to(session: SparkSession) -> int | None:
    """Return None: a client does not run on the thread of a query."""
    check(session)
    return None


def has_file(session: SparkSession, path: str) -> bool:  # noqa: ARG001 - of the other bridge
    """Return False: a client sees no file system of Hadoop."""
    check(session)
    return False


def completeness(session: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return the closed windows of a query."""
    check(session)
    return _analyzed(session.read.format("eventtide-completeness").options(**options).load())


def writes(writer: DataStreamWriter, df: DataFrame) -> bool:
    """Return whether a writer was created from this DataFrame object."""
    return writer._write_stream._child is df._plan


def late_nodes(df: DataFrame) -> list[str]:
    """Return the ids of the nodes of a plan with late rows, in the order of their logs."""
    return list(
        map(str, json.loads(ask(df.sparkSession, Request.of("late_nodes", {}), df) or "[]"))
    )


def written(writer: DataStreamWriter) -> DataFrame:
    """Return the DataFrame that a writer writes."""
    rows: Any = writer._write_stream._child
    return DataFrame(rows, writer._session)


def await_late_log(query: StreamingQuery) -> None:
    """Wait until a started query has a late log, or has ended."""
    ask_of(query, "await_late_log")


def start(
    writer: DataStreamWriter, calls: type[_Query], *, followed: bool = False, drain: bool = False
) -> _Query:
    """Start a query with the methods of `calls`; if `followed`, a companion can follow it."""
    options = {"followed": json.dumps(followed), "drain": json.dumps(drain)}
    request = Request.of("start", options) if followed or drain else None
    return _started(writer, calls, request)


def backfill(writer: DataStreamWriter, calls: type[_Query], history: DataFrame) -> _Query:
    """Start a query that reads a history in place of its stream, and ends.

    The server reads the history as a view: a relation of a plugin has one input.
    """
    view = f"_eventtide_history_{uuid4().hex}"
    operation = writer._write_proto
    own = type(operation)()
    own.CopyFrom(operation)
    history.createTempView(view)
    try:
        writer.trigger(availableNow=True)
        return _started(writer, calls, Request.of("backfill", {"history": view}))
    finally:
        operation.CopyFrom(own)
        history.sparkSession.catalog.dropTempView(view)


def _started(writer: DataStreamWriter, calls: type[_Query], request: Request | None) -> _Query:
    """Start a query, with a request over its rows."""
    stream = writer._write_stream
    rows = stream._child
    if request is not None:
        stream._child = RequestPlan(rows, request)
    try:
        started = writer.start()
    finally:
        stream._child = rows
    return combined(calls, StreamingQuery)(writer._session, started.id, started.runId, started.name)


def follow_late(query: StreamingQuery, window: int) -> dict[str, str] | None:
    """Return the options of the stream of late rows, None if the query ended without a log."""
    found = ask_of(query, "follow_late", window=str(window))
    return None if found is None else json.loads(found)


def has_named_sources(query: StreamingQuery) -> bool:
    """Return whether Spark requires a name for each source of a query and its companion."""
    return ask_of(query, "has_named_sources") == "true"


def await_companion(query: StreamingQuery, companion: StreamingQuery) -> None:
    """Wait until a companion is tied to its query: each ends with the other."""
    other = {"companion": companion.id, "companion_run": companion.runId}
    ask_of(query, "await_companion", **other)


def release_late(query: StreamingQuery) -> None:
    """Release a query started with `followed` that has no companion after all."""
    ask_of(query, "release_late")


def await_calls(query: StreamingQuery, timeout: float | None) -> bool:
    """Wait until a query and its companion have ended; return false if the time is up."""
    timeout_ms = -1 if timeout is None else int(timeout * 1000)
    return ask_of(query, "await_calls", timeout_ms=str(timeout_ms)) == "true"


def catch_up_calls(query: StreamingQuery) -> None:
    """Wait for the calls of all committed batches of a query."""
    ask_of(query, "catch_up_calls")


def explain_json(df: DataFrame) -> str:
    """Return the description of eventtide's operators in a DataFrame's plan, as JSON."""
    return str(ask(df.sparkSession, Request.of("explain", {}), df))


def script(session: SparkSession, schema: StructType) -> ScriptHandle:
    """Return an empty script, for the test kit."""
    return ScriptHandle(session, schema)


def scripted_query(
    df: DataFrame, output_mode: str, checkpoint: str, start_ms: int, *, real_time: bool = False
) -> ScriptedQueryHandle:
    """Return a query with a scripted clock, not yet started."""
    return ScriptedQueryHandle(df, output_mode, checkpoint, start_ms, real_time=real_time)


def _analyzed(df: DataFrame) -> DataFrame:
    try:
        with named_errors(df.sparkSession):
            _ = df.schema  # which the DataFrame keeps
    except PySparkException as error:
        if not in_flow(error):
            raise
    return df
