"""Set back to any batch, with or without what that batch wrote: all comes out as it did."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.errors import SparkRuntimeException, StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.any_kind import OfAnyKind
from tests.jars import MINOR
from tests.spark.checkpoints import INDEX, LATE, LEDGER, LOST, STATE, set_back
from tests.spark.events import Disorder, cut, exact, merged
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("3s")
BATCHES = cut(Disorder(seed=3, late_by=40, gap=0.8).events(100), seed=3, batches=5)

CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
VERSION = "spark.sql.streaming.stateStore.checkpointFormatVersion"


def sliding(events: DataFrame) -> WindowBuilder:
    """Return a window of buffers of any length."""
    by_user = et.window(events).event_time("ts", LAG).key_by("user", "site")
    return by_user.sliding("12s", every="4s").agg(*merged())


def deducting(events: DataFrame) -> WindowBuilder:
    """Return a window that takes back what leaves it, of enough frames for a block of them."""
    by_ok = et.window(events).event_time("ts", LAG).key_by("ok")
    return by_ok.sliding("40s", every="1s").agg(*exact())


def corrected(events: DataFrame) -> WindowBuilder:
    """Return a window that gives panes before its end and after it."""
    by_user = et.window(events).event_time("ts", LAG).key_by("user").sliding("12s", every="4s")
    twos = et.WindowTrigger.every_rows(2)
    window = by_user.allowed_lateness("9s").emit("at_window_end", twos, late_updates=True)
    return window.agg(*merged())


def discarding(events: DataFrame) -> WindowBuilder:
    """Return a window whose panes have what is new."""
    by_ok = et.window(events).event_time("ts", LAG).key_by("ok").tumbling("8s")
    threes = et.WindowTrigger.every_rows(3)
    window = by_ok.allowed_lateness("20s")
    return window.emit("at_window_end", threes, discarding=True, late_updates=True).agg(*exact())


@pytest.mark.parametrize(
    ("window", "version", "changelog"),
    [
        (sliding, "1", "true"),
        (deducting, "2", "false"),
        (corrected, "1", "false"),
        (discarding, "2", "true"),
    ],
)
def test_every_batch_that_is_run_again_gives_what_it_gave(
    spark: SparkSession,
    tmp_path: Path,
    window: Callable[[DataFrame], WindowBuilder],
    version: str,
    changelog: str,
) -> None:
    """From the last batches to the first, and from each to the end."""
    checkpoint = tmp_path / "checkpoint"
    with settings(spark, {VERSION: version, CHANGELOG: changelog, **WITHOUT_CODE}):
        run = WindowRun(spark, window, BATCHES)
        run.gives_the_same_again(checkpoint)


def test_what_the_committed_watermark_closes_is_given_without_new_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A kill between the last rows and the batch that closes; a run that owes nothing has none."""
    checkpoint = tmp_path / "checkpoint"
    run = WindowRun(spark, sliding, BATCHES)
    wanted = run.to_the_end(checkpoint)
    last = max(wanted)
    assert wanted[last]
    assert run.to_the_end(checkpoint) == {}
    set_back(checkpoint, last, ("offsets", STATE, LATE, INDEX, LEDGER))
    assert run.to_the_end(checkpoint) == {last: wanted[last]}
    assert run.to_the_end(checkpoint) == {}


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_batch_that_is_run_again_and_whose_results_nobody_reads(
    spark: SparkSession, tmp_path: Path, version: str
) -> None:
    """A sink that has them already, as Spark's file sink has, does not look at them again."""
    checkpoint = tmp_path / "checkpoint"
    with settings(spark, {VERSION: version, **WITHOUT_CODE}):
        run = WindowRun(spark, sliding, BATCHES)
        wanted = run.to_the_end(checkpoint)
        late = late_rows(spark, checkpoint)
        for batch in reversed(wanted):
            set_back(checkpoint, batch, LOST[batch % len(LOST)])
            again = run.to_the_end(checkpoint, has=batch)
            assert again == {n: wanted[n] for n in wanted if n > batch}
            assert late_rows(spark, checkpoint) == late


def test_results_that_are_broadcast_are_read_again_too(spark: SparkSession, tmp_path: Path) -> None:
    """Their tasks are started by a thread of Spark's, while the query ends its batch."""
    sites = spark.createDataFrame([(0, "north"), (1, "south")], "site int, name string")
    joined = WindowRun(
        spark, sliding, BATCHES, lambda results: sites.join(F.broadcast(results), "site")
    )
    with settings(spark, {"spark.sql.broadcastTimeout": 30, **WITHOUT_CODE}):
        wanted = joined.to_the_end(tmp_path)
        late = late_rows(spark, tmp_path)
        batch = max(n for n, rows in wanted.items() if rows)
        set_back(tmp_path, batch, (INDEX, LEDGER))
        again = joined.to_the_end(tmp_path, has=batch)
        assert again == {n: wanted[n] for n in wanted if n > batch}
        assert late_rows(spark, tmp_path) == late


def test_more_partitions_in_the_session_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """The state stays in as many as the query began with."""
    more, same = tmp_path / "more", tmp_path / "same"
    for checkpoint in more, same:
        WindowRun(spark, sliding, BATCHES[:3]).to_the_end(checkpoint)
    run = WindowRun(spark, sliding, BATCHES)
    with settings(spark, {"spark.sql.shuffle.partitions": 7}):
        results = run.to_the_end(more)
    assert results == run.to_the_end(same)
    assert late_rows(spark, more) == late_rows(spark, same)
    assert len(list((more / "state").glob("*/[0-9]"))) == 2


@pytest.mark.skipif(MINOR == "4.1", reason="from Spark 4.2 on")
def test_spark_refuses_to_repartition_the_state(spark: SparkSession, tmp_path: Path) -> None:
    """As that of all operators but its own; without the batch that it began, all goes on."""
    tried, same = tmp_path / "tried", tmp_path / "same"
    for checkpoint in tried, same:
        WindowRun(spark, sliding, BATCHES[:3]).to_the_end(checkpoint)
    with pytest.raises(SparkRuntimeException, match="STDS_FAILED_TO_READ_STATE_SCHEMA"):
        spark._streamingCheckpointManager.repartition(str(tried), 7)
    run = WindowRun(spark, sliding, BATCHES)
    with pytest.raises(StreamingQueryException, match="UNFINISHED_REPARTITION"):
        run.to_the_end(tried)
    begun = max(int(file.name) for file in (tried / "offsets").iterdir() if file.name.isdigit())
    (tried / "offsets" / str(begun)).unlink()
    (tried / "offsets" / f".{begun}.crc").unlink(missing_ok=True)
    assert run.to_the_end(tried) == run.to_the_end(same)
    assert late_rows(spark, tried) == late_rows(spark, same)


@pytest.mark.smoke
@pytest.mark.skipif(MINOR != "4.1", reason="Spark 4.1: test_repartition.py")
def test_the_state_keeps_its_partitions_before_spark_4_2(
    spark: SparkSession, tmp_path: Path
) -> None:
    """And the query goes on."""
    results = WindowRun(spark, sliding, BATCHES[:3]).to_the_end(tmp_path)
    with pytest.raises(et.errors.CheckpointError, match=r"REPARTITION_UNSUPPORTED.*Spark 4\.1"):
        et.observe.repartition(tmp_path, 7)
    results |= WindowRun(spark, sliding, BATCHES).to_the_end(tmp_path)
    assert sum(map(len, results.values())) > 20


TIMINGS = re.compile(r"pane_timing='(\w+)'").findall


def by_site(events: DataFrame) -> WindowBuilder:
    """Return the window that the ones below differ from."""
    window = OfAnyKind(events).event_time("ts", LAG).key_by("site").sliding("12s", every="4s")
    return window.agg(F.count("*").alias("n"))


CHANGED = {
    "size: 12s|9s & slide: 4s|3s": lambda window: window.sliding("9s", every="3s"),
    "slide: 4s|6s": lambda window: window.sliding("12s", every="6s"),
    "kind: sliding|cumulate & slide: 4s|none & step: none|4s": lambda window: window.cumulate(
        "12s", step="4s"
    ),
    "offset: none|1s": lambda window: window.offset("1s"),
    "key_by: site INT|user STRING": lambda window: window.key_by("user"),
    "key_by: site INT|CAST(site AS BIGINT) BIGINT": lambda window: window.key_by(
        F.col("site").cast("long").alias("site")
    ),
    "key_by: site INT|site INT, user STRING": lambda window: window.key_by("site", "user"),
    "bounds: [start, end)|(start, end] & late_rule: window_closed|behind_watermark": (
        lambda window: window.profile("storm")
    ),
    "late_rule: window_closed|frame_closed": lambda window: window.late_rule("frame_closed"),
    "delay: none|1s": lambda window: window.delay("1s"),
    "emit, key_idle_timeout or watermark_scope: none|given": lambda window: window.key_idle_timeout(
        "5m"
    ),
    "results: one row a window|panes"
    " & emit, key_idle_timeout or watermark_scope: none|given"
    " & emit: none|every_rows": lambda window: window.emit(et.WindowTrigger.every_rows(2)),
    "policy: with_fixed_lag|max_event_time": lambda window: window.event_time(
        "ts", WatermarkPolicies.max_event_time()
    ),
}


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkpoint of the first half of the stream."""
    checkpoint = tmp_path_factory.mktemp("written")
    WindowRun(spark, by_site, BATCHES[:3]).to_the_end(checkpoint)
    return checkpoint


def contents(checkpoint: Path) -> dict[str, bytes]:
    """Return every file of a checkpoint."""
    return {str(file): file.read_bytes() for file in checkpoint.rglob("*") if file.is_file()}


@pytest.mark.parametrize("change", CHANGED)
def test_a_changed_window_is_refused_before_anything_is_written(
    spark: SparkSession, written: Path, change: str
) -> None:
    """What its state depends on; the message says what differs, and nothing else."""
    before = contents(written)
    run = WindowRun(spark, lambda events: CHANGED[change](by_site(events)), BATCHES)
    with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_PLAN_CHANGED") as refused:
        run.to_the_end(written)
    said = change.replace("|", " in the checkpoint, ").replace(" & ", " in this query; ")
    assert f"{written}: {said} in this query. " in str(refused.value)
    assert contents(written) == before


@pytest.mark.parametrize(
    "triggers",
    [
        [et.WindowTrigger.every("1h"), et.WindowTrigger.every("10m")],
        [et.WindowTrigger.every_rows(1000), et.WindowTrigger.every_rows(2)],
        [et.WindowTrigger.when("most > 1000000"), et.WindowTrigger.when("most > 5")],
    ],
    ids=lambda triggers: triggers[0].name,
)
def test_the_value_of_a_trigger_may_change(
    spark: SparkSession, tmp_path: Path, triggers: list[et.WindowTrigger]
) -> None:
    """The triggers may not, and neither may windows have none from then on."""

    def paned(*triggers: et.WindowTrigger) -> Callable[[DataFrame], WindowBuilder]:
        def window(events: DataFrame) -> WindowBuilder:
            rows = by_site(events).agg(F.max("amount").alias("most")).allowed_lateness("5s")
            return rows.emit("at_window_end", *triggers, late_updates=True)

        return window

    with settings(spark, WITHOUT_CODE):
        for n, trigger in enumerate(triggers, 3):
            given = WindowRun(spark, paned(trigger), BATCHES[:n]).to_the_end(tmp_path)
            timings = {timing for rows in given.values() for row in rows for timing in TIMINGS(row)}
            assert ("early" in timings) == (n == 4 and trigger.name != "every")
            assert timings
    for other in paned(), by_site:
        with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_PLAN_CHANGED"):
            WindowRun(spark, other, BATCHES).to_the_end(tmp_path)


def test_a_lag_may_change(spark: SparkSession, written: Path, tmp_path: Path) -> None:
    """And a timeout, and what becomes of late rows: those that were kept stay."""
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(written, checkpoint)
    late = late_rows(spark, checkpoint)

    def changed(events: DataFrame) -> WindowBuilder:
        policy = WatermarkPolicies.with_fixed_lag("4s")
        return by_site(events).event_time("ts", policy, substream_idle_timeout="1m")

    WindowRun(spark, changed, BATCHES[:4]).to_the_end(checkpoint)
    kept = late_rows(spark, checkpoint)
    assert set(late) <= set(kept)

    def counted(events: DataFrame) -> WindowBuilder:
        return changed(events).late("count")

    assert WindowRun(spark, counted, BATCHES).to_the_end(checkpoint)
    assert late_rows(spark, checkpoint) == kept
