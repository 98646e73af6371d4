"""The ends of time: windows that no calendar has, lengths of ages, and parts of a millisecond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.storm import StormWindow
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts
from tests.thorough import smoked

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

NO_LAG = WatermarkPolicies.with_fixed_lag("0s")
FIRST, LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


def window(
    kind: str, *sizes: str, zone: str | None = None, **others: Any
) -> Callable[[DataFrame], WindowBuilder]:
    """Count events by windows of a kind."""

    def query(events: DataFrame) -> WindowBuilder:
        base = et.window(events).event_time("ts", NO_LAG.guard_future("1h")).key_by("key")
        zoned = base.time_zone(zone) if zone else base
        shaped: WindowBuilder = getattr(zoned, kind)(*sizes, **others)
        return shaped.agg(F.count("*").alias("n"))

    return query


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        (window("sliding", "10s", every="2s"), 2),
        (window("tumbling", "7d"), 2),
        (window("cumulate", "1h", step="7m30s"), 1),
        (window("tumbling", "1 month", zone="Asia/Tokyo"), 2),
        (window("session", gap="1m"), 1),
    ],
)
def test_rows_whose_windows_leave_the_years_that_can_be_shown_are_refused(
    query: Callable[[DataFrame], WindowBuilder], refused: int
) -> None:
    """Such a row counts as one without a usable time; the windows of others come out."""

    def counted(events: DataFrame) -> DataFrame:
        return query(events).results.select("key", "n")

    with Script(counted, EVENTS) as script:
        script.rows([(FIRST, "first"), (at(1), "a"), (LAST, "last")])
        script.clock("2025-06-01 00:00:00").rows([("2025-06-01 00:00:01", "b")])
        assert et.progress(script.streaming_query).late == {"bad_time": refused}
        shown = {row["key"] for row in script.results()}
        assert shown == ({"a"} if refused == 2 else {"a", "first"})


def test_storms_windows_are_in_the_years_that_can_be_shown() -> None:
    """Also where they are longer than their slide."""

    def query(events: DataFrame) -> Any:
        bolt = StormWindow().with_window("10s", "2s").with_timestamp_field("ts")
        return bolt.over(events).agg(F.count("*").alias("n"))

    with Script(query, EVENTS, clock=at(0.5)) as script:
        script.rows([(FIRST, "a"), (at(1), "a")]).clock("+1s").rows([(at(20), "a")]).clock("+1s")
        assert [row["n"] for row in script.results()] == [1] * 5
        assert et.progress(script.streaming_query).late == {"bad_time": 1}


def test_a_batch_leaves_out_what_a_stream_refuses(spark: SparkSession) -> None:
    """Results of both can be shown."""
    rows = spark.createDataFrame([(FIRST, "a"), (at(1), "a")], "ts string, key string")
    times = rows.withColumn("ts", F.to_timestamp("ts"))
    found = window("sliding", "10s", every="5s")(times).results.collect()
    assert [row["n"] for row in found] == [1, 1]


@pytest.mark.parametrize("own", [True, False])
def test_an_early_result_after_ages_does_not_come_at_once(own: bool) -> None:
    """Nearly 300 000 years are never over; a sum past the end of time is the end of time."""

    def query(events: DataFrame) -> WindowBuilder:
        base = et.window(events).event_time("ts", NO_LAG).key_by("key")
        base = base.emit(et.WindowTrigger.every("106740000d"))
        scoped = base.watermark_scope("key") if own else base
        return scoped.tumbling("10s").agg(F.count("*").alias("n"))

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a")]).clock("+1h")
        assert script.results() == []
        script.rows([(at(11), "a")])
        assert [row["n"] for row in script.results()] == [1]


@pytest.mark.parametrize("part", smoked([0, 0.001, 0.000001, 0.000999], of=[0.000999]))
def test_a_timer_emits_at_its_instants_whatever_parts_of_a_millisecond_times_have(
    part: float,
) -> None:
    """What is emitted is in whole milliseconds, and so is what the timer waits for."""
    with Script(counts(NO_LAG.emit_every("30s")), EVENTS, clock=at(10)) as script:
        script.rows([(at(5 + part), "")]).clock(at(30)).clock(at(40)).rows([(at(1), "")])
        first = script.watermark
        script.clock(at(60)).clock(at(70)).rows([(at(65), "")])
        assert script.watermark == first
        script.clock(at(90)).expect(watermark=at(65))


def test_storms_timer_closes_nothing_between_two_of_its_instants() -> None:
    """With microseconds too: neither a window nor what it would make late."""

    def query(events: DataFrame) -> Any:
        bolt = StormWindow().with_tumbling_window("10s").with_timestamp_field("ts")
        return bolt.over(events).agg(F.collect_list("key").alias("keys"))

    with Script(query, EVENTS, clock=at(0.5)) as script:
        script.rows([(at(5.000001), "1")]).clock("+1s").rows([(at(5), "2")])
        script.rows([(at(5.000001), "3")]).clock("+1s").clock("+1s")
        script.rows([(at(30), "4")]).rows([(at(6), "5")]).rows([(at(25), "6")])
        assert script.results() == []
        assert et.progress(script.streaming_query).late == {}
