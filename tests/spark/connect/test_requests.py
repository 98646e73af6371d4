"""Requests that no client of ours would send, and questions about what is not one's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import _bridge
from eventtide._connect.plans import TYPE_URL, RequestPlan
from eventtide._request import Request
from eventtide.errors import (
    EventtideError,
    InvalidArgumentError,
    RefusedDataError,
    SetupError,
    UnsupportedPlanError,
)
from eventtide.policies import BatchTimes, PythonPolicy
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.connect import proto
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.streaming.query import StreamingQuery

if TYPE_CHECKING:
    from pathlib import Path

    from tests.spark.server import Server

POLICY = et.WatermarkPolicies.with_fixed_lag("0s")


class Bytes(LogicalPlan):
    """A relation of eventtide with any bytes."""

    def __init__(self, value: bytes) -> None:
        super().__init__(None)
        self._value = value

    def plan(self, _: Any) -> proto.Relation:
        """Return the message."""
        relation = self._create_proto_relation()
        relation.extension.type_url = TYPE_URL
        relation.extension.value = self._value
        return relation


def options(text: str) -> bytes:
    """Return the bytes of a message with these options."""
    message = proto.Project()
    message.expressions.add().literal.string = text
    text_of: bytes = message.SerializeToString()
    return text_of


def question(request: str, **more: str) -> bytes:
    """Return the bytes of a message with these options."""
    return options(json.dumps({"request": request, **more}))


CLEAN = {"checkpoint": "/x", "dry_run": "true"}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"\xff\xff\xff", "CONNECT_MESSAGE_INVALID"),
        (b"", "CONNECT_MESSAGE_INVALID"),
        (options("no JSON"), "CONNECT_MESSAGE_INVALID"),
        (options("[1, 2]"), "CONNECT_MESSAGE_INVALID"),
        (options("x" * 10_000_000), "CONNECT_MESSAGE_INVALID"),
        (options("{}"), "INVALID_CHOICE"),
        (options('{"request": "shutdown"}'), "INVALID_CHOICE"),
        (options('{"request": "progress"}'), "MISSING_OPTION"),
        (options('{"request": "window"}'), "MISSING_OPTION"),
        (question("repartition", checkpoint="/x", partitions="0"), "INVALID_COUNT"),
        (question("clean_late", checkpoint="/x", dry_run="1"), "INVALID_CHOICE"),
        (question("clean_late", **CLEAN, late_to="no JSON"), "CONNECT_MESSAGE_INVALID"),
        (question("clean_late", **CLEAN, late_to='{"a": "b"}'), "CONNECT_MESSAGE_INVALID"),
        (question("clean_late", **CLEAN, late_to="[{}]"), "CONNECT_MESSAGE_INVALID"),
        (question("checkpoint", checkpoint=""), "CONNECT_MESSAGE_INVALID"),
        (question("error", condition="LEDGER_VERSION", parameters="x"), "CONNECT_MESSAGE_INVALID"),
        (question("progress", query="x", run="y"), "QUERY_OF_OTHER_SESSION"),
        (question("await_calls", query="x", run="y", timeout_ms="1"), "QUERY_OF_OTHER_SESSION"),
        (question("read_state"), "MISSING_OPTION"),
        (question("script", schema="no JSON"), "CONNECT_MESSAGE_INVALID"),
        (question("script", schema='"integer"'), "CONNECT_MESSAGE_INVALID"),
        (question("scripted", scripted="1", call="stop"), "CONNECT_MESSAGE_INVALID"),
        (question("version", verbose="true"), "UNKNOWN_OPTION"),
        (question("read_state", checkpoint="/x", plan="y"), "UNKNOWN_OPTION"),
        (question("start", drained="true"), "UNKNOWN_OPTION"),
        (question("scripted_results", scripted="1", limit="5"), "UNKNOWN_OPTION"),
    ],
    ids=str,
)
def test_a_message_that_is_none_has_a_named_error(spark: Any, value: bytes, problem: str) -> None:
    """Nothing is started, and the server goes on."""
    with pytest.raises(EventtideError) as error, et.named_errors():
        DataFrame(Bytes(value), spark).collect()
    assert error.value.condition == problem
    assert spark.streams.active == []


def test_state_is_that_of_a_window(spark: Any) -> None:
    """Rows without one have none."""
    with pytest.raises(InvalidArgumentError, match=r"MISSING_OPTION.*window"):
        _bridge.of(spark).read_state(spark.range(1), "/nowhere")


def test_requests_are_not_nested_without_end(spark: Any) -> None:
    """Each is bytes in the one above, so that no limit of Spark's counts them."""
    value, above = question("start"), proto.Project()
    above.ParseFromString(value)
    for _ in range(1000):
        above.input.extension.type_url = TYPE_URL
        above.input.extension.value = value
        value = above.SerializeToString()
    with pytest.raises(SetupError, match="more than 100 requests are nested"), et.named_errors():
        DataFrame(Bytes(value), spark).collect()
    assert spark.range(1).count() == 1


def test_values_of_a_query_have_named_errors(spark: Any) -> None:
    """A query of one's own goes on after a question that the server cannot read."""
    rows = spark.readStream.format("rate").load()
    query = rows.writeStream.format("noop").start()
    mine = {"query": query.id, "run": query.runId}
    asked = Bytes(question("await_calls", **mine, timeout_ms="soon"))
    try:
        with pytest.raises(SetupError, match="timeout_ms") as error, et.named_errors():
            DataFrame(asked, spark).collect()
        assert error.value.condition == "CONNECT_MESSAGE_INVALID"
        assert query.isActive
    finally:
        query.stop()


@pytest.mark.parametrize(
    ("call", "value", "condition"),
    [
        ("start", "perhaps", "INVALID_CHOICE"),
        ("set_clock", "noon", "CONNECT_MESSAGE_INVALID"),
        ("jump_clock", "", "CONNECT_MESSAGE_INVALID"),
        ("shutdown", "", "CONNECT_MESSAGE_INVALID"),
    ],
)
def test_a_call_of_a_scripted_query_has_a_named_error(
    spark: SparkSession, tmp_path: Path, call: str, value: str, condition: str
) -> None:
    """Nothing is started."""
    rows = spark.readStream.format("rate").load()
    started: Any = _bridge.of(rows).scripted_query
    with pytest.raises(SetupError, match="start_ms"):
        started(rows, "append", str(tmp_path), "soon")
    query = started(rows, "append", str(tmp_path), 0)
    try:
        with pytest.raises(EventtideError) as error:
            query._call(call, value)
        assert error.value.condition == condition
        assert spark.streams.active == []
    finally:
        query.close()


@pytest.mark.parametrize(
    ("changed", "condition"),
    [({"watermark.lags": "PT1S"}, "UNKNOWN_OPTION"), ({"id": "one"}, "INVALID_CHOICE")],
)
def test_an_unknown_option_is_refused(
    spark: SparkSession, changed: dict[str, str], condition: str
) -> None:
    """As in every other API."""
    rows: Any = spark.readStream.format("rate").load()
    request = Request.of("with_watermark", {"event_time": "timestamp"}, POLICY.to_options())
    request = Request({**request.options, **changed}, request.columns)
    with pytest.raises(EventtideError) as error, et.named_errors():
        _ = DataFrame(RequestPlan(rows._plan, request), rows.sparkSession).schema
    assert error.value.condition == condition


def test_results_of_a_client_have_an_identity(spark: SparkSession) -> None:
    """The same window twice in one query is refused, and its columns can be named by it."""
    rows = spark.readStream.format("rate").load()
    window = et.window(rows).event_time("timestamp", POLICY).tumbling("10s").agg(F.count("*"))
    twice = window.results.union(window.results)
    with pytest.raises(UnsupportedPlanError) as error, et.named_errors():
        twice.writeStream.format("noop").start()
    assert error.value.condition == "WINDOW_TWICE"
    assert spark.streams.active == []
    timed = et.with_watermark(rows, "timestamp", POLICY)
    assert timed.select(timed["timestamp"]).columns == ["timestamp"]
    assert window.results.select(window.results["window"]).columns == ["window"]


@pytest.mark.smoke
@pytest.mark.parametrize("user", ["the same", "other"])
def test_a_session_asks_about_its_own_queries_only(
    spark: SparkSession, server: Server, user: str
) -> None:
    """Also where it knows the ids of another session's query; the session of a user is its own."""
    timed = et.with_watermark(spark.readStream.format("rate").load(), "timestamp", POLICY)
    query = et.start(timed, timed.writeStream.format("noop"))
    query.processAllAvailable()
    assert et.progress(query).inputs
    same_id = f"/;user_id=other;session_id={spark.session_id}"  # type: ignore[attr-defined] # there
    url = server.url if user == "the same" else server.url + same_id
    other = SparkSession.builder.remote(url).create()
    try:
        stolen: Any = StreamingQuery(other, query.id, query.runId)  # type: ignore[arg-type]
        for question in et.progress, et.blame, et.read_checkpoint, et.read_late:
            with pytest.raises(InvalidArgumentError, match="own queries") as error:
                question(stolen)
            assert error.value.condition == "QUERY_OF_OTHER_SESSION"
        with pytest.raises(InvalidArgumentError, match="own queries"):
            _bridge.of(stolen).follow_late(stolen, 0)
        with pytest.raises(InvalidArgumentError, match="eventtide/handler"):
            _bridge.of(query).await_companion(query, query)
    finally:
        other.stop()
    query.stop()
    assert et.progress(query).inputs, "a query that has stopped is still its session's"


def test_a_companion_is_started_once_and_not_after_its_release(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A second announcement is refused at once; without an announcement a companion ends."""
    rows = spark.readStream.format("rate").load()
    window = et.window(rows).event_time("timestamp", POLICY).tumbling("10s").agg(F.count("*"))
    writer = window.results.writeStream.format("noop")
    query = window.start(writer.option("checkpointLocation", str(tmp_path)))
    bridge = _bridge.of(query)

    def announced() -> Any:
        options = bridge.follow_late(query, 0)
        assert options is not None
        rows = spark.readStream.format("eventtide-late").options(**options).load()
        written = rows.writeStream.format("noop")
        return written.option("checkpointLocation", options["companion"])

    released = announced()
    bridge.release_late(query)
    with pytest.raises(InvalidArgumentError, match="announced"), et.named_errors():
        bridge.await_companion(query, released.start())
    companion = announced().start()
    bridge.await_companion(query, companion)
    with pytest.raises(InvalidArgumentError, match="one companion"):
        bridge.follow_late(query, 0)
    query.stop()
    assert companion.awaitTermination(60)


def test_an_error_has_its_class_and_parts(spark: SparkSession) -> None:
    """Of a plan, and of a query that has ended."""
    rows = spark.readStream.format("rate").load()
    timed = et.with_watermark(rows, "timestamp", POLICY)
    with pytest.raises(et.errors.DuplicateWatermarkError) as error:
        et.with_watermark(timed, "timestamp", POLICY)
    assert error.value.condition == "DUPLICATE_WATERMARK"
    assert error.value.parameters == {"existing": "timestamp", "column": "timestamp"}
    assert str(error.value).endswith(str(error.value.fix))
    with pytest.raises(et.errors.ColumnTypeError) as typed:
        et.with_watermark(rows, "value", POLICY)
    assert (typed.value.argument, typed.value.condition) == ("value", "EVENT_TIME_TYPE")


def test_an_error_of_a_failed_query_has_its_parts(spark: SparkSession, tmp_path: Path) -> None:
    """The client has its text only, and asks for the rest by the ids of the query."""
    (tmp_path / "1.csv").write_text("2031-01-01 00:00:00\n", encoding="utf-8")
    rows = spark.readStream.schema("ts timestamp").csv(str(tmp_path))
    timed = et.with_watermark(rows, "ts", POLICY.guard_future("1m", on="fail"))
    query = et.start(timed, timed.writeStream.format("noop"))
    with pytest.raises(RefusedDataError) as error, et.named_errors():
        query.awaitTermination()
    assert error.value.condition == "ROW_FROM_THE_FUTURE"
    assert error.value.parameters
    assert error.value.parameters["time"] == "2031-01-01T00:00:00Z"
    assert error.value.problem
    assert error.value.fix


class Unmoved(PythonPolicy):
    """A policy that has no watermark."""

    def advance(self, times: BatchTimes, state: Any) -> tuple[None, Any]:
        """Return none."""
        del times
        return None, state


def test_a_policy_in_python_is_refused(spark: SparkSession) -> None:
    """Before anything starts: its class is in the process of the client."""
    rows = spark.readStream.format("rate").load()
    with pytest.raises(SetupError, match=r"classic session.*from_jar"):
        et.with_watermark(rows, "timestamp", Unmoved())
