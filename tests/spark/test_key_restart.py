"""Keys in their own time, sessions and counts: batches that are run again, and deadlines too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import Disorder, cut
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

    from tests.spark.batch_results import Rows

HIGHEST = WatermarkPolicies.max_event_time()
BATCHES = cut(Disorder(seed=5, late_by=30.0, gap=0.6).events(120), seed=5, batches=4)


def ids() -> Column:
    """Return which rows they are."""
    return F.sort_array(F.collect_list("id")).alias("ids")


def n() -> Column:
    """Return how many."""
    return F.count("*").alias("n")


def by_user(events: DataFrame) -> WindowBuilder:
    """Begin windows in the time of their keys."""
    window = et.window(events).event_time("ts", HIGHEST).key_by("user", "site")
    return window.watermark_scope("key")


def sliding(events: DataFrame) -> WindowBuilder:
    """Return windows that idle keys emit too, and that are told while they are open."""
    window = by_user(events).sliding("12s", every="4s").key_idle_timeout("20s", clock="event_time")
    return window.emit("at_window_end", et.WindowTrigger.every_rows(3)).agg(ids(), n())


def of_sites(events: DataFrame) -> WindowBuilder:
    """Return windows whose keys have a watermark together."""
    return by_user(events).watermark_scope(["site"]).tumbling("8s").agg(ids(), n())


def sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions, some of which are as long as they may be."""
    window = by_user(events).session("3s", maximum_duration="20s")
    return window.key_idle_timeout("20s", clock="event_time").agg(ids(), n())


def counts(events: DataFrame) -> WindowBuilder:
    """Return windows of rows that share some."""
    window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("3s"))
    return window.key_by("user", "site").by_count(4, every=3).agg(ids(), n())


@pytest.mark.parametrize("window", [sliding, of_sites, sessions, counts])
def test_every_batch_that_is_run_again_gives_what_it_gave(
    spark: SparkSession, tmp_path: Path, window: Callable[[DataFrame], WindowBuilder]
) -> None:
    """From the last batch to the first, and from each to the end."""
    with settings(spark, WITHOUT_CODE):
        run = WindowRun(spark, window, BATCHES)
        run.gives_the_same_again(tmp_path, has_late=window is not counts)


def waiting(timeout: str) -> Callable[[DataFrame], DataFrame]:
    """Return a query that gives what its keys hold when they have been silent for so long."""

    def query(events: DataFrame) -> DataFrame:
        window = by_user(events).tumbling("10s").key_idle_timeout(timeout)
        return window.agg(n()).results.select("user", "n", "pane_timing")

    return query


def test_a_run_begins_with_a_batch_only_if_its_rules_are_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    """And once: the run after that knows them."""
    schema, folder = "ts timestamp, user string, site int", str(tmp_path)
    rows = [(at(101), "a", 1)]
    begins = []
    with settings(spark, WITHOUT_CODE):
        for timeout in "1h", "1h", "2h", "2h":
            with Script(waiting(timeout), schema, session=spark, checkpoint=folder) as script:
                script.rows(rows)
                begins.append(script.last_batch)
    assert begins == [0, -1, 1, -1]


def of_two(lag: str) -> Callable[[DataFrame], WindowBuilder]:
    """Return windows whose keys are behind their rows by so much."""
    policy = WatermarkPolicies.min_of(
        WatermarkPolicies.with_fixed_lag(lag), WatermarkPolicies.max_event_time()
    )

    def window(events: DataFrame) -> WindowBuilder:
        timed = et.window(events).event_time("ts", policy).key_by("user")
        return timed.watermark_scope("key").tumbling("10s").agg(ids())

    return window


def row(number: int, second: float, user: str) -> tuple[Any, ...]:
    """Return an event of which nothing else matters."""
    return number, at(second), user, 1, None, None, None, None


def where(given: Mapping[int, Rows], ids: str) -> list[int]:
    """Return the batches that gave a window of these rows."""
    return [batch for batch, rows in given.items() if f"ids=[{ids}]" in str(rows)]


TWO_KEYS = [
    [row(1, 101, "quiet"), row(2, 130, "quiet")],
    [row(3, 101, "busy"), row(4, 130, "busy")],
]


def test_a_batch_that_is_run_again_goes_by_the_rules_it_was_begun_with(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A sink has its results already; so it is the batch after it that goes by other ones."""
    with settings(spark, WITHOUT_CODE):
        WindowRun(spark, of_two("10m"), TWO_KEYS).to_the_end(tmp_path)
        set_back(tmp_path, 1, ())
        given = WindowRun(spark, of_two("0s"), TWO_KEYS).to_the_end(tmp_path, has=1)
        assert where(given, "1") == [2]
        assert where(given, "3") == [2]
        set_back(tmp_path, 2, ())  # the first that was begun by them
        given = WindowRun(spark, of_two("0s"), TWO_KEYS).to_the_end(tmp_path, has=1)
        assert where(given, "1") == [2]
        assert where(given, "3") == [2]
        set_back(tmp_path, 2, ())
        given = WindowRun(spark, of_two("10m"), TWO_KEYS).to_the_end(tmp_path, has=1)
        assert where(given, "1") == [2]
        assert where(given, "3") == [2]


def test_silence_in_a_batch_that_is_run_again_is_that_of_the_run_which_began_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What it gave for a silent key, its sink has; the key holds nothing any more."""

    def silent(timeout: str) -> Callable[[DataFrame], WindowBuilder]:
        def window(events: DataFrame) -> WindowBuilder:
            tens = by_user(events).tumbling("10s").key_idle_timeout(timeout, clock="event_time")
            return tens.agg(ids())

        return window

    batches = [[row(1, 101, "a")], [row(2, 200, "b")], [row(3, 201, "b")], [row(4, 3500, "b")]]
    with settings(spark, WITHOUT_CODE):
        given = WindowRun(spark, silent("30s"), batches[:3]).to_the_end(tmp_path)
        assert where(given, "1") == [2]
        set_back(tmp_path, 2, ())
        given = WindowRun(spark, silent("10m"), batches).to_the_end(tmp_path, has=2)
        assert where(given, "1") == []
        assert where(given, "2, 3") != []


IN_TURN = [[row(1, 101, "a")], [row(2, 101, "a")], [row(3, 101, "b")], [row(4, 101, "a")]]


def fives(trigger: et.WindowTrigger | None) -> Callable[[DataFrame], WindowBuilder]:
    """Return windows of five rows that a trigger gives before."""

    def window(events: DataFrame) -> WindowBuilder:
        timed = et.window(events).event_time("ts", HIGHEST, on_restart="resume")
        counted = timed.key_by("user").by_count(5)
        return counted.emit("at_window_end" if trigger is None else trigger).agg(ids())

    return window


@pytest.mark.parametrize(("begun_by", "given_in"), [(2, 1), (1000, 3)])
def test_a_trigger_in_a_batch_that_is_run_again_is_that_of_the_run_which_began_it(
    spark: SparkSession, tmp_path: Path, begun_by: int, given_in: int
) -> None:
    """What it has given is not new to the batches after it."""
    every = {rows: fives(et.WindowTrigger.every_rows(rows)) for rows in (2, 1000)}
    with settings(spark, WITHOUT_CODE):
        WindowRun(spark, every[begun_by], IN_TURN[:2]).to_the_end(tmp_path)
        set_back(tmp_path, 1, ())
        by_others = every[1000 if begun_by == 2 else 2]
        given = WindowRun(spark, by_others, IN_TURN).to_the_end(tmp_path)
        assert [batch for batch in given if "ids=[1, 2" in str(given[batch])] == [given_in]


@pytest.mark.parametrize(("begun_with", "given_in"), [("1ms", 1), (None, 2)])
def test_a_timeout_that_is_new_or_gone_is_so_after_the_batch_that_is_run_again(
    spark: SparkSession, tmp_path: Path, begun_with: str | None, given_in: int
) -> None:
    """The first row's key is silent by then, by the clock."""

    def silent(timeout: str | None) -> Callable[[DataFrame], WindowBuilder]:
        def window(events: DataFrame) -> WindowBuilder:
            told_apart = fives(None)(events)
            return told_apart if timeout is None else told_apart.key_idle_timeout(timeout)

        return window

    batches = [[row(1, 101, "a")], [row(2, 101, "b")], [row(3, 101, "b")]]
    with settings(spark, WITHOUT_CODE):
        WindowRun(spark, silent(begun_with), batches[:2]).to_the_end(tmp_path)
        set_back(tmp_path, 1, ())
        by_others = silent(None if begun_with else "1ms")
        given = WindowRun(spark, by_others, batches).to_the_end(tmp_path)
        assert where(given, "1") == [given_in]


def test_a_task_that_has_several_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """Late rows of each come into the log, and its rows in time are counted."""
    one, each = tmp_path / "one", tmp_path / "each"
    with settings(spark, WITHOUT_CODE):
        together = WindowRun(spark, sliding, BATCHES, lambda results: results.coalesce(1))
        assert together.to_the_end(one) == WindowRun(spark, sliding, BATCHES).to_the_end(each)
    assert late_rows(spark, one) == late_rows(spark, each)


@pytest.mark.parametrize("lost", LOST, ids=lambda lost: "-".join(lost) or "commit")
def test_a_deadline_that_was_due_when_the_driver_died(
    spark: SparkSession, lost: tuple[str, ...]
) -> None:
    """By the clock: its batch is run again, for a sink that has it, and the next one is known."""

    def query(events: DataFrame) -> DataFrame:
        window = by_user(events).tumbling("10s").key_idle_timeout("30s").heartbeat("100ms")
        return window.agg(n()).results.select("user", "n", "pane_timing")

    schema = "ts timestamp, user string, site int"
    with settings(spark, WITHOUT_CODE), Script(query, schema, session=spark) as script:
        script.rows([(at(101), "a", 1), (at(102), "a", 1)]).clock(at(20))
        script.rows([(at(101), "b", 1)])
        script.clock(at(31)).expect(results=[("a", 2, "idle")])
        died = script.last_batch
        script.stop()
        set_back(Path(script.checkpoint), died, lost)
        script.restart(clock=at(32)).expect(results=[])
        assert script.last_batch == died
        script.clock(at(51)).expect(results=[("b", 1, "idle")])
