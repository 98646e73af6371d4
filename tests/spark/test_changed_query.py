"""A query goes on from the state of the aggregates that it shares with the query before it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import SCHEMA, Disorder, cut
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, scripted, settings
from tests.thorough import sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

    from tests.spark.batch_results import Rows

    Windowed: TypeAlias = Callable[[DataFrame], WindowBuilder]

LAG = WatermarkPolicies.with_fixed_lag("3s")
BATCHES = cut(Disorder(seed=3, late_by=40, gap=0.8).events(160), seed=4, batches=6)
CHANGED = 3  # the batches before the change

AGGREGATES = {
    "n": "count(*)",
    "users": "count(user)",
    "total": "sum(amount)",
    "fees": "sum(fee)",
    "approved": "sum(amount) filter (where ok)",
    "most": "max(amount)",
    "mean": "avg(score)",
    "distinct": "approx_count_distinct(amount, 0.05)",
    "ids": "sort_array(collect_list(id))",
    "median": "percentile_approx(amount, 0.5)",
    "range": "max(amount) - min(amount) + count(*)",
}


def by_site(events: DataFrame) -> WindowBuilder:
    """Begin windows by the query's watermark."""
    return et.window(events).event_time("ts", LAG).key_by("site")


def by_user(events: DataFrame) -> WindowBuilder:
    """Begin windows whose keys have no watermark together."""
    highest = WatermarkPolicies.max_event_time()
    return et.window(events).event_time("ts", highest).key_by("user", "site")


def tumbling(events: DataFrame) -> WindowBuilder:
    """Return windows of one frame."""
    return by_site(events).tumbling("8s")


def sliding(events: DataFrame) -> WindowBuilder:
    """Return windows of enough frames for a block of them."""
    return by_site(events).sliding("40s", every="1s")


def growing(events: DataFrame) -> WindowBuilder:
    """Return windows that grow."""
    return by_site(events).cumulate("12s", step="4s")


def paned(events: DataFrame) -> WindowBuilder:
    """Return windows that emit panes before their end and after it."""
    twos = et.WindowTrigger.every_rows(2)
    window = by_site(events).sliding("12s", every="4s").allowed_lateness("9s")
    return window.emit("at_window_end", twos, late_updates=True)


def discarding(events: DataFrame) -> WindowBuilder:
    """Return windows whose panes have the rows since the last pane."""
    threes = et.WindowTrigger.every_rows(3)
    window = by_site(events).tumbling("8s").allowed_lateness("20s")
    return window.emit("at_window_end", threes, discarding=True, late_updates=True)


def of_users(events: DataFrame) -> WindowBuilder:
    """Return windows by the watermark of their key."""
    window = by_user(events).watermark_scope("key").sliding("12s", every="4s")
    return window.key_idle_timeout("20s", clock="event_time")


def of_groups(events: DataFrame) -> WindowBuilder:
    """Return windows by the watermark of a group of keys."""
    return by_user(events).watermark_scope(["site"]).tumbling("8s")


def sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions, some of which are merged later."""
    return by_site(events).session("3s", maximum_duration="20s")


def counts(events: DataFrame) -> WindowBuilder:
    """Return windows of rows that share some."""
    return by_site(events).by_count(8, every=4)


@dataclass
class Steps:
    """A query whose aggregates change while its windows stay.

    Attributes
    ----------
    of : list of (int, list of str)
        How many batches there are at the end of each run, and what it computes.
    """

    spark: SparkSession
    windows: Windowed
    of: list[tuple[int, list[str]]]

    def run(self, checkpoint: Path, step: int) -> dict[int, Rows]:
        """Run the query of a step to the end of its batches."""
        batches, names = self.of[step]
        return WindowRun(self.spark, self._computing(names), BATCHES[:batches]).to_the_end(
            checkpoint
        )

    def wanted(self, checkpoint: Path) -> dict[int, Rows]:
        """Return what the last query alone gives, with null for what it was added too late for."""
        names = self.of[-1][1]
        since = {name: self._since(name) for name in names}

        def marked(results: DataFrame) -> DataFrame:
            full = {
                name: F.when(F.col("first_id") >= id_, F.col(name)).otherwise(F.lit(None))
                for name, id_ in since.items()
            }
            return results.withColumns(full).drop("first_id")

        first = F.min("id").alias("first_id")
        windows = lambda events: self.windows(events).agg(*columns(names), first)  # noqa: E731
        for batches, _ in self.of:
            run = WindowRun(self.spark, windows, BATCHES[:batches], marked)
            results = run.to_the_end(checkpoint)
        return results

    def _computing(self, names: list[str]) -> Windowed:
        return lambda events: self.windows(events).agg(*columns(names))

    def _since(self, name: str) -> int:
        """Return the first row that an aggregate has without a gap up to the last step."""
        first = 0
        for (batches, _), (_, names) in zip([(0, []), *self.of], self.of, strict=False):
            if name not in names:
                first = -1
            elif first < 0:
                first = sum(map(len, BATCHES[:batches]))
        return first


def columns(names: list[str]) -> list[Column]:
    """Return aggregates by their names."""
    return [F.expr(AGGREGATES[name]).alias(name) for name in names]


def nulls(results: Mapping[int, Rows], name: str) -> tuple[int, int]:
    """Return in how many results a column is null, and in how many it is not."""
    rows = [row for batch in results.values() for row in batch]
    empty = sum(f"{name}=None" in row for row in rows)
    return empty, len(rows) - empty


CHANGES = {
    "drop": (["n", "total", "most"], ["total"]),
    "add": (["n", "total"], ["n", "total", "users"]),
    "add_object": (["n", "total"], ["n", "total", "ids", "median"]),
    "reorder": (["n", "most", "ids"], ["ids", "n", "most"]),
    "replace": (["ids", "n", "distinct"], ["mean", "n", "range"]),
}
CASES = [
    *((tumbling, change) for change in ("drop", "add")),
    *((sliding, change) for change in CHANGES),
    (growing, "add"),
    *((paned, change) for change in ("drop", "add_object")),
    (discarding, "add"),
    (of_users, "add"),
    (of_groups, "replace"),
    *((sessions, change) for change in ("add", "reorder")),
    *((counts, change) for change in ("drop", "add_object")),
]
QUICK = [
    (sliding, "replace"),
    (paned, "drop"),
    (discarding, "add"),
    (sessions, "reorder"),
    (counts, "add_object"),
]  # each change, and each kind of state


@pytest.mark.parametrize(("windows", "change"), sampled(CASES, quick=QUICK))
def test_aggregates_that_stay_are_exact_and_added_ones_are_null_until_they_are(
    spark: SparkSession, tmp_path: Path, windows: Windowed, change: str
) -> None:
    """For each full window, the value that the new query alone gives."""
    before, after = CHANGES[change]
    steps = Steps(spark, windows, [(CHANGED, before), (len(BATCHES), after)])
    with settings(spark, WITHOUT_CODE):
        steps.run(tmp_path / "changed", 0)
        results = steps.run(tmp_path / "changed", 1)
        assert results == steps.wanted(tmp_path / "wanted")
    assert late_rows(spark, tmp_path / "changed") == late_rows(spark, tmp_path / "wanted")
    assert sum(map(len, results.values())) > 5
    for name in set(after) - set(before):
        empty, full = nulls(results, name)
        assert empty > 0
        assert full > 0


@pytest.mark.parametrize("windows", sampled([sliding, paned, sessions], quick=[paned]))
def test_a_query_changes_twice_and_takes_an_aggregate_back(
    spark: SparkSession, tmp_path: Path, windows: Windowed
) -> None:
    """What was dropped and comes back begins anew."""
    of = [
        (2, ["n", "fees"]),
        (3, ["n"]),
        (4, ["n", "fees", "ids"]),
        (len(BATCHES), ["ids", "fees"]),
    ]
    steps = Steps(spark, windows, of)
    with settings(spark, WITHOUT_CODE):
        for step in range(4):
            results = steps.run(tmp_path / "changed", step)
        assert results == steps.wanted(tmp_path / "wanted")


@pytest.mark.parametrize("windows", sampled([sliding, paned, sessions], quick=[sliding]))
def test_a_kill_after_a_change_leaves_the_way_forth_and_back(
    spark: SparkSession, tmp_path: Path, windows: Windowed
) -> None:
    """In each step of the first batch after it, a restart of either query gives what it gave."""
    steps = Steps(spark, windows, [(CHANGED, ["n", "total"]), (len(BATCHES), ["ids", "n"])])
    kept = Steps(spark, windows, [(CHANGED, ["n", "total"]), (len(BATCHES), ["n", "total"])])
    checkpoint = tmp_path / "checkpoint"
    with settings(spark, WITHOUT_CODE):
        steps.run(checkpoint, 0)
        shutil.copytree(checkpoint, tmp_path / "before")
        stayed = kept.run(tmp_path / "before", 1)
        changed = steps.run(checkpoint, 1)
        for lost in LOST:
            set_back(checkpoint, min(changed), lost)
            assert steps.run(checkpoint, 1) == changed
            set_back(checkpoint, min(changed), lost)
            assert kept.run(checkpoint, 1) == stayed


def test_each_change_has_a_plan_and_a_plain_restart_has_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The plan of a run that went before stays as it was written."""
    names = ["n"], ["n"], ["n", "most"], ["n", "most"]
    steps = Steps(spark, tumbling, [(n, of) for n, of in enumerate(names, 1)])
    plans = []
    for step in range(len(names)):
        steps.run(tmp_path, step)
        plans.append(len(list((tmp_path / "eventtide").glob("plan*"))))
    assert plans == [1, 1, 2, 2]


def test_the_state_and_the_doctor_say_what_begins_empty(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Before the changed query has run, and after it."""
    steps = Steps(spark, sliding, [(CHANGED, ["n", "total"]), (CHANGED + 1, ["n", "most"])])
    steps.run(tmp_path, 0)

    def changed(events: DataFrame) -> WindowBuilder:
        return sliding(events).agg(*columns(["n", "most"]))

    nothing = spark.createDataFrame([], SCHEMA)
    before = et.read_state(tmp_path, changed(nothing)).collect()
    assert before
    assert all(row["n"] > 0 and row["most"] is None for row in before)
    with scripted(spark, []) as events:
        report = et.read_checkpoint(tmp_path, plan=changed(events), spark=spark)
    assert report.continues
    assert report.changes == (
        "window 0: max(amount) of INT is added, and begins empty",
        "window 0: sum(amount) of INT is dropped",
    )
    steps.run(tmp_path, 1)
    after = et.read_state(tmp_path, changed(nothing)).collect()
    assert {row["most"] is None for row in after} == {True, False}
    with scripted(spark, []) as events:
        assert et.read_checkpoint(tmp_path, plan=changed(events), spark=spark).changes == ()
