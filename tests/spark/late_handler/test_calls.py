"""The handler of late rows: for which it is called, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.voltsp import Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.late_handler.calls import LATE, Calls, log, started, tens

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.late_handler.calls import Feed, Writes


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
    feed.add("aabb", "b")  # both in each of two tasks
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    assert [reasons for _, _, reasons in calls.made] == [{"bad_time": 2, LATE: 2}, {"bad_time": 1}]


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
