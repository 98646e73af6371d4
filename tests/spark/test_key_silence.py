"""Keys that fall silent: when the clock is looked at for them, and what is run for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from eventtide.voltsp import TimeConfig, Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, operators, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventtide import WindowBuilder
    from eventtide.windows._profiles import Profile
    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, key string"


@pytest.fixture(autouse=True)
def _without_code(spark: SparkSession) -> Iterator[None]:
    """Let short queries be short."""
    with settings(spark, WITHOUT_CODE):
        yield


def silent(shape: Callable[[WindowBuilder], WindowBuilder]) -> Callable[[DataFrame], DataFrame]:
    """Return a query whose keys have watermarks of their own, and say when they are idle."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
        window = shape(window.key_by("key").watermark_scope("key"))
        return window.agg(F.count("*").alias("n")).results.select("key", "n", "pane_timing")

    return query


def test_the_clock_is_looked_at_once_a_heartbeat(spark: SparkSession) -> None:
    """A minute by default, from the last batch by the clock on; no batch is run for nothing."""

    def tens(window: WindowBuilder) -> WindowBuilder:
        return window.tumbling("10s").key_idle_timeout("20s")

    with Script(silent(tens), ROWS, session=spark) as script:
        script.rows([(at(101), "a")]).clock(at(10)).rows([(at(101), "b")])
        script.clock(at(19.9)).expect(results=[])
        assert script.last_batch == 1
        script.clock(at(20)).expect(results=[("a", 1, "idle")])
        assert script.last_batch == 2
        script.clock(at(30)).clock(at(79.9)).expect(results=[])
        assert script.last_batch == 2
        script.clock(at(80)).expect(results=[("b", 1, "idle")])
        script.clock(at(3000)).expect(results=[])
        assert script.last_batch == 3


def test_the_clock_may_be_looked_at_ten_times_a_second(spark: SparkSession) -> None:
    """That is how soon one key comes after another."""

    def tens(window: WindowBuilder) -> WindowBuilder:
        return window.tumbling("10s").key_idle_timeout("20s").heartbeat("100ms")

    with Script(silent(tens), ROWS, session=spark) as script:
        script.rows([(at(101), "a")]).clock(at(0.04)).rows([(at(101), "b")])
        script.clock(at(20)).expect(results=[("a", 1, "idle")])
        script.clock(at(20.099)).expect(results=[])
        assert script.last_batch == 2
        script.clock(at(20.1)).expect(results=[("b", 1, "idle")])
        assert script.last_batch == 3


@pytest.mark.parametrize("profile", ["eventtide", "voltsp"])
def test_windows_of_the_clock_cost_a_batch_when_they_close(
    spark: SparkSession, profile: Profile
) -> None:
    """And no other; each closes at its end."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).processing_time().profile(profile).tumbling("10s")
        return window.agg(F.count("*").alias("n")).results.select("n")

    with Script(query, ROWS, session=spark) as script:
        script.clock(at(0.5)).rows([(at(1), "a")]).clock(at(9.7)).rows([(at(1), "a")])
        script.clock(at(9.9)).expect(results=[])
        assert script.last_batch == 1
        script.clock(at(10)).expect(results=[(2,)])
        assert script.last_batch == 2
        script.clock(at(25)).clock(at(3000)).rows([(at(1), "a")]).expect(results=[])
        assert script.last_batch == 3
        script.restart(clock=at(3009.9)).expect(results=[])
        assert script.last_batch == -1
        script.restart(clock=at(3010), available_now=True).expect(results=[(1,)])


def test_windows_of_the_clock_may_wait_for_rows(spark: SparkSession) -> None:
    """Where the clock is the time of rows and no more."""
    arrival = TimeConfig("current_timestamp()", "MAX_EVENT_TIME")
    window = Windows.tumbling_time_window().with_window_span("10s").with_time_config(arrival)
    counting = window.with_aggregate_definition(lambda builder: builder.count())

    with Script(
        lambda df: counting.over(df).results.select("count"), ROWS, session=spark
    ) as script:
        script.clock(at(0.5)).rows([(at(1), "a")]).clock(at(3)).rows([(at(1), "a")])
        script.clock(at(30)).expect(results=[])
        script.rows([(at(1), "a")]).expect(results=[(2,)])


def test_a_batch_of_other_keys_gives_what_is_due(spark: SparkSession) -> None:
    """It need not wait for the heartbeat."""

    def tens(window: WindowBuilder) -> WindowBuilder:
        return window.tumbling("10s").key_idle_timeout("20s")

    with Script(silent(tens), ROWS, session=spark) as script:
        script.rows([(at(101), "a")]).clock(at(20)).expect(results=[("a", 1, "idle")])
        script.rows([(at(101), "quiet")]).clock(at(45)).expect(results=[])
        script.rows([(at(101), "busy")]).expect(results=[("quiet", 1, "idle")])


def test_what_is_asked_for_at_a_time_is_given_then(spark: SparkSession) -> None:
    """Whatever the heartbeat: a trigger by the clock, and what is silent by then."""

    def told(window: WindowBuilder) -> WindowBuilder:
        window = window.tumbling("100s").key_idle_timeout("12s").heartbeat("1m")
        return window.emit("at_window_end", et.WindowTrigger.every("5s"))

    with Script(silent(told), ROWS, session=spark) as script:
        script.rows([(at(101), "a")]).clock(at(5)).expect(results=[("a", 1, "early")])
        script.clock(at(11)).expect(results=[])
        script.clock(at(12)).expect(results=[("a", 1, "idle")])


def test_rows_that_are_too_few_are_given_when_their_key_is_silent(spark: SparkSession) -> None:
    """And counting begins anew with the next row."""

    def threes(window: WindowBuilder) -> WindowBuilder:
        window = window.watermark_scope("global")
        return window.by_count(3).key_idle_timeout("10s").heartbeat("100ms")

    with Script(silent(threes), ROWS, session=spark) as script:
        script.rows([(at(1), "a"), (at(2), "a"), (at(3), "a"), (at(4), "a")])
        script.expect(results=[("a", 3, "on_time")])
        script.clock(at(9)).expect(results=[])
        script.clock(at(10)).expect(results=[("a", 1, "idle")])
        script.rows([(at(1), "a"), (at(2), "a")]).expect(results=[])
        script.rows([(at(3), "a")]).expect(results=[("a", 3, "on_time")])


@pytest.mark.parametrize("kind", ["tumbling", "session"])
def test_silence_in_processing_time(spark: SparkSession, kind: str) -> None:
    """A session ends a gap after its last row; a window is given before its end."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).processing_time().key_by("key")
        if kind == "session":
            window = window.session("15s")
        else:
            window = window.tumbling("1m").key_idle_timeout("15s").heartbeat("100ms")
        rows = window.agg(F.count("*").alias("n")).results
        times = [F.unix_timestamp(f"window.{name}") % 86400 for name in ("start", "end")]
        return rows.select("key", "n", *times)

    with Script(query, ROWS, session=spark) as script:
        script.clock(at(2)).rows([(at(1), "a"), (at(2), "a")]).clock(at(12)).rows([(at(1), "a")])
        script.clock(at(26.9)).expect(results=[])
        script.clock(at(28)).expect(
            results=[("a", 3, *((2, 27) if kind == "session" else (0, 60)))]
        )


def test_a_key_leaves_the_state_a_day_after_its_last_row(spark: SparkSession) -> None:
    """By default; a window of it was given long before."""

    def tens(window: WindowBuilder) -> WindowBuilder:
        return window.tumbling("10s").key_idle_timeout("20s")

    with Script(silent(tens), ROWS, session=spark) as script:
        script.rows([(at(101), "a")]).clock(at(20)).expect(results=[("a", 1, "idle")])
        assert operators(script)[-1]["numRowsTotal"] == 1
        script.clock("+1536m").rows([(at(101), "b")])
        assert operators(script)[-1]["numRowsTotal"] == 1
        assert [row["key"] for row in script.results()] == []
        script.clock("+1m").expect(results=[("b", 1, "idle")])


def test_late_rows_may_be_counted_only(spark: SparkSession) -> None:
    """Also where each is late by its own key."""

    def tens(window: WindowBuilder) -> WindowBuilder:
        return window.tumbling("10s").late("count").key_idle_timeout("1h")

    with Script(silent(tens), ROWS, session=spark) as script:
        script.rows([(at(101), "a")], [(at(121), "a"), (at(101), "b")], [(at(101), "a")])
        script.expect(results=[("a", 1, "on_time")])
        assert et.progress(script.streaming_query).late == {"window_closed": 1}
        with pytest.raises(et.errors.CheckpointError):
            et.read_late(script.checkpoint).collect()
