"""The JVM bridge: the only package that uses py4j and PySpark's private attributes.

It passes Java types (text, numbers, ``java.util`` lists and maps, ``Dataset``) to and from
``io.eventtide.spark.api.PythonApi``. `Any` is used only in this package. Each call first checks the
session. Each possible problem has its own message, because Spark reports none: it ignores a jar
that is added too late, and only logs a missing extension.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark import SparkConf, SparkContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.streaming.query import StreamingQuery

from eventtide._jvm.callback import share_policies
from eventtide._jvm.failures import (
    JVM_ERRORS,
    find_api,
    named,
    named_errors,
    text_of,
)
from eventtide._jvm.handles import KernelRunHandle, ScriptedQueryHandle, ScriptHandle, pickled
from eventtide._session_kind import EXTENSION, combined, is_connect, no_session
from eventtide._version import __version__, jar_name, supported_minor
from eventtide.errors import unready

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType

    from eventtide._request import Request

__all__ = [
    "JVM_ERRORS",
    "KernelRunHandle",
    "ScriptHandle",
    "ScriptedQueryHandle",
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
    "has_jar",
    "has_named_sources",
    "late_nodes",
    "local_rows",
    "named",
    "named_errors",
    "named_sql",
    "progress_json",
    "read_late",
    "read_state",
    "release_late",
    "repartition",
    "requested",
    "running_settings",
    "schema",
    "script",
    "scripted_query",
    "session_of",
    "start",
    "stream_late",
    "text_of",
    "timeline",
    "why",
    "writes",
    "written",
]

_Query = TypeVar("_Query", bound=StreamingQuery)


def schema(df: DataFrame) -> StructType:
    """Return the schema of a DataFrame."""
    return df.schema


def requested(df: DataFrame, request: Request) -> DataFrame:
    """Return `df` with a watermark or a window; the caller has checked the arguments."""
    api = _api(df)
    if request.names_python_policy:
        share_policies(api)
    columns = {name: _java(listed) for name, listed in request.columns.items()}
    with named_errors():
        result = api.request(df._jdf, dict(request.options), columns)
    return DataFrame(result, df.sparkSession)


def named_sql(column: Column) -> tuple[str, str] | None:
    """Return the alias and the SQL text of a column, None if one of them is missing."""
    api = _api(SparkSession.active())
    with named_errors():
        found = api.namedSql(column._jc)
    return None if found is None else (str(found[0]), str(found[1]))


def read_state(results: DataFrame, checkpoint: str) -> DataFrame:
    """Return the current results of the open windows in a query's checkpoint."""
    api = _api(results)
    with named_errors():
        state = api.readState(results._jdf, checkpoint)
    return DataFrame(state, results.sparkSession)


def progress_json(query: StreamingQuery) -> str | None:
    """Return the progress of a query's watermarks as JSON, None without a watermark."""
    api = _api(query)
    with named_errors():
        text: str | None = api.progressJson(query._jsq.sparkSession(), query.id)
    return text


def blame(query: StreamingQuery) -> str | None:
    """Return the text of `blame` for a query, None without a watermark."""
    api = _api(query)
    with named_errors():
        said: str | None = api.blame(query._jsq.sparkSession(), query.id)
    return said


def checkpoint_json(session: SparkSession, checkpoint: str, plan: DataFrame | None) -> str:
    """Return the contents of a checkpoint as JSON, and whether a plan can continue from it."""
    api = _api(session)
    with named_errors():
        wanted = None if plan is None else plan._jdf
        return str(api.checkpointJson(session._jsparkSession, checkpoint, wanted))


def why(session: SparkSession, checkpoint: str, question: Mapping[str, str]) -> str:
    """Return why a window is open or has closed, or why a row was late."""
    api = _api(session)
    with named_errors():
        return str(api.why(session._jsparkSession, checkpoint, dict(question)))


def timeline(session: SparkSession, checkpoint: str, rows: DataFrame | None = None) -> str:
    """Return the last batches of a checkpoint as a page of HTML.

    Of `rows`, their ``arrival`` and ``event_time`` in microseconds, some are drawn too: of those
    that arrived during the batches. Which ones depends on the rows alone.
    """
    api = _api(session)
    with named_errors():
        drawn = None if rows is None else rows._jdf
        return str(api.timeline(session._jsparkSession, checkpoint, drawn))


def clean_late(
    session: SparkSession, checkpoint: str, late_to: Sequence[str], *, dry_run: bool
) -> list[str]:
    """Remove unreferenced late files, and return their paths."""
    api = _api(session)
    with named_errors():
        found = api.cleanLate(session._jsparkSession, checkpoint, dry_run, list(late_to))
        return list(map(str, found))


def compact_late(
    session: SparkSession, checkpoint: str, late_to: Sequence[str]
) -> tuple[int, int, int]:
    """Compact late files; return the numbers of batches, files before and files after."""
    api = _api(session)
    with named_errors():
        done = api.compactLate(session._jsparkSession, checkpoint, list(late_to))
        batches, before, after = map(int, done)
    return batches, before, after


def forget_late_reader(session: SparkSession, checkpoint: str, reader: str) -> None:
    """Remove a reader of late rows from a checkpoint."""
    api = _api(session)
    with named_errors():
        api.forgetLateReader(session._jsparkSession, checkpoint, reader)


def repartition(session: SparkSession, checkpoint: str, partitions: int) -> int:
    """Change the number of state partitions; return the number before."""
    api = _api(session)
    with named_errors():
        return int(api.repartition(session._jsparkSession, checkpoint, partitions))


def session_of(query: StreamingQuery) -> SparkSession:
    """Return the session of a query."""
    _api(query)
    return SparkSession(SparkContext.getOrCreate(), query._jsq.sparkSession())


def checkpoint_of(query: StreamingQuery) -> str:
    """Return the checkpoint location of a query, running or stopped."""
    return str(_api(query).checkpointOf(query._jsq))


def read_late(session: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return the current rows of a late log."""
    api = _api(session)
    with named_errors():
        result = api.readLate(session._jsparkSession, dict(options))
    return DataFrame(result, session)


def stream_late(session: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return the rows of a late log as a stream."""
    _api(session)
    with named_errors():
        return session.readStream.format("eventtide-late").options(**options).load()


def complete_up_to(session: SparkSession) -> int | None:
    """Return the time up to which windows are complete with the batch of this thread."""
    micros = _api(session).completeUpTo(session._jsparkSession)
    return None if micros is None else int(micros)


def has_file(session: SparkSession, path: str) -> bool:
    """Tell whether a file exists, on any file system of Hadoop."""
    return bool(_api(session).hasFile(session._jsparkSession, path))


def completeness(session: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return the closed windows of a query."""
    _api(session)
    with named_errors():
        return session.read.format("eventtide-completeness").options(**options).load()


def late_nodes(df: DataFrame) -> list[str]:
    """Return the ids of the nodes of a plan with late rows, in the order of their logs."""
    return list(map(str, _api(df).lateNodes(df._jdf)))


def written(writer: DataStreamWriter) -> DataFrame:
    """Return the DataFrame that a writer writes."""
    return writer._df


def writes(writer: DataStreamWriter, df: DataFrame) -> bool:
    """Return whether a writer was created from this DataFrame object."""
    return writer._df is df


def await_late_log(query: StreamingQuery) -> None:
    """Wait until a started query has a late log, or has ended."""
    _api(query).awaitLateLog(query._jsq)


def start(
    writer: DataStreamWriter, calls: type[_Query], *, followed: bool = False, drain: bool = False
) -> _Query:
    """Start a query with the methods of `calls`; if `followed`, a companion can follow it."""
    api, kind = _api(writer._df), combined(calls, StreamingQuery)
    if followed or drain:
        return kind(api.start(writer._jwrite, followed, drain))
    return kind(writer.start()._jsq)


def backfill(writer: DataStreamWriter, calls: type[_Query], history: DataFrame) -> _Query:
    """Start a query that reads a history in place of its stream, and ends."""
    api, kind = _api(writer._df), combined(calls, StreamingQuery)
    return kind(api.backfill(writer._jwrite, history._jdf))


def follow_late(query: StreamingQuery, window: int) -> dict[str, str] | None:
    """Return the options of the stream of late rows, None if the query ended without a log."""
    options = _api(query).followLate(query._jsq, window)
    return None if options is None else dict(options)


def has_named_sources(query: StreamingQuery) -> bool:
    """Return whether Spark requires a name for each source of a query and its companion."""
    return bool(_api(query).hasNamedSources(query._jsq))


def await_companion(query: StreamingQuery, companion: StreamingQuery) -> None:
    """Wait until a companion is tied to its query: each ends with the other."""
    _api(query).awaitCompanion(query._jsq, companion._jsq)


def release_late(query: StreamingQuery) -> None:
    """Release a query started with `followed` that has no companion after all."""
    _api(query).releaseLate(query._jsq)


def await_calls(query: StreamingQuery, timeout: float | None) -> bool:
    """Wait until a query and its companion have ended; return false if the time is up."""
    api = find_api()  # also after the session has ended
    return bool(api.awaitCalls(query._jsq, -1 if timeout is None else int(timeout * 1000)))


def catch_up_calls(query: StreamingQuery) -> None:
    """Wait for the calls of all committed batches of a query."""
    _api(query).catchUpCalls(query._jsq)


def explain_json(df: DataFrame) -> str:
    """Return the description of eventtide's operators in a DataFrame's plan, as JSON."""
    api = _api(df)
    with named_errors():
        return str(api.explainJson(df._jdf))


def script(session: SparkSession, schema: StructType) -> ScriptHandle:
    """Return an empty script, for the test kit."""
    return ScriptHandle(_api(session), session, schema)


def local_rows(
    session: SparkSession, rows: Sequence[tuple[Any, ...]], schema: StructType
) -> DataFrame:
    """Return rows as ``createDataFrame`` does, but without a Python worker, for the test kit."""
    java_schema = session._jsparkSession.parseDataType(schema.json())
    java = _api(session).localRows(session._jsparkSession, pickled(rows, schema), java_schema)
    return DataFrame(java, session)


def scripted_query(
    df: DataFrame, output_mode: str, checkpoint: str, start_ms: int, *, real_time: bool = False
) -> ScriptedQueryHandle:
    """Return a query with a scripted clock, not yet started."""
    api = _api(df)
    with named_errors():
        java = api.scriptedQuery(df._jdf, output_mode, checkpoint, start_ms, real_time)
    return ScriptedQueryHandle(java, df.sparkSession, api)


def gap_micros(df: DataFrame, gap: Column) -> Column:
    """Return the gap of each row of a session in microseconds, null if it cannot be used."""
    return Column(_api(df).gapMicros(gap._jc))


def kernel_run(results: DataFrame) -> KernelRunHandle:
    """Return a run of the last window of a plan in the kernel, without Spark, for the test kit."""
    with named_errors():
        return KernelRunHandle(_api(results).kernelRun(results._jdf))


def _java(columns: Sequence[str | Column]) -> list[Any]:
    """Return the Java columns of Columns and column names."""
    return [(F.col(column) if isinstance(column, str) else column)._jc for column in columns]


def running_settings() -> dict[str, str] | None:
    """Return the ``spark.*`` settings of this process's JVM, None before the JVM starts.

    ``spark-submit`` starts the JVM before Python and sets ``PYSPARK_GATEWAY_PORT``. The class path
    of a started JVM is fixed.
    """
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    SparkContext._ensure_initialized()
    return dict(SparkConf(_jvm=SparkContext._jvm).getAll())


def has_jar() -> bool:
    """Return whether the running JVM has eventtide's classes."""
    return find_api() is not None


def _api(thing: DataFrame | StreamingQuery | SparkSession) -> Any:
    """Return the JVM's `PythonApi` after checking that the session can run eventtide."""
    if is_connect(thing):
        raise unready(
            "This is a Spark Connect session, which cannot reach the driver's JVM.",
            "Build a classic session, without .remote(...), SPARK_REMOTE and"
            " spark.api.mode=connect.",
        )
    context = SparkContext._active_spark_context  # one per process, shared by all threads
    if context is None:
        raise no_session()
    spark = supported_minor(context.version)
    api = find_api()
    if api is None:
        raise unready(
            "The Spark session runs without eventtide's jar, and a running JVM cannot load more"
            " jars.",
            "Restart Python and build the session with et.configure(SparkSession.builder)"
            f".getOrCreate(), or start Spark with --jars {jar_name(spark)}"
            f" --conf spark.sql.extensions={EXTENSION}.",
        )
    if api.version() != __version__:
        raise unready(
            f"The Spark session has the jar of eventtide {api.version()}, and Python has eventtide"
            f" {__version__}.",
            f"Use one version: pip install eventtide=={api.version()}, or start Spark with"
            f" {jar_name(spark)}.",
        )
    if api.sparkVersion() != spark:
        raise unready(
            f"The Spark session runs Spark {spark}, but its eventtide jar is for Spark"
            f" {api.sparkVersion()}.",
            f"Start Spark with {jar_name(spark)} in its place.",
        )
    session = _java_session(thing)
    if not api.isInstalled(session):
        raise unready(
            "The Spark session has eventtide's jar but not its extension, which can be set only"
            " at the start.",
            "Stop it and build it with et.configure(SparkSession.builder).getOrCreate(), or start"
            f" Spark with --conf spark.sql.extensions={EXTENSION}.",
        )
    return api


def _java_session(thing: DataFrame | StreamingQuery | SparkSession) -> Any:
    if isinstance(thing, SparkSession):
        return thing._jsparkSession
    if isinstance(thing, StreamingQuery):
        return thing._jsq.sparkSession()
    return thing.sparkSession._jsparkSession
