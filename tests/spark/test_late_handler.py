"""The handler of late rows: when it is called, with what, how often, and what its errors do."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, Windows, _jvm
from eventtide.testing.values import storable
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at
from tests.spark.window_runs import WITHOUT_CODE, row_type, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventtide import LateContext, WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Writes: TypeAlias = "Callable[[WindowBuilder], DataStreamWriter]"

SOON = 60  # seconds until a wait that should have ended is given up
LATE = "window_closed"


@pytest.fixture(autouse=True)
def _quick(spark: SparkSession) -> Iterator[None]:
    """Compile nothing, and leave no query behind."""
    with settings(spark, {**WITHOUT_CODE, "spark.sql.shuffle.partitions": "1"}):
        yield
    left = spark.streams.active
    for query in left:
        query.stop()
    assert left == []


@dataclass
class Calls:
    """A handler that keeps what it was given, and fails for batches with some of the keys."""

    fails_for: str = ""
    made: list[tuple[int, str, dict[str, int]]] = field(default_factory=list)
    contexts: list[LateContext] = field(default_factory=list)

    def __call__(self, rows: DataFrame, context: LateContext) -> None:
        """Take the rows of a batch."""
        [batch] = {row["_batch_id"] for row in rows.collect()}
        assert batch == context.batch_id
        keys = "".join(sorted(row["key"] for row in rows.collect()))
        self.contexts.append(context)
        self.made.append((batch, keys, dict(context.reasons)))
        if set(keys) & set(self.fails_for):
            raise OSError(keys)

    @property
    def keys(self) -> list[str]:
        """The keys of the rows, call by call."""
        return [keys for _, keys, _ in self.made]


@dataclass
class Held(Calls):
    """As `Calls`, but each call waits once it has begun until all may go on."""

    begun: Event = field(default_factory=Event)
    go_on: Event = field(default_factory=Event)

    def __call__(self, rows: DataFrame, context: LateContext) -> None:
        """Take the rows of a batch when it may."""
        self.begun.set()
        assert self.go_on.wait(SOON)
        super().__call__(rows, context)


def tens(events: DataFrame) -> WindowBuilder:
    """Count by windows of ten seconds; the watermark is the highest time."""
    window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("0s"))
    return window.tumbling("10s").agg(F.count("*").alias("n"))


class Feed:
    """A scripted stream, batch by batch: letters are late rows, a number is a row on time."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._schema = row_type(EVENTS)
        self._source = _jvm.script(spark, self._schema)
        self.events = self._source.stream()

    def add(self, *batches: str | int) -> None:
        """Let the stream have batches."""
        for batch in batches:
            rows = (
                [(at(1), key) for key in batch]
                if isinstance(batch, str)
                else [(at(batch), "on time")]
            )
            stored = [storable(row, self._schema) for row in rows]
            self._source.add(self._spark.createDataFrame(stored, self._schema))

    def close(self) -> None:
        """Let go of the rows."""
        self._source.close()


@pytest.fixture
def feed(spark: SparkSession) -> Iterator[Feed]:
    """Return a stream whose first batches make all rows late that follow."""
    feed = Feed(spark)
    feed.add(100, 101)
    yield feed
    feed.close()


@pytest.fixture
def writes(tmp_path: Path) -> Writes:
    """Return what makes a writer with a checkpoint, the same each time."""

    def write(window: WindowBuilder) -> DataStreamWriter:
        writer = window.results.writeStream.format("noop")
        return writer.option("checkpointLocation", str(tmp_path / "checkpoint"))

    return write


@contextmanager
def started(window: WindowBuilder, writer: DataStreamWriter) -> Iterator[StreamingQuery]:
    """Run a query until the block ends."""
    query = et.start(window, writer)
    try:
        yield query
    finally:
        query.stop()


def alone(spark: SparkSession, query: StreamingQuery) -> StreamingQuery:
    """Return a query without what its handler makes of it."""
    found = spark.streams.get(query.id)
    assert found is not None
    return found


def log(spark: SparkSession, of: StreamingQuery) -> list[str]:
    """Return the keys of the late log."""
    return sorted(row["key"] for row in et.read_late(spark, of).collect())


@pytest.mark.smoke
def test_each_batch_with_late_rows_is_one_call(
    spark: SparkSession, feed: Feed, writes: Writes, tmp_path: Path
) -> None:
    """With its rows and what is known of them, in the order of the batches; others are none."""
    calls = Calls()
    feed.add("ab", 102, "c", 103, 104)
    window = tens(feed.events).on_late(calls)
    with started(window, writes(window)) as query:
        query.processAllAvailable()
        assert calls.made == [(2, "ab", {LATE: 2}), (4, "c", {LATE: 1})]
        feed.add("d")
        query.processAllAvailable()
        assert calls.keys == ["ab", "c", "d"]
        assert et.progress(query).late == {LATE: 4}
        assert query.isActive
        assert {context.query.id for context in calls.contexts} == {query.id}
        assert {context.checkpoint for context in calls.contexts} == {f"file:{tmp_path}/checkpoint"}
        assert log(spark, query) == ["a", "b", "c", "d"]
        with pytest.raises(TypeError):
            calls.contexts[0].reasons["more"] = 1  # type: ignore[index]
    assert not query.isActive
    assert query.exception() is None


def test_rows_of_several_reasons_are_counted_by_each(feed: Feed, writes: Writes) -> None:
    """In one call, the reasons by name."""
    calls = Calls()
    window = tens(feed.events.withColumn("ts", F.expr("if(key = 'b', null, ts)"))).on_late(calls)
    feed.add("abab", "b")
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    assert [reasons for _, _, reasons in calls.made] == [{"bad_time": 2, LATE: 2}, {"bad_time": 1}]


def test_a_slow_handler_does_not_hold_the_query(
    spark: SparkSession, feed: Feed, writes: Writes
) -> None:
    """The query goes on while a call lasts; the calls come later, one by one and in order."""
    calls = Held()
    feed.add("a")
    window = tens(feed.events).on_late(calls)
    with started(window, writes(window)) as query:
        assert calls.begun.wait(SOON)
        feed.add("b", "c")
        alone(spark, query).processAllAvailable()
        assert log(spark, query) == ["a", "b", "c"]
        assert calls.keys == []
        calls.go_on.set()
        query.processAllAvailable()
        assert calls.keys == ["a", "b", "c"]


def test_stopping_waits_for_the_calls_of_what_was_committed(
    spark: SparkSession, feed: Feed, writes: Writes
) -> None:
    """Whoever stops the query, it is over only then."""
    calls = Held()
    feed.add("a", "b", "c")
    window = tens(feed.events).on_late(calls)
    query = et.start(window, writes(window))
    plain = alone(spark, query)
    plain.processAllAvailable()
    plain.stop()
    assert query.isActive
    assert query.awaitTermination(1) is False
    calls.go_on.set()
    query.stop()
    assert calls.keys == ["a", "b", "c"]
    assert query.awaitTermination(SOON) is True
    assert query.awaitTermination() is None


def test_a_handler_may_stop_the_query(feed: Feed, writes: Writes) -> None:
    """It does not wait for itself."""
    calls = Calls()

    def handle(rows: DataFrame, context: LateContext) -> None:
        calls(rows, context)
        assert context.query.isActive
        context.query.stop()
        assert not context.query.isActive
        context.query.awaitTermination()

    feed.add("a")
    window = tens(feed.events).on_late(handle)
    query = et.start(window, writes(window))
    assert query.awaitTermination(SOON) is True
    assert calls.keys == ["a"]


def test_a_handler_that_fails_stops_the_query(
    spark: SparkSession, feed: Feed, writes: Writes
) -> None:
    """Whoever waits is told; a restart begins with the batch that was not handled."""
    calls = Calls(fails_for="b")
    feed.add("a", "b", "c")
    window = tens(feed.events).on_late(calls)
    query = et.start(window, writes(window))
    with pytest.raises(et.LateHandlerError, match=r"for batch 3 .*OSError.*on_error") as told:
        query.awaitTermination()
    assert isinstance(told.value.__cause__, OSError)
    assert isinstance(told.value, RuntimeError)
    assert calls.keys == ["a", "b"]
    assert "OSError" in str(query.exception())
    assert not query.isActive
    assert spark.streams.active == []
    for wait in query.awaitTermination, query.processAllAvailable:
        with pytest.raises(et.LateHandlerError):
            wait()
    query.stop()

    again = Calls()
    feed.add("d")
    window = tens(feed.events).on_late(again)
    with started(window, writes(window)) as query:
        query.processAllAvailable()
        assert again.keys == ["b", "c", "d"]
        assert log(spark, query) == ["a", "b", "c", "d"]


def test_whoever_waits_for_the_rows_is_told_of_the_failure(feed: Feed, writes: Writes) -> None:
    """Also where the query itself has nothing left to do."""
    window = tens(feed.events).on_late(Calls(fails_for="a"))
    query = et.start(window, writes(window))
    query.processAllAvailable()
    feed.add("a")
    with pytest.raises(et.LateHandlerError):
        query.processAllAvailable()
    assert not query.isActive


def test_the_errors_of_a_handler_may_be_logged(
    feed: Feed, writes: Writes, caplog: pytest.LogCaptureFixture
) -> None:
    """With the batch and the exception; the stream and the calls go on."""
    calls = Calls(fails_for="ac")
    feed.add("a", "b", "c")
    window = tens(feed.events).on_late(calls, on_error="log")
    with (
        caplog.at_level(logging.ERROR, "eventtide"),
        started(window, writes(window)) as query,
    ):
        query.processAllAvailable()
        assert query.isActive
    assert calls.keys == ["a", "b", "c"]
    told = [record for record in caplog.records if record.name.startswith("eventtide")]
    batches = ["failed for batch 2" in told[0].message, "failed for batch 4" in told[1].message]
    assert (len(told), batches) == (2, [True, True])
    assert told[0].exc_info is not None
    assert told[0].exc_info[0] is OSError


def test_a_restart_goes_on_where_the_handler_was(feed: Feed, writes: Writes) -> None:
    """In the same process, with the same window and the same writer, as often as one likes."""
    calls = Calls()
    window = tens(feed.events).on_late(calls)
    writer = writes(window)
    for batch in "a", "b", "c":
        feed.add(batch)
        with started(window, writer) as query:
            query.processAllAvailable()
    assert calls.keys == ["a", "b", "c"]


def test_a_handler_that_comes_later_gets_all_that_is_in_the_log(feed: Feed, writes: Writes) -> None:
    """The log is there from the first run on."""
    calls = Calls()
    feed.add("a", "b")
    window = tens(feed.events)
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    window = window.on_late(calls)
    feed.add("c")
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    assert calls.keys == ["a", "b", "c"]


def test_a_query_that_is_started_over_a_running_one_has_the_calls_that_are_left(
    feed: Feed, writes: Writes
) -> None:
    """Spark stops the earlier run; its present call ends, and none is made by both."""
    calls = Held()

    def releasing(rows: DataFrame, batch: int) -> None:
        del batch
        rows.collect()
        calls.go_on.set()  # the second run has begun

    feed.add("a", "b")
    window = tens(feed.events).on_late(calls)
    first = et.start(window, writes(window))
    assert calls.begun.wait(SOON)
    feed.add(102)
    with started(window, writes(window).foreachBatch(releasing)) as query:
        assert first.awaitTermination(SOON) is True
        query.processAllAvailable()
    assert calls.keys == ["a", "b"]


@pytest.mark.parametrize("temporary", [False, True])
def test_what_is_available_now_has_all_its_calls(
    spark: SparkSession, feed: Feed, writes: Writes, *, temporary: bool
) -> None:
    """When the query is over; a checkpoint that Spark has made is there until then."""
    calls, checkpoints = Calls(), []

    def handle(rows: DataFrame, context: LateContext) -> None:
        calls(rows, context)
        checkpoints.append(Path(context.checkpoint.removeprefix("file:")))
        assert (checkpoints[0] / "commits").is_dir()

    feed.add("a", 102, "b", "c")
    window = tens(feed.events).on_late(handle)
    writer = window.results.writeStream.format("noop") if temporary else writes(window)
    query = et.start(window, writer.trigger(availableNow=True))
    query.awaitTermination()
    assert calls.keys == ["a", "b", "c"]
    assert spark.streams.active == []
    assert not query.isActive
    assert checkpoints[0].exists() != temporary


def test_a_temporary_checkpoint_without_a_handler_is_sparks(feed: Feed) -> None:
    """Nothing is kept that nobody reads."""
    window = tens(feed.events)
    query = et.start(window, window.results.writeStream.format("noop"))
    query.processAllAvailable()
    checkpoint = Path(_jvm.checkpoint_of(query).removeprefix("file:"))
    assert checkpoint.exists()
    query.stop()
    assert not checkpoint.exists()


def test_the_log_may_be_elsewhere(feed: Feed, writes: Writes, tmp_path: Path) -> None:
    """The handler need not know."""
    calls = Calls()
    feed.add("a")
    window = tens(feed.events).on_late(calls).late_to(str(tmp_path / "late"))
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    assert calls.keys == ["a"]
    assert list((tmp_path / "late").rglob("*.parquet"))


def test_the_exception_handler_of_voltsp_is_called(feed: Feed, writes: Writes) -> None:
    """By key, with what came too late for it."""
    calls = Calls()
    window = (
        Windows.tumbling_time_window()
        .with_window_span("10s")
        .with_key_extractor("key")
        .with_time_config_builder(
            lambda config: config.with_event_time_extractor("ts").with_watermark_strategy(
                "MAX_EVENT_TIME"
            )
        )
        .with_aggregate_definition(lambda aggregates: aggregates.count())
        .with_exception_handler(calls)
        .over(feed.events.withColumn("key", F.lit("k")))
    )
    feed.add("ab", 102, "c")
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    assert calls.made == [(2, "kk", {LATE: 2}), (4, "k", {LATE: 1})]


@pytest.mark.parametrize("own", [0, 1])
def test_of_two_windows_the_own_late_rows_are_handled(feed: Feed, own: int) -> None:
    """A batch in which only the other one has some is no call."""
    calls = Calls()
    timed = et.with_watermark(feed.events, "ts", WatermarkPolicies.with_fixed_lag("0s"))
    count = F.count("*").alias("n")
    plain = et.window(timed.where("key <> 'a'")).tumbling("10s").agg(count)
    other = et.window(timed.where("key <> 'b'")).tumbling("20s").agg(count)
    window = (plain, other)[own].on_late(calls)
    both = plain if own else other
    feed.add("a", "b", "c")
    written = window.results.unionByName(both.results)
    query = et.start(window, written.writeStream.format("noop"))
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    assert calls.keys == [["b", "c"], ["a", "c"]][own]


def test_the_late_rows_have_a_name_where_sources_must(spark: SparkSession) -> None:
    """As all sources have then, or Spark would not start the companion."""
    spark.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).name("rate")
    events = rate.load().withColumnRenamed("timestamp", "ts")
    window = tens(events).on_late(print)
    query = et.start(window, window.results.writeStream.format("noop").trigger(once=True))
    query.awaitTermination()
    assert query.exception() is None


def test_a_writer_of_something_else_is_refused(feed: Feed, writes: Writes) -> None:
    """It would have no late rows of this window."""
    window = tens(feed.events).on_late(print)
    with pytest.raises(et.InvalidArgumentError, match=r"^writer=.* results of this window"):
        et.start(window, writes(tens(feed.events)))


def test_a_query_that_cannot_begin_says_why(feed: Feed, writes: Writes, tmp_path: Path) -> None:
    """As without a handler, which is not called."""
    window = tens(feed.events)
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    (tmp_path / "checkpoint" / "eventtide" / "plan").unlink()
    window = window.on_late(print)
    query = et.start(window, writes(window))
    with pytest.raises(et.CheckpointError), et.named_errors():
        query.awaitTermination()


def test_a_log_that_cannot_be_read_stops_the_query(
    feed: Feed, writes: Writes, tmp_path: Path
) -> None:
    """Also where a handler's own errors are only logged: it would never be called again."""
    index = tmp_path / "checkpoint" / "eventtide" / "late"

    def handle(_: DataFrame, context: LateContext) -> None:
        feed.add("b")
        context.query.processAllAvailable()
        [last] = set(index.glob("[0-9]*")) - {index / str(context.batch_id)}
        last.write_text("v9")
        (index / f".{last.name}.crc").unlink(missing_ok=True)

    feed.add("a")
    window = tens(feed.events).on_late(handle, on_error="log")
    query = et.start(window, writes(window))
    with pytest.raises(et.CheckpointError, match="LATE_INDEX_UNREADABLE"):
        query.awaitTermination()
    with pytest.raises(et.CheckpointError):
        query.processAllAvailable()
