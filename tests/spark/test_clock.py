"""Policies that move with time: what the clock does to an ordinary query, and what it costs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script

from tests.spark.queries import EVENTS, at, counts, stock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LULL = WatermarkPolicies.limiting_lag_and_lull("2s", "5s")
BY_SECOND = LULL.throttle_by_frame("1s")


@pytest.mark.smoke
def test_a_lull_closes_the_last_window_without_a_row() -> None:
    """After max_lull the watermark moves in lockstep with the clock; stock Spark waits for ever."""
    with Script(counts(BY_SECOND), EVENTS) as script:
        script.rows([(at(1), ""), (at(13), "")]).expect([(0, 1)], watermark=at(11))
        script.clock("+5s").expect([], watermark=at(11))
        script.clock("+8s").expect([], watermark=at(19))
        script.clock("+1s").expect([(10, 1)], watermark=at(20))
    with Script(stock("2 seconds"), EVENTS) as script:
        script.rows([(at(1), ""), (at(13), "")]).clock("+1h").expect([(0, 1)], watermark=at(11))


def test_a_row_that_does_not_advance_the_watermark_does_not_end_a_lull() -> None:
    """Only rows that raise the watermark start the lull anew."""
    with Script(counts(BY_SECOND), EVENTS) as script:
        script.rows([(at(13), "")]).clock("+6s").expect(watermark=at(12))
        script.rows([(at(12), "")]).expect(watermark=at(12))
        script.clock("+1s").expect(watermark=at(13))
        script.rows([(at(40), "")]).expect(watermark=at(38))
        script.clock("+5s").expect(watermark=at(38))
        script.clock("+1s").expect(watermark=at(39))


def test_lag_and_delay_reaches_every_time_that_was_seen() -> None:
    """Each top is reached max_delay after it was seen, whatever the lag."""
    policy = WatermarkPolicies.limiting_lag_and_delay("1m", "16s").throttle_by_frame("1s")
    with Script(counts(policy), EVENTS) as script:
        script.rows([(at(61), "")]).expect([], watermark=at(1))
        script.clock("+15s").expect([], watermark=at(1))
        script.clock("+1s").expect([], watermark=at(61))
        script.clock("+1h").expect([], watermark=at(61))


def test_wall_clock_lag_limits_how_far_the_watermark_is_behind_the_clock() -> None:
    """Event time is the clock's time."""
    policy = WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("5s", "20s").throttle_by_frame(
        "1s"
    )
    with Script(counts(policy), EVENTS, clock=at(30)) as script:
        script.rows([(at(14), "")]).expect(watermark=at(10))
        script.clock("+3s").expect(watermark=at(13))
        script.rows([(at(40), "")]).expect(watermark=at(35))


def test_real_time_lag_follows_the_clock_alone() -> None:
    """Before any row, and whatever the rows say."""
    policy = WatermarkPolicies.limiting_real_time_lag("10s").throttle_by_frame("1s")
    with Script(counts(policy), EVENTS, clock=at(30)) as script:
        script.expect(watermark=at(20)).rows([(at(45), "")]).expect(watermark=at(20))
        script.clock("+1s").expect(watermark=at(21))


@pytest.mark.smoke
def test_ingestion_time_is_never_late_even_if_the_clock_goes_back() -> None:
    """The column is the batch's time, monotone."""

    def query(events: DataFrame) -> DataFrame:
        return (
            et.with_ingestion_time(events, into="seen")
            .dropDuplicatesWithinWatermark(["key"])
            .select("key")
        )

    with Script(query, EVENTS, clock=at(30)) as script:
        script.rows([(at(1), "a")], [(at(1), "b")]).expect([("a",), ("b",)], late=0)
        script.clock("+10s").clock("-40s").rows([(at(1), "c")]).expect([("c",)], late=0)


def test_a_tick_costs_one_batch_for_each_frame_that_is_due() -> None:
    """Ten idle seconds with a frame of a second: ten batches, and none that nobody asked for."""
    with Script(counts(BY_SECOND), EVENTS) as script:
        script.rows([(at(13), "")]).clock("+5s")
        before = script.last_batch
        for _ in range(10):
            script.clock("+500ms").clock("+500ms")
        assert script.last_batch - before == 10


def test_an_unthrottled_policy_is_throttled_to_a_second_when_the_clock_moves_it() -> None:
    """Rows move it at once, the clock by a second at least."""
    with Script(counts(LULL), EVENTS) as script:
        script.rows([(at(13.25), "")]).expect(watermark=at(11.25)).clock("+5s")
        before = script.last_batch
        script.clock("+900ms").expect(watermark=at(11.25))
        script.clock("+200ms").expect(watermark=at(12.35))
        assert script.last_batch - before == 1


def test_a_fixed_lag_runs_no_batch_that_spark_would_not_run() -> None:
    """However long the clock runs."""
    ids = []
    for query in (counts(WatermarkPolicies.with_fixed_lag("2s")), stock("2 seconds")):
        with Script(query, EVENTS) as script:
            script.rows([(at(13), "")], [(at(31), "")])
            for _ in range(5):
                script.clock("+10m")
            ids.append(script.last_batch)
    assert ids[0] == ids[1]


def test_before_the_first_row_there_is_no_batch() -> None:
    """A new clock has no offset, so that Spark does not take it for data."""
    with Script(counts(BY_SECOND), EVENTS) as script:
        script.clock("+1h")
        assert script.last_batch == -1


def test_process_all_available_stop_and_available_now_return(
    spark: SparkSession, tmp_path: object
) -> None:
    """With a frame far smaller than a batch takes, on the real clock."""
    policy = WatermarkPolicies.limiting_real_time_lag("0s").throttle_by_frame("1ms")
    rate = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    counted = et.with_watermark(rate, "timestamp", policy).groupBy("timestamp").count()
    started = time.monotonic()
    checkpoint = f"{tmp_path}/checkpoint"
    writer = counted.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.start()
    query.processAllAvailable()
    query.stop()
    again = writer.trigger(availableNow=True).start()
    assert again.awaitTermination(60)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("interval", ["1s", "30s"])
def test_emit_every_lets_the_watermark_through_on_storms_timer(interval: str) -> None:
    """Between two ticks of the timer the watermark stands."""
    policy = WatermarkPolicies.with_fixed_lag("0s").emit_every(interval)
    with Script(counts(policy), EVENTS) as script:
        script.rows([(at(13), "")]).expect(watermark=at(13))
        script.rows([(at(14), "")]).expect(watermark=at(13))
        script.clock(f"+{interval}").expect(watermark=at(14))
