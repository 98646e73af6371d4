"""What windows of keys give by choice: on a condition, of rows that touch, of the future."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide import WatermarkPolicy, WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, key string"
HIGHEST = WatermarkPolicies.max_event_time()


@pytest.fixture(autouse=True)
def _without_code(spark: SparkSession) -> Iterator[None]:
    """Let short queries be short."""
    with settings(spark, WITHOUT_CODE):
        yield


def by_key(events: DataFrame, policy: WatermarkPolicy = HIGHEST) -> WindowBuilder:
    """Begin windows in the time of their keys."""
    return et.window(events).event_time("ts", policy).key_by("key").watermark_scope("key")


def test_a_trigger_gives_what_meets_its_condition(spark: SparkSession) -> None:
    """Each time that it is met with new rows, beside what is given at the end."""

    def query(events: DataFrame) -> DataFrame:
        full = WindowTrigger.when(F.col("n") >= 2)
        window = by_key(events).tumbling("10s").emit("at_window_end", full)
        rows = window.agg(F.count("*").alias("n")).results
        return rows.select("key", "n", "pane_timing", "trigger")

    with Script(query, ROWS, session=spark) as script:
        script.rows([(at(101), "a"), (at(101), "b")]).expect(results=[])
        script.rows([(at(102), "a")]).expect(results=[("a", 2, "early", "when")])
        script.rows([(at(103), "a"), (at(102), "b")])
        script.expect(results=[("a", 3, "early", "when"), ("b", 2, "early", "when")])
        script.rows([(at(111), "a")]).expect(results=[("a", 3, "on_time", "at_window_end")])


@pytest.mark.parametrize(
    ("touching", "sessions"),
    [
        ("separate", [(0, 10, 1), (10, 20, 1)]),
        ("merge", [(0, 20, 2)]),
        (None, [(0, 10, 1), (10, 20, 1)]),
    ],
)
def test_rows_exactly_one_gap_apart(
    spark: SparkSession, touching: Any, sessions: list[tuple[int, int, int]]
) -> None:
    """The systems of the field differ (FC45), so it can be said; separate if nobody says."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", HIGHEST).key_by("key")
        window = window.session("10s", touching=touching)
        times = [F.unix_timestamp(f"window.{name}") % 86400 for name in ("start", "end")]
        return window.agg(F.count("*").alias("n")).results.select(*times, "n")

    with Script(query, ROWS, session=spark) as script:
        script.rows([(at(0), "a"), (at(10), "a")]).rows([(at(60), "b")]).expect(results=sessions)


def test_rows_are_numbered_over_batches_that_leave_nothing(spark: SparkSession) -> None:
    """However they are cut; a key that had none for a day begins anew."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", HIGHEST).key_by("key").by_count(2)
        rows = window.agg(F.count("*").alias("n")).results
        return rows.select("key", "window.start", "window.end")

    with Script(query, ROWS, session=spark) as script:
        script.rows([(at(5), "a"), (at(6), "a")], [(at(7), "a")], [(at(8), "a")])
        script.expect(results=[("a", 0, 2), ("a", 2, 4)])
        script.restart(clock="2024-01-02 03:00:00").rows([(at(5), "a"), (at(6), "a")])
        script.expect(results=[("a", 0, 2)])


def test_rows_from_the_future_of_a_key_are_late_by_choice(spark: SparkSession) -> None:
    """They move no watermark, and are in the late log with that reason."""

    def query(events: DataFrame) -> DataFrame:
        guarded = HIGHEST.guard_future("1h", on="late")
        rows = by_key(events, guarded).tumbling("10s").agg(F.count("*").alias("n")).results
        return rows.select("key", "n")

    with Script(query, ROWS, session=spark) as script:
        script.rows([(at(5), "a"), ("2024-01-01 01:00:01", "a"), ("2024-01-01 00:59:59", "b")])
        script.rows([(at(6), "a")]).expect(results=[])
        script.rows([(at(12), "a")]).expect(results=[("a", 2)])
        late = et.read_late(script.checkpoint).collect()
        assert [(row["key"], row["_reason"]) for row in late] == [("a", "future")]


def test_the_rows_of_a_session_that_are_late_do_not_depend_on_their_order(
    spark: SparkSession,
) -> None:
    """One that is late alone counts if its session is open with what came beside it."""

    def query(events: DataFrame) -> DataFrame:
        window = by_key(events).session("4s").key_idle_timeout("1h")
        return window.agg(F.sort_array(F.collect_list("ts")).alias("all")).results.select(
            "key", F.size("all")
        )

    for turn in (1, -1):
        rows = [(at(61), "a"), (at(65), "a"), (at(68), "a"), (at(71), "a")][::turn]
        with Script(query, ROWS, session=spark) as script:
            script.rows([(at(72), "a")]).rows([(at(90), "b")]).rows(rows)
            script.rows([(at(90), "a")]).expect(results=[("a", 4)])
            late = et.read_late(script.checkpoint).collect()
            assert [row["ts"].second for row in late] == [1]
