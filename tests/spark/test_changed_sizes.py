"""A query goes on from its frames with windows of another size, if these are made of them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import SCHEMA, Disorder, cut
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, scripted, settings
from tests.thorough import pairs, sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.batch_results import Rows

    Sizes: TypeAlias = Callable[[WindowBuilder], WindowBuilder]

LAG = WatermarkPolicies.with_fixed_lag("3s")
BATCHES = cut(Disorder(seed=3, late_by=60, gap=1.2).events(160), seed=4, batches=6)
CHANGED = 3  # the batches before the change

# What deducts, what has a buffer of fixed length and does not, and what is an object.
AGGREGATES = {
    "total": "sum(amount)",
    "most": "max(amount)",
    "ids": "sort_array(collect_list(id))",
}
OF_ROWS = {
    "total": "aggregate(rows, cast(null as long), (sum, row) -> "
    "if(row.amount is null, sum, coalesce(sum, 0) + row.amount))",
    "most": "array_max(transform(rows, row -> row.amount))",
    "ids": "sort_array(transform(rows, row -> row.id))",
}


def tumbling(size: str, offset: str = "0s") -> Sizes:
    """Return windows that do not overlap."""
    return lambda window: window.tumbling(size).offset(offset)


def sliding(size: str, every: str) -> Sizes:
    """Return windows that overlap."""
    return lambda window: window.sliding(size, every=every)


def storm(size: str, every: str) -> Sizes:
    """Return windows that include their end, not their start."""
    return lambda window: window.sliding(size, every=every).profile("storm")


def delayed(size: str, every: str) -> Sizes:
    """Return windows that wait for late rows, with frames that do not."""
    return lambda window: window.sliding(size, every=every).delay("5s").late_rule("frame_closed")


def over(events: DataFrame, sizes: Sizes) -> WindowBuilder:
    """Begin the windows of each site."""
    return sizes(et.window(events).event_time("ts", LAG).key_by("site"))


def first_time(checkpoint: Path) -> datetime:
    """Return when the first frame begins that the state had with all its rows."""
    plan = max((checkpoint / "eventtide").glob("plan*"), key=lambda file: (len(file.name), file))
    window = json.loads(plan.read_text().partition("\n")[2])["windows"][0]
    length = int(window["frame"].removesuffix("s"))
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001 - as PySpark has times
    return epoch + timedelta(seconds=length * int(window["first_frame"]))


@dataclass
class Steps:
    """A query whose windows change their size, and perhaps what they compute.

    Attributes
    ----------
    of : list of (int, Sizes, str)
        How many batches there are at the end of each run, its windows, and their aggregates.
    ends_included : bool
        Whether a row at the end of a window is in it, and one at its start is not.
    """

    spark: SparkSession
    of: list[tuple[int, Sizes, str]]
    ends_included: bool = False

    def run(self, checkpoint: Path, step: int, *, drain: bool = False) -> dict[int, Rows]:
        """Run the query of a step to the end of its batches."""
        batches, sizes, names = self.of[step]

        def computing(events: DataFrame) -> WindowBuilder:
            results = [F.expr(AGGREGATES[name]).alias(name) for name in names.split()]
            return over(events, sizes).agg(*results)

        run = WindowRun(self.spark, computing, BATCHES[:batches], drain=drain)
        return run.to_the_end(checkpoint)

    def wanted(self, checkpoint: Path, first: datetime) -> dict[int, Rows]:
        """Return what the last query alone gives, of the rows from a time on."""
        (begun, _, before), (_, sizes, names) = self.of[-2:]
        lowest = first + timedelta(microseconds=1) if self.ends_included else first
        rows = F.filter("rows", lambda row: row.ts >= F.lit(lowest))
        window = F.struct(F.greatest("window.start", F.lit(first)).alias("start"), "window.end")

        def cut_off(results: DataFrame) -> DataFrame:
            rest = results.withColumns({"rows": rows, "window": window}).where("size(rows) > 0")
            is_full = F.array_min("rows.id") >= sum(map(len, BATCHES[:begun]))
            computed = {name: F.expr(OF_ROWS[name]) for name in names.split()}
            for name in set(names.split()) - set(before.split()):
                computed[name] = F.when(is_full, computed[name])
            return rest.select("window", "site", *(computed[n].alias(n) for n in computed))

        def listing(events: DataFrame) -> WindowBuilder:
            return over(events, sizes).agg(F.expr("collect_list(struct(*))").alias("rows"))

        for batches, _, _ in self.of:
            run = WindowRun(self.spark, listing, BATCHES[:batches], cut_off)
            results = run.to_the_end(checkpoint)
        return results


CHANGES = {
    "longer": (tumbling("8s"), sliding("32s", "8s")),
    "coarser": (tumbling("8s"), tumbling("24s", offset="16s")),
    "shorter": (sliding("40s", "2s"), sliding("12s", "4s")),
    "one_frame": (sliding("40s", "2s"), tumbling("2s")),
    "no_overlap": (sliding("12s", "4s"), tumbling("24s")),
    "storm": (storm("12s", "4s"), storm("40s", "8s")),
    "delayed": (delayed("12s", "4s"), delayed("40s", "8s")),
}


def batches(results: dict[int, Rows]) -> list[Rows]:
    """Return the results of each batch that has some."""
    return [rows for _, rows in sorted(results.items()) if rows]


@pytest.mark.parametrize(("change", "names"), pairs(CHANGES, ["total", "most", "ids"]))
def test_each_window_has_the_rows_of_its_bounds(
    spark: SparkSession, tmp_path: Path, change: str, names: str
) -> None:
    """The first ones begin where the state does; each has what the new query alone gives."""
    before, after = CHANGES[change]
    steps = Steps(
        spark, [(CHANGED, before, names), (len(BATCHES), after, names)], change == "storm"
    )
    with settings(spark, {} if change == "longer" else WITHOUT_CODE):
        steps.run(tmp_path / "changed", 0)
        results = steps.run(tmp_path / "changed", 1)
        first = first_time(tmp_path / "changed")
        assert batches(results) == batches(steps.wanted(tmp_path / "wanted", first))
    assert sum(map(len, results.values())) > 4
    assert len(late_rows(spark, tmp_path / "changed")) > 5


def test_sizes_and_aggregates_change_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """What is added is null in windows with rows from before."""
    sizes = sliding("12s", "4s"), sliding("40s", "8s")
    steps = Steps(spark, [(CHANGED, sizes[0], "total"), (len(BATCHES), sizes[1], "ids total")])
    with settings(spark, WITHOUT_CODE):
        steps.run(tmp_path / "changed", 0)
        results = steps.run(tmp_path / "changed", 1)
        wanted = steps.wanted(tmp_path / "wanted", first_time(tmp_path / "changed"))
    assert batches(results) == batches(wanted)
    nulls = ["ids=None" in row for rows in batches(results) for row in rows]
    assert set(nulls) == {True, False}


AGAIN = [
    [tumbling("4s"), sliding("16s", "8s"), tumbling("16s")],
    [sliding("40s", "2s"), tumbling("20s"), sliding("40s", "20s")],
    [tumbling("2s"), tumbling("4s"), sliding("12s", "4s"), sliding("24s", "8s")],
]


@pytest.mark.parametrize("others", sampled(AGAIN, quick=AGAIN[-1:]))
def test_sizes_change_again(spark: SparkSession, tmp_path: Path, others: list[Sizes]) -> None:
    """The frames stay those of the first query."""
    ends = [*range(2, len(others) + 1), len(BATCHES)]
    steps = Steps(spark, [(n, of, "total") for n, of in zip(ends, others, strict=True)])
    with settings(spark, WITHOUT_CODE):
        for step in range(len(others)):
            results = steps.run(tmp_path / "changed", step)
        wanted = steps.wanted(tmp_path / "wanted", first_time(tmp_path / "changed"))
    assert batches(results) == batches(wanted)


@pytest.mark.parametrize("finer", [tumbling("4s"), tumbling("8s", offset="4s")])
def test_windows_may_not_end_where_none_did(
    spark: SparkSession, tmp_path: Path, finer: Sizes
) -> None:
    """They would be taken for windows that were emitted."""
    steps = Steps(spark, [(2, tumbling("4s"), "total"), (3, tumbling("8s"), "total")])
    changed = Steps(spark, [(4, finer, "total")])
    with settings(spark, WITHOUT_CODE):
        for step in range(2):
            steps.run(tmp_path, step)
        with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_PLAN_CHANGED"):
            changed.run(tmp_path, 0)


@pytest.mark.parametrize("change", sampled(CHANGES, quick=["coarser", "shorter", "delayed"]))
def test_each_row_is_in_a_window_or_late(spark: SparkSession, tmp_path: Path, change: str) -> None:
    """Over all runs together: none is lost between the windows of two sizes."""
    before, after = CHANGES[change]
    steps = Steps(spark, [(CHANGED, before, "ids"), (len(BATCHES), after, "ids")])
    with settings(spark, WITHOUT_CODE):
        results = [row for rows in steps.run(tmp_path, 0).values() for row in rows]
        results += [row for rows in steps.run(tmp_path, 1, drain=True).values() for row in rows]
    found = {int(n) for row in results for n in re.findall(r"\d+", row.partition("ids=")[2])}
    late = {int(re.findall(r"\bid=(\d+)", row)[0]) for row in late_rows(spark, tmp_path)}
    assert found | late == {*range(sum(map(len, BATCHES)))}


def refusal_of(spark: SparkSession, checkpoint: Path, sizes: Sizes) -> str:
    """Return why the doctor says that windows of these sizes cannot go on."""
    with scripted(spark, []) as events:
        plan = over(events, sizes).agg(F.expr(AGGREGATES["total"]).alias("total"))
        return et.read_checkpoint(checkpoint, plan=plan, spark=spark).refusal or ""


@pytest.mark.parametrize("change", sampled(["coarser", "shorter"], quick=["coarser"]))
def test_a_kill_after_a_change_leaves_the_way_forth_and_back(
    spark: SparkSession, tmp_path: Path, change: str
) -> None:
    """Whatever the first batch after it has written, the query that began it gives what it gave.

    The other one is refused as long as that batch is not finished.
    """
    before, after = CHANGES[change]
    steps = Steps(spark, [(CHANGED, before, "total"), (len(BATCHES), after, "total")])
    kept = Steps(spark, [(CHANGED, before, "total"), (len(BATCHES), before, "total")])
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
            with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_UNFINISHED_BATCH"):
                kept.run(checkpoint, 1)
            assert "CHECKPOINT_UNFINISHED_BATCH" in refusal_of(spark, checkpoint, before)
        for lost in LOST:  # now before the batch was begun
            set_back(checkpoint, min(changed), lost)
            begun = checkpoint / "offsets"
            (begun / f".{min(changed)}.crc").unlink(missing_ok=True)
            (begun / str(min(changed))).unlink()
            assert kept.run(checkpoint, 1) == stayed


def test_the_state_is_read_as_other_windows(spark: SparkSession, tmp_path: Path) -> None:
    """Before the changed query has run, and after it; and the doctor says what changes."""
    sizes = sliding("12s", "4s"), sliding("40s", "8s")
    steps = Steps(spark, [(CHANGED, sizes[0], "total"), (CHANGED + 1, sizes[1], "total")])
    steps.run(tmp_path, 0)

    def windows(events: DataFrame) -> WindowBuilder:
        return over(events, sizes[1]).agg(F.expr(AGGREGATES["total"]).alias("total"))

    def open_windows() -> set[timedelta]:
        rows = et.read_state(tmp_path, windows(spark.createDataFrame([], SCHEMA))).collect()
        return {row["window"]["end"] - row["window"]["start"] for row in rows}

    lengths = open_windows()
    assert max(lengths) == timedelta(seconds=40) > min(lengths)
    with scripted(spark, []) as events:
        report = et.read_checkpoint(tmp_path, plan=windows(events), spark=spark)
    assert report.continues
    assert report.changes == (
        "window 0: size: 12s, from now on 40s",
        "window 0: slide: 4s, from now on 8s",
    )
    steps.run(tmp_path, 1)
    assert max(open_windows()) == timedelta(seconds=40)
    with scripted(spark, []) as events:
        assert et.read_checkpoint(tmp_path, plan=windows(events), spark=spark).changes == ()


def test_sizes_stay_beside_other_state(spark: SparkSession, tmp_path: Path) -> None:
    """Other operators may have another watermark."""

    def run(size: str) -> None:
        def windows(events: DataFrame) -> WindowBuilder:
            return over(events, tumbling(size)).agg(F.count("*").alias("n"))

        def once(results: DataFrame) -> DataFrame:
            return results.dropDuplicatesWithinWatermark(["site", "n"])

        WindowRun(spark, windows, BATCHES[:2], once, counts_rows=False).to_the_end(tmp_path)

    with settings(spark, WITHOUT_CODE):
        run("8s")
        with pytest.raises(et.errors.CheckpointError, match="size: 8s in the checkpoint, 16s"):
            run("16s")
