"""State in other partitions: the query goes on as if nothing had happened, or is refused."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.observe import repartition
from eventtide.storm import Count, StormWindow
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.jars import MINOR
from tests.spark import test_key_restart as keyed
from tests.spark import test_window_restart as windows
from tests.spark.batch_results import Rows, told
from tests.spark.chaos_files import halted, stalled
from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import SCHEMA, Disorder, cut, exact, merged
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.skipif(MINOR == "4.1", reason="from Spark 4.2 on: test_window_restart.py")

Window: TypeAlias = "Callable[[DataFrame], WindowBuilder]"

BATCHES = cut(Disorder(seed=9, late_by=30.0, gap=0.7).events(140), seed=9, batches=6)
HALF = 3
PARTITIONS = "spark.sql.shuffle.partitions"
EVERY = int(os.environ.get("EVENTTIDE_EVERY_STEP", "16"))  # 1: all steps of a killed call
DISTRIBUTION = "spark.sql.streaming.statefulOperator.useStrictDistribution"
VERSION = "spark.sql.streaming.stateStore.checkpointFormatVersion"


def retained(events: DataFrame) -> WindowBuilder:
    """Return windows of rows that are retained, with a function that is an aggregate."""
    bolt = StormWindow().with_window(Count(5), "3s").with_timestamp_field("ts").with_lag("3s")
    each_batch = bolt.with_watermark_interval("1ms")
    return each_batch.group_by("user").over(events).agg(keyed.ids())


def chained(events: DataFrame) -> WindowBuilder:
    """Return a window without keys over another one with some."""
    counts = et.window(windows.sliding(events).results.select("window", "user", "mean"))
    return counts.sliding("40s", every="20s").agg(
        F.count("*").alias("n"), F.sum("mean").alias("means")
    )


def whole(events: DataFrame) -> WindowBuilder:
    """Return a window without keys."""
    return et.window(events).event_time("ts", windows.LAG).tumbling("8s").agg(*exact())


def control(spark: SparkSession, window: Window, folder: Path) -> tuple[dict[int, Rows], Rows]:
    """Return what two runs give without a change between them, and their late logs."""
    results = run(spark, window, HALF).to_the_end(folder)
    results |= run(spark, window).to_the_end(folder)
    return results, late_logs(spark, window, folder)


def run(spark: SparkSession, window: Window, until: int | None = None) -> WindowRun:
    """Return a query over some of the batches."""
    return WindowRun(spark, window, BATCHES[:until], counts_rows=window is not chained)


def late_logs(spark: SparkSession, window: Window, checkpoint: Path) -> Rows:
    """Return the late logs of all windows of a query."""
    if window is chained:
        return late_rows(spark, checkpoint, 0) + late_rows(spark, checkpoint, 1)
    return late_rows(spark, checkpoint)


def state(spark: SparkSession, window: Window, checkpoint: Path) -> Rows:
    """Return what the windows of a checkpoint hold."""
    return told(et.read_state(checkpoint, window(spark.createDataFrame([], SCHEMA))))


@pytest.mark.parametrize(
    ("window", "change", "version"),
    [
        pytest.param(windows.sliding, (2, 5), "1", marks=pytest.mark.smoke),
        pytest.param(windows.deducting, (5, 2), "2", marks=pytest.mark.thorough),
        pytest.param(windows.corrected, (3, 1), "1", marks=pytest.mark.thorough),
        pytest.param(windows.discarding, (2, 5), "2", marks=pytest.mark.thorough),
        pytest.param(keyed.sliding, (2, 5), "1", marks=pytest.mark.thorough),
        pytest.param(keyed.of_sites, (5, 2), "2", marks=pytest.mark.thorough),
        (keyed.of_sites, (2, 5), "1"),
        (keyed.sessions, (3, 1), "1"),
        pytest.param(keyed.counts, (2, 5), "1", marks=pytest.mark.thorough),
        (retained, (5, 2), "1"),
        pytest.param(retained, (2, 5), "2", marks=pytest.mark.thorough),
        (chained, (2, 5), "2"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_query_goes_on_as_if_nothing_had_happened(
    spark: SparkSession, tmp_path: Path, window: Window, change: tuple[int, int], version: str
) -> None:
    """With its results, its late rows and its state; and so do batches that are run again."""
    checkpoint, (before, after) = tmp_path / "checkpoint", change
    with settings(spark, {PARTITIONS: before, VERSION: version, **WITHOUT_CODE}):
        wanted, late = control(spark, window, tmp_path / "control")
        results = run(spark, window, HALF).to_the_end(checkpoint)
        held = state(spark, window, checkpoint)
        assert held
        assert repartition(checkpoint, after) == before
        assert state(spark, window, checkpoint) == held
        assert et.read_checkpoint(checkpoint).partitions == after
        results |= run(spark, window).to_the_end(checkpoint)
        assert results == wanted
        assert late_logs(spark, window, checkpoint) == late
        last = max(wanted)
        set_back(checkpoint, last, LOST[0])
        assert run(spark, window).to_the_end(checkpoint) == {last: wanted[last]}
    assert late_logs(spark, window, checkpoint) == late
    assert stores(checkpoint) == {*range(after)}


def other_aggregates(events: DataFrame) -> WindowBuilder:
    """Return `windows.sliding` with an aggregate less and another one more."""
    _, *others = merged()
    assert others
    return windows.sliding(events).agg(*others, F.max("amount").alias("highest"))


@pytest.mark.parametrize(
    "again", [pytest.param(False, marks=pytest.mark.thorough), True], ids=["once", "and again"]
)
def test_aggregates_may_change_in_new_partitions(
    spark: SparkSession, tmp_path: Path, again: bool
) -> None:
    """With the layout of buffers that the state had, which each partition keeps."""
    with settings(spark, {PARTITIONS: 2, **WITHOUT_CODE}):
        found = []
        for folder in (tmp_path / "control", tmp_path / "changed"):
            run(spark, windows.sliding, HALF).to_the_end(folder)
            if folder.name == "changed":
                repartition(folder, 5)
            if again:
                run(spark, other_aggregates, HALF + 1).to_the_end(folder)
                if folder.name == "changed":
                    repartition(folder, 3)
                found.append(run(spark, windows.sliding).to_the_end(folder))
            else:
                found.append(run(spark, other_aggregates).to_the_end(folder))
            found.append({0: late_rows(spark, folder)})
    assert found[:2] == found[2:]
    assert any(found[0].values())


def stores(checkpoint: Path) -> set[int]:
    """Return the partitions of windows that have state."""
    found = checkpoint.glob("eventtide/state/*/*/[0-9]*")
    return {int(store.name) for store in found}


def test_it_may_be_done_again_and_again(spark: SparkSession, tmp_path: Path) -> None:
    """With and without a batch in between; nothing of earlier partitions is left."""
    checkpoint = tmp_path / "checkpoint"
    with settings(spark, WITHOUT_CODE):
        wanted, late = control(spark, keyed.of_sites, tmp_path / "control")
        results = run(spark, keyed.of_sites, HALF).to_the_end(checkpoint)
        for before, after in (2, 5), (5, 3), (3, 4):
            assert repartition(checkpoint, after) == before
        results |= run(spark, keyed.of_sites, HALF + 1).to_the_end(checkpoint)
        assert repartition(checkpoint, 2) == 4
        results |= run(spark, keyed.of_sites).to_the_end(checkpoint)
        assert (results, late_rows(spark, checkpoint)) == (wanted, late)
    assert stores(checkpoint) == {0, 1}
    assert [store.name for store in checkpoint.glob("state/10000/[0-9]*/*")] == ["_metadata"]
    assert len(list((checkpoint / "eventtide/state").iterdir())) == 1


def test_the_state_of_sparks_own_operators_stays(spark: SparkSession, tmp_path: Path) -> None:
    """In its partitions, below and above a window."""
    checkpoint = tmp_path / "checkpoint"

    def rows(results: DataFrame) -> DataFrame:
        counts = results.groupBy("window", "user").agg(F.count("*").alias("n"))
        return counts.select("user", "n", "window")

    def query(until: int | None = None) -> WindowRun:
        return WindowRun(spark, windows.sliding, BATCHES[:until], rows)

    with settings(spark, WITHOUT_CODE):
        outcomes = []
        for folder in tmp_path / "control", checkpoint:
            results = query(HALF).to_the_end(folder)
            if folder == checkpoint:
                repartition(folder, 5)
            outcomes.append(results | query().to_the_end(folder))
    assert outcomes[0] == outcomes[1]
    assert len(list(checkpoint.glob("state/0/[0-9]"))) == 2


def test_timers_by_the_clock_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    """Keys that were silent before, and keys that are silent after."""
    query, schema = keyed.waiting("40s"), "ts timestamp, user string, site int"
    rows = [(at(101 + n), f"user {n}", n % 2) for n in range(9)]
    outcomes = []
    with settings(spark, WITHOUT_CODE):
        for partitions in 2, 5:
            folder = str(tmp_path / str(partitions))
            with Script(query, schema, session=spark, checkpoint=folder, clock=at(200)) as script:
                script.rows(rows[:6]).clock("+30s").rows(rows[6:])
                assert script.results() == []
                if partitions > 2:
                    script.stop()
                    assert repartition(folder, partitions) == 2
                    script.restart()
                closed = [script.clock(step).results() for step in ("+15s", "+60s")]
            outcomes.append([sorted(map(str, batch)) for batch in closed])
    assert outcomes[0] == outcomes[1]
    assert [len(batch) for batch in outcomes[0]] == [6, 3]


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the checkpoint of a query that has ended after some batches."""
    checkpoint = tmp_path_factory.mktemp("written")
    with settings(spark, WITHOUT_CODE):
        run(spark, keyed.of_sites, HALF).to_the_end(checkpoint)
    return checkpoint


def test_a_checkpoint_that_cannot_be_is_refused(
    spark: SparkSession, written: Path, tmp_path: Path
) -> None:
    """By name: the same number, no checkpoint, one of a stock query, one without a window."""
    before = contents(written)
    refusals = {
        "REPARTITION_SAME": (written, 2),
        "CHECKPOINT_EMPTY": (tmp_path / "none", 3),
        "CHECKPOINT_WITHOUT_EVENTTIDE": (tmp_path / "stock", 3),
        "STATE_MISSING": (tmp_path / "watermark", 3),
    }
    rates = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    lag = WatermarkPolicies.with_fixed_lag("1s")
    for name, rows in (
        ("stock", rates),
        ("watermark", et.with_watermark(rates, "timestamp", lag)),
    ):
        writer = rows.writeStream.format("noop").trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / name)).start().awaitTermination()
    for condition, (checkpoint, partitions) in refusals.items():
        with pytest.raises(et.errors.CheckpointError, match=condition):
            repartition(checkpoint, partitions)
    assert contents(written) == before


def test_a_query_that_runs_or_has_an_unfinished_batch_is_refused(
    spark: SparkSession, written: Path, tmp_path: Path
) -> None:
    """By name; after its batch has ended it goes on in other partitions."""
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(written, checkpoint)
    query = lambda events: keyed.of_sites(events).results  # noqa: E731
    with Script(query, SCHEMA, session=spark, checkpoint=str(tmp_path / "runs")) as script:
        script.rows(BATCHES[0])
        with pytest.raises(et.errors.CheckpointError, match="REPARTITION_RUNNING"):
            repartition(script.streaming_query, 5)
    last = max(int(file.name) for file in (checkpoint / "commits").glob("[0-9]*"))
    set_back(checkpoint, last, ())
    with pytest.raises(et.errors.CheckpointError, match="REPARTITION_UNFINISHED_BATCH"):
        repartition(checkpoint, 5)
    with settings(spark, WITHOUT_CODE):
        run(spark, keyed.of_sites, HALF).to_the_end(checkpoint)
    assert repartition(checkpoint, 5) == 2


@pytest.mark.parametrize(
    ("window", "changes", "reason"),
    [
        (whole, {}, "no window has keys"),
        (windows.sliding, {DISTRIBUTION: "false"}, f"the query has {DISTRIBUTION}=false"),
    ],
    ids=["one partition", "other partitions"],
)
def test_state_that_has_no_other_partitions_is_refused(
    spark: SparkSession, tmp_path: Path, window: Window, changes: dict[str, str], reason: str
) -> None:
    """With the reason."""
    with settings(spark, {**WITHOUT_CODE, **changes}):
        run(spark, window, HALF).to_the_end(tmp_path)
    with pytest.raises(et.errors.CheckpointError, match=rf"REPARTITION_UNSUPPORTED.*{reason}"):
        repartition(tmp_path, 5)


def test_a_run_that_begins_meanwhile_goes_on(
    spark: SparkSession, written: Path, tmp_path: Path
) -> None:
    """And the call ends, just before its last file."""
    checkpoint, control = tmp_path / "checkpoint", tmp_path / "control"
    shutil.copytree(written, checkpoint)
    shutil.copytree(written, control)
    with settings(spark, WITHOUT_CODE):
        wanted = run(spark, keyed.of_sites).to_the_end(control)
        with stalled(spark, checkpoint, ("before rename eventtide/runs/N", 2)) as call:
            assert run(spark, keyed.of_sites, HALF + 1).to_the_end(checkpoint)
        with pytest.raises(et.errors.CheckpointError, match="REPARTITION_OVERTAKEN"):
            call.result()
        assert et.read_checkpoint(checkpoint).partitions == 2
        results = run(spark, keyed.of_sites).to_the_end(checkpoint)
        assert results == {batch: wanted[batch] for batch in results}
        assert late_rows(spark, checkpoint) == late_rows(spark, control)


def contents(checkpoint: Path, *but: str) -> dict[str, bytes]:
    """Return every finished file of a checkpoint, except those in some folders."""
    files = {str(file.relative_to(checkpoint)): file for file in checkpoint.rglob("*")}
    return {
        name: file.read_bytes()
        for name, file in files.items()
        if file.is_file() and file.suffix != ".tmp" and not name.startswith(but)
    }


def test_a_kill_at_any_step_leaves_a_checkpoint_that_goes_on(
    spark: SparkSession, written: Path, tmp_path: Path
) -> None:
    """As before, or as after; the next call finishes, and leaves nothing else behind."""
    with settings(spark, WITHOUT_CODE):
        shutil.copytree(written, tmp_path / "control")
        wanted = run(spark, keyed.of_sites).to_the_end(tmp_path / "control")
        late = late_rows(spark, tmp_path / "control")
        kept = contents(written, "eventtide/runs")
        steps = halted(spark, written, tmp_path / "none", step=None).steps
        switches = [step for step in steps if re.search("(rename|delete) eventtide/runs", step[0])]
        outcomes = set()
        for n, step in enumerate([*steps[::EVERY], *switches]):
            folder = tmp_path / str(n)
            done = halted(spark, written, folder, step).done
            partitions = et.read_checkpoint(folder).partitions
            outcomes.add((partitions, done))
            if partitions == 2:
                assert contents(folder, "eventtide/runs", "eventtide/state") == kept
            if step in switches:
                assert run(spark, keyed.of_sites).to_the_end(folder) == wanted
                assert late_rows(spark, folder) == late
            repartition(folder, 3)
            assert len(list((folder / "eventtide/state").iterdir())) == 1
            shutil.rmtree(folder)
    assert outcomes >= {(2, False), (5, False), (5, True)}
