"""Windows of Eventtide's own operator, in real streaming queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

LAG = WatermarkPolicies.with_fixed_lag("2s")


def counted(events: DataFrame, window: et.WindowBuilder | None = None) -> DataFrame:
    """Count by key; columns start and end (seconds into the hour), key and n."""
    window = window or et.window(events).event_time("ts", LAG).key_by("key").tumbling("10s")
    return flat(window.agg(F.count("*").alias("n")).results)


def flat(results: DataFrame) -> DataFrame:
    """Show windows as seconds into the hour."""
    bounds = [(F.unix_timestamp(f"window.{b}") % 3600).alias(b) for b in ("start", "end")]
    return results.select(*bounds, *results.columns[1:])


@pytest.mark.smoke
def test_a_window_gives_its_row_when_it_closes() -> None:
    """Not before the watermark is at its end, and once."""
    with Script(counted, EVENTS) as script:
        script.rows([(at(1), "a"), (at(3), "a"), (at(5), "b")]).expect(results=[])
        script.rows([(at(12), "a")]).expect(results=[(0, 10, "a", 2), (0, 10, "b", 1)])
        script.rows([(at(25), "b")]).expect(results=[(10, 20, "a", 1)])


def test_a_chain_of_windows_closes_in_one_query() -> None:
    """A second window needs no watermark of its own."""

    def query(events: DataFrame) -> DataFrame:
        seconds = et.window(events).event_time("ts", LAG).key_by("key").tumbling("10s")
        counts = seconds.agg(F.count("*").alias("n")).results
        best = et.window(counts).tumbling("30s").agg(F.max("n").alias("most"))
        return flat(best.results)

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(3), "a"), (at(25), "a")]).expect(results=[])
        script.rows([(at(33), "a")]).expect(results=[(0, 30, 2)])


def test_windows_of_spark_may_follow() -> None:
    """The results have the event time that Spark's own operators need."""

    def query(events: DataFrame) -> DataFrame:
        seconds = et.window(events).event_time("ts", LAG).key_by("key").tumbling("10s")
        counts = seconds.agg(F.count("*").alias("n")).results
        after = counts.groupBy(F.window(F.window_time("window"), "30 seconds"))
        return flat(after.agg(F.max("n").alias("most")))

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(3), "a"), (at(25), "a")]).expect(results=[])
        script.rows([(at(33), "a")]).expect(results=[(0, 30, 2)])


def test_a_watermark_of_sparks_is_taken_over() -> None:
    """The window closes as under the policy of the same lag."""

    def query(events: DataFrame) -> DataFrame:
        timed = events.withWatermark("ts", "2 seconds")
        return counted(events, et.window(timed).key_by("key").tumbling("10s"))

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(3), "a")]).expect(results=[])
        script.rows([(at(12), "a")]).expect(results=[(0, 10, "a", 2)])


def test_a_clock_closes_windows_without_rows() -> None:
    """Under a policy with lull."""

    def query(events: DataFrame) -> DataFrame:
        lull = WatermarkPolicies.limiting_lag_and_lull("2s", "5s").throttle_by_frame("1s")
        window = et.window(events).event_time("ts", lull).key_by("key").sliding("4s", every="2s")
        return counted(events, window)

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a")]).expect(results=[])
        script.clock("+9s").expect(results=[(-2 % 3600, 2, "a", 1)])
        script.clock("+10s").expect(results=[(0, 4, "a", 1)])


def test_no_keys_are_one_group() -> None:
    """Over all rows."""

    def query(events: DataFrame) -> DataFrame:
        return counted(events, et.window(events).event_time("ts", LAG).tumbling("10s"))

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(3), "b")]).expect(results=[])
        script.rows([(at(12), "a")]).expect(results=[(0, 10, 2)])


def test_the_books_of_a_window_balance_over_a_restart(tmp_path: Path) -> None:
    """Every row is in a window or late; what was counted before a stop is counted after it."""
    with Script(counted, EVENTS, checkpoint=str(tmp_path)) as script:
        script.rows([(at(1), "a"), (at(13), "a"), (None, "b")]).expect(results=[(0, 10, "a", 1)])
        script.rows([(at(2), "a"), (at(14), "b")]).expect(results=[])
        script.restart()
        script.rows([(at(3), "a"), (at(15), "b")]).expect(results=[])
        progress = et.progress(script.streaming_query)
        assert progress is not None
        assert progress.on_time == 4
        assert progress.late == {"bad_time": 1, "window_closed": 2}
    late = et.read_late(SparkSession.active(), tmp_path)
    assert {tuple(row) for row in late.select("_reason", "key").collect()} == {
        ("bad_time", "b"),
        ("window_closed", "a"),
    }
