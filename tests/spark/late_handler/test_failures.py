"""The handler of late rows: what its errors do, and what is refused."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.late_handler.calls import Calls, log, started, tens

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide import LateContext
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.late_handler.calls import Feed, Writes


def test_a_handler_that_fails_stops_the_query(
    spark: SparkSession, feed: Feed, writes: Writes
) -> None:
    """A caller that waits gets the error; a restart begins with the batch that was not handled."""
    calls = Calls(fails_for="b")
    feed.add("a", "b", "c")
    window = tens(feed.events).on_late(calls)
    query = et.start(window, writes(window))
    with pytest.raises(
        et.errors.LateHandlerError, match=r"for batch 3 .*OSError.*on_error"
    ) as told:
        query.awaitTermination()
    assert isinstance(told.value.__cause__, OSError)
    assert isinstance(told.value, RuntimeError)
    assert calls.keys == ["a", "b"]
    assert "OSError" in str(query.exception())
    assert not query.isActive
    assert spark.streams.active == []
    for wait in query.awaitTermination, query.processAllAvailable:
        with pytest.raises(et.errors.LateHandlerError):
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
    with pytest.raises(et.errors.LateHandlerError):
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


def test_a_writer_of_something_else_is_refused(feed: Feed, writes: Writes) -> None:
    """It would have no late rows of this window."""
    window = tens(feed.events).on_late(print)
    with pytest.raises(et.errors.InvalidArgumentError, match=r"^writer=.* results of this window"):
        et.start(window, writes(tens(feed.events)))


def test_a_writer_of_something_else_is_refused_without_a_handler(feed: Feed) -> None:
    """It would start another query than the one that was meant."""
    for other in (tens(feed.events).results, feed.events):
        with pytest.raises(
            et.errors.InvalidArgumentError, match=r"^writer=.* results of this window"
        ):
            et.start(tens(feed.events), other.writeStream.format("noop"))
    assert feed.events.sparkSession.streams.active == []


def test_a_writer_that_calls_no_handler_is_refused(feed: Feed, writes: Writes) -> None:
    """Before the query starts, also where PySpark raises it."""
    writer = writes(tens(feed.events).on_late(print))
    with pytest.raises(IllegalArgumentException, match=r"start method") as plain:
        writer.start()
    assert plain.value.getCondition() == "HANDLER_NOT_CALLED"
    with pytest.raises(et.errors.UnsupportedPlanError) as named, et.named_errors():
        writer.start()
    assert named.value.condition == "HANDLER_NOT_CALLED"
    assert feed.events.sparkSession.streams.active == []


def test_two_windows_with_a_handler_each_are_refused(feed: Feed, writes: Writes) -> None:
    """Only one of them would be called."""
    below = tens(feed.events).on_late(print)
    above = et.window(below.results).event_time("window").tumbling("20s")
    above = above.agg(F.count("*").alias("windows")).on_late(print)
    with pytest.raises(et.errors.UnsupportedPlanError, match="2 windows with a handler"):
        et.start(above, writes(above))


def test_a_query_that_cannot_begin_says_why(feed: Feed, writes: Writes, tmp_path: Path) -> None:
    """As without a handler, which is not called."""
    window = tens(feed.events)
    with started(window, writes(window)) as query:
        query.processAllAvailable()
    (tmp_path / "checkpoint" / "eventtide" / "plan").unlink()
    query = et.start(window, writes(window))
    with pytest.raises(et.errors.CheckpointError):
        query.awaitTermination()
    window = window.on_late(print)
    query = et.start(window, writes(window))
    with pytest.raises(et.errors.CheckpointError):
        query.processAllAvailable()


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
    with pytest.raises(et.errors.CheckpointError, match="LATE_INDEX_UNREADABLE"):
        query.awaitTermination()
    with pytest.raises(et.errors.CheckpointError):
        query.processAllAvailable()
