"""Windows of Eventtide's own operator, in real streaming queries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, _bridge
from eventtide.testing import Script
from eventtide.windows._profiles import LATE_RULES, PROFILES
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide.windows._profiles import Profile
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
    late = et.read_late(tmp_path)
    assert {tuple(row) for row in late.select("_reason", "key").collect()} == {
        ("bad_time", "b"),
        ("window_closed", "a"),
    }


@pytest.mark.smoke
def test_days_are_those_of_a_time_zone() -> None:
    """The 31st of March 2024 had 23 hours in Berlin, from 23:00 UTC to 22:00."""

    def query(events: DataFrame) -> DataFrame:
        days = et.window(events).event_time("ts", LAG).tumbling("1 day").time_zone("Europe/Berlin")
        results = days.agg(F.count("*").alias("n")).results
        return results.select(F.expr("string(window.start)"), F.expr("string(window.end)"), "n")

    sunday = ("2024-03-30 23:00:00", "2024-03-31 22:00:00")
    with Script(query, EVENTS) as script:
        script.rows([("2024-03-30 23:00:00", "a"), ("2024-03-31 21:59:59", "a")]).expect([])
        script.rows([("2024-03-31 22:00:01", "a")]).expect([])
        script.rows([("2024-03-31 22:00:02", "a")]).expect([(*sunday, 2)])


def test_late_rows_are_logged_and_counted() -> None:
    """The books balance: what is not in a window is in the log, with the reason."""
    with Script(counted, EVENTS) as script:
        script.rows([(at(1), "a"), (at(12), "a")]).expect([(0, 10, "a", 1)])
        script.rows([(at(9), "b"), (at(11), "b"), (None, "c"), (at(22), "a")])
        script.expect([(10, 20, "a", 1), (10, 20, "b", 1)])
        late = et.read_late(script.streaming_query).select("key", "_reason").collect()
        assert sorted(map(tuple, late)) == [("b", "window_closed"), ("c", "bad_time")]
        progress = et.progress(script.streaming_query)
        assert progress.late == {"bad_time": 1, "window_closed": 1}


def test_late_rows_say_their_substream_and_key() -> None:
    """As et.progress calls the one, and in the same way the other; null where neither is known."""

    def query(events: DataFrame) -> DataFrame:
        upper = et.window(events).event_time("ts", LAG, substream="key")
        upper = upper.key_by("key", F.length("key").alias("n")).tumbling("10s")
        return flat(upper.agg(F.count("*").alias("rows")).results)

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a/b"), (at(2), None), (at(30), "a/b"), (at(30), None)])
        script.rows([(at(3), "a/b"), (at(4), None)])
        late = et.read_late(script.streaming_query)
        names = late.select("_substream", "_key").collect()
        assert {tuple(row) for row in names} == {("a/b", r"a\/b/3"), (r"\null", r"\null/\null")}
        progress = et.progress(script.streaming_query)
        assert {s.name for s in progress.inputs[0].substreams} == {"a/b", r"\null"}


def test_a_watermark_that_is_there_is_enough_for_a_batch_too(spark: SparkSession) -> None:
    """Windows of windows need no name; a batch of plain rows does."""
    rows = spark.sql("select timestamp'2024-01-01 00:00:01' as ts, 'a' as key")
    hours = et.window(rows).event_time("ts").tumbling("1h").agg(F.count("*").alias("n"))
    days = et.window(hours.results).tumbling("1 day").agg(F.sum("n").alias("n"))
    assert days.results.select("n").first() == (1,)
    with pytest.raises(et.errors.InvalidArgumentError, match="'event_time' is missing"):
        _ = et.window(rows).tumbling("1h").agg(F.count("*")).results


@pytest.mark.parametrize("profile", PROFILES)
def test_a_plan_has_the_rules_that_its_window_says(profile: Profile) -> None:
    """`explain` of the builder asks nobody; that of the results asks the plan."""
    plans = {}

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", LAG).sliding("10s", every="5s")
        results = window.profile(profile).agg(F.max("ts").alias("last")).results
        (plans["window"],) = json.loads(_bridge.of(results).explain_json(results))["windows"]
        return results

    with Script(query, EVENTS):
        rules, plan = PROFILES[profile], plans["window"]
    assert plan["kind"] == "sliding(size=PT10S, slide=PT5S)"
    assert (plan["bounds"] == "[start, end)") == (rules.bounds == "start <= time < end")
    assert plan["lateRule"] == (rules.late if rules.late in LATE_RULES else "window_closed")
    assert plan["combining"] == "two stacks of 2 frames"
    assert plan["lateRows"] == "logged in late, in the checkpoint"
