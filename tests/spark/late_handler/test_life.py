"""The handler of late rows and its query: who waits for whom, over stops and restarts."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import _bridge

from tests.spark.late_handler.calls import SOON, Calls, Held, alone, log, started, tens

if TYPE_CHECKING:
    from eventtide import LateContext
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.late_handler.calls import Feed, Writes


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
    """Also a query that is stopped is over only then."""
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
    spark: SparkSession, feed: Feed, writes: Writes
) -> None:
    """Spark stops the earlier run; its present call ends, and none is made by both."""
    calls = Held()
    feed.add("a", "b")
    window = tens(feed.events).on_late(calls)
    first = et.start(window, writes(window))
    assert calls.begun.wait(SOON)
    earlier = alone(spark, first)

    def release() -> None:
        earlier.awaitTermination(SOON)  # until the second run has begun
        calls.go_on.set()

    releasing = Thread(target=release)
    releasing.start()
    with started(window, writes(window)) as query:
        assert first.awaitTermination(SOON) is True
        query.processAllAvailable()
    releasing.join()
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
    checkpoint = Path(_bridge.of(query).checkpoint_of(query).removeprefix("file:"))
    assert checkpoint.exists()
    query.stop()
    assert not checkpoint.exists()
