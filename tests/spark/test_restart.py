"""Killed and started again: the watermarks are the same, and nothing is late for the pause."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts, stock
from tests.spark.window_runs import operators
from tests.thorough import pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eventtide import WatermarkPolicy
    from pyspark.sql import DataFrame, SparkSession

LULL = WatermarkPolicies.limiting_lag_and_lull("2s", "5s").throttle_by_frame("1s")

# What happens to the query, and after which steps it can be killed.
STEPS = [
    ("rows", [(at(1), "a"), (at(13), "b")]),
    ("clock", "+3s"),
    ("rows", [(at(8), "a")]),
    ("clock", "+4s"),
    ("rows", [(at(9), "b"), (at(9), "c")]),
    ("clock", "+3s"),
    ("rows", [(at(40), "a"), (at(40), "b"), (at(41), "c")]),
    ("clock", "+9s"),
]


def play(script: Script, kill_after: int | None = None, lost: Sequence[str] = ()) -> list[str]:
    """Run all steps and return the watermark after each."""
    watermarks = []
    for number, (step, argument) in enumerate(STEPS):
        getattr(script, step)(argument)
        watermarks.append(script.watermark)
        if number == kill_after:
            script.stop()
            last = last_of(script, "commits")
            for folder in lost:
                forget(script, folder, last)
            script.restart()
    return watermarks


def batch_files(script: Script, folder: str) -> dict[Path, int]:
    """Return a folder's files by the batch they belong to; Hadoop's checksums are beside them."""
    files = (Path(script.checkpoint) / folder).iterdir()
    named = {file: re.match(r"\.?(-?\d+)", file.name) for file in files}
    return {file: int(found[1]) for file, found in named.items() if found}


def last_of(script: Script, folder: str) -> int:
    """Return the last batch that a folder of the checkpoint has a file of."""
    return max(batch_files(script, folder).values())


def forget(script: Script, folder: str, first: int) -> None:
    """Leave a folder of the checkpoint as a kill before batch `first` was written does."""
    for file, batch in batch_files(script, folder).items():
        if batch >= first:
            file.unlink()


def committed_watermarks(script: Script) -> list[int]:
    """Return what each batch's commit says the next watermark is, in milliseconds."""
    commits = Path(script.checkpoint) / "commits"
    texts = [(commits / str(batch)).read_text() for batch in range(last_of(script, "commits") + 1)]
    return [json.loads(text.splitlines()[1])["nextBatchWatermarkMs"] for text in texts]


@pytest.fixture(scope="module")
def undisturbed() -> list[str]:
    """Return the watermarks of a run that nobody killed."""
    with Script(counts(LULL, substream="key", substream_idle_timeout="6s"), EVENTS) as script:
        return play(script)


@pytest.mark.parametrize(("kill_after", "lost"), pairs(range(len(STEPS)), [(), ("commits",)]))
def test_a_killed_query_has_the_same_watermarks(
    undisturbed: list[str], kill_after: int, lost: tuple[str, ...]
) -> None:
    """After any step, with the last batch committed or only in the ledger."""
    with Script(counts(LULL, substream="key", substream_idle_timeout="6s"), EVENTS) as script:
        assert play(script, kill_after, lost) == undisturbed


REAL_TIME = WatermarkPolicies.limiting_real_time_lag("2s").throttle_by_frame("1s")


def beside_a_silent_source(
    folder: Path, policy: WatermarkPolicy, **options: Any
) -> Callable[[DataFrame], DataFrame]:
    """Count under a policy, beside a source that cannot tell how much it still has."""

    def query(events: DataFrame) -> DataFrame:
        files = events.sparkSession.readStream.schema(EVENTS).option(
            "maxBytesPerTrigger", 1_000_000
        )
        return counts(policy, **options)(events.union(files.json(str(folder))))

    return query


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        pytest.param(
            LULL,
            {"substream": "key", "substream_idle_timeout": "6s"},
            marks=pytest.mark.thorough,
        ),
        (LULL, {"substream": "key", "substream_idle_timeout": "9s", "expected": 4}),
        pytest.param(REAL_TIME, {"substream": "key"}, marks=pytest.mark.thorough),
        (REAL_TIME, {"substream": "key", "substream_idle_timeout": "9s", "on_restart": "resume"}),
    ],
)
def test_every_batch_that_is_run_again_ends_as_it_did(
    tmp_path: Path, policy: WatermarkPolicy, options: dict[str, Any]
) -> None:
    """Killed before the ledger's entry of a batch, also one that ran while the clock was held."""
    with Script(beside_a_silent_source(tmp_path, policy, **options), EVENTS) as script:
        script.clock("+1s").rows([(at(3), "a")]).clock("+9s").rows([(at(5), "b")]).stop()
        script.waiting([(at(21), "a"), (at(35), "b")], [(at(25), "c")], [(at(29), "a")])
        script.restart(clock="+30s").clock("+4s").rows([(at(44), "b")], [(at(47), "c")])
        wanted = committed_watermarks(script)
        for batch in range(len(wanted) - 1, -1, -2):
            script.stop()
            forget(script, "offsets", batch + 1)
            forget(script, "commits", batch)
            forget(script, "eventtide/ledger", batch)
            script.restart()
            assert (batch, committed_watermarks(script)[batch]) == (batch, wanted[batch])


def test_a_plan_that_loses_its_watermark_node_goes_on() -> None:
    """Spark takes out of a batch's plan what cannot have a row, and then asks nobody."""

    def query(events: DataFrame) -> DataFrame:
        return et.with_watermark(events, "ts", LULL, substream="key").limit(0)

    with Script(query, EVENTS) as script:
        script.rows([(at(13), "a")]).restart().rows([(at(14), "a")]).restart()
        script.clock("+1m").rows([(at(15), "a")]).restart(available_now=True).expect([])


@pytest.mark.parametrize(("limit", "held"), [(1, [True, True, True]), (2, [True, False, False])])
def test_a_source_that_is_always_busy_has_caught_up_when_it_reads_less_than_its_limit(
    spark: SparkSession, tmp_path: Path, limit: int, held: list[bool]
) -> None:
    """No trigger finds nothing to do, since every batch brings the next file."""
    seen = []

    def add(number: int) -> None:
        event = json.dumps({"ts": at(number), "key": "a"})
        (tmp_path / f"{number}.json").write_text(event, encoding="utf-8")

    def feed(_: DataFrame, batch: int) -> None:
        seen.append(et.progress(spark.streams.active[0]).holding)
        if batch + 1 < len(held):
            add(batch + 1)

    add(0)
    files = spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", limit).json(str(tmp_path))
    query = et.with_watermark(files, "ts", LULL).writeStream.foreachBatch(feed).start()
    query.processAllAvailable()
    query.stop()
    assert seen[: len(held)] == held


def test_a_checkpoint_without_its_ledger_is_refused() -> None:
    """The state that the next batch builds on is gone: the message says how to go on."""
    with Script(counts(LULL), EVENTS) as script:
        script.rows([(at(13), "")], [(at(14), "")]).stop()
        forget(script, "eventtide/ledger", last_of(script, "commits"))
        with pytest.raises(et.errors.CheckpointError, match="new checkpoint location"):
            script.restart()


@pytest.mark.smoke
@pytest.mark.parametrize(("on_restart", "late"), [("hold_until_caught_up", 0), ("resume", 2)])
def test_a_pause_longer_than_the_lag(on_restart: str, late: int) -> None:
    """Jet's open problem: rows that waited while the job was down must not be late for it."""
    policy = WatermarkPolicies.limiting_real_time_lag("10s").throttle_by_frame("1s")
    with Script(counts(policy, on_restart=on_restart), EVENTS, clock=at(20)) as script:
        script.rows([(at(19), "")]).expect([]).stop()
        script.waiting([(at(21), ""), (at(35), "")], [(at(25), ""), (at(59), "")])
        script.restart(clock=at(120))
        script.expect(late=late)
        script.clock("+1s").expect(watermark=at(111))


def test_a_lull_goes_on_over_a_restart() -> None:
    """The sources had nothing while the query was down: the lull was real, and counts."""
    with Script(counts(LULL), EVENTS) as script:
        script.rows([(at(13), "")]).clock("+6s").expect(watermark=at(12)).stop()
        script.restart(clock="+4s").expect(watermark=at(16))


def test_the_ledger_keeps_what_it_needs() -> None:
    """A query restarted from the whole entry and the changes after it stands where it stood."""
    with Script(counts(LULL, substream="key"), EVENTS) as script:
        for second in range(25):
            script.rows([(at(second), f"device {second % 3}")])
        before = et.progress(script.streaming_query).inputs[0].substreams
        script.restart().rows([(at(22), "device 1")])  # which it has had already
        after = et.progress(script.streaming_query).inputs[0].substreams
    assert [(line.name, line.top) for line in after] == [(line.name, line.top) for line in before]
    assert [line.rows_total for line in before] == [9, 8, 8]
    assert [line.rows_total for line in after] == [9, 9, 8]


FIXED = WatermarkPolicies.with_fixed_lag("2s")
BY_FRAME = FIXED.throttle_by_frame("10s")


@pytest.mark.parametrize(
    ("before", "after", "watermarks"),
    [
        # what was emitted, what is once the run has begun, after 24 and after 27
        (FIXED, BY_FRAME, (16, 16, 20, 20)),
        (BY_FRAME, FIXED, (10, 16, 22, 25)),
        (BY_FRAME, FIXED.throttle_by_min_step("13s"), (10, 10, 10, 25)),
        (BY_FRAME, BY_FRAME.throttle_by_min_step("20s"), (10, 10, 10, 10)),
        (BY_FRAME, FIXED.throttle_by_frame("4s"), (10, 16, 20, 24)),
    ],
)
def test_a_throttle_may_be_added_changed_and_taken_away(
    spark: SparkSession,
    tmp_path: Path,
    before: WatermarkPolicy,
    after: WatermarkPolicy,
    watermarks: tuple[int, ...],
) -> None:
    """The watermark stays what it was, and goes on by the new one."""
    folder = str(tmp_path)
    emitted, begun, *moved = map(at, watermarks)
    with Script(counts(before), EVENTS, session=spark, checkpoint=folder) as script:
        script.rows([(at(18), "")]).expect(watermark=emitted)
    plan = counts(after)(spark.readStream.schema(EVENTS).json(folder))
    assert et.read_checkpoint(folder, plan=plan).continues
    with Script(counts(after), EVENTS, session=spark, checkpoint=folder) as script:
        script.rows([(at(18), "read by the run before")]).expect(watermark=begun)
        script.rows([(at(24), "")]).expect(watermark=moved[0])
        script.rows([(at(27), "")]).expect(watermark=moved[1])


@pytest.mark.parametrize("lost", [("commits",), ("commits", "eventtide/ledger")])
def test_a_batch_that_is_run_again_goes_by_the_throttle_that_it_was_begun_with(
    spark: SparkSession, tmp_path: Path, lost: tuple[str, ...]
) -> None:
    """And the batch after it by the one of its own run."""
    folder = str(tmp_path)
    with Script(counts(BY_FRAME), EVENTS, session=spark, checkpoint=folder) as script:
        script.rows([(at(18), "")]).rows([(at(29), "")]).expect(watermark=at(20)).stop()
        last = last_of(script, "commits")
        for name in lost:
            forget(script, name, last)
        wanted = committed_watermarks(script)
    with Script(counts(FIXED), EVENTS, session=spark, checkpoint=folder) as script:
        script.rows([(at(18), "")], [(at(29), "")], [(at(33), "")])
        assert committed_watermarks(script)[: len(wanted)] == wanted
        script.expect(watermark=at(31))


def test_another_plan_is_refused_before_anything_is_written() -> None:
    """Kinds and substreams must stay; the message names both plans."""
    with Script(counts(LULL), EVENTS) as script:
        script.rows([(at(13), "")]).stop()
        kept = script.checkpoint + "-kept"
        shutil.copytree(script.checkpoint, kept)
    before = sorted(str(file) for file in Path(kept).rglob("*"))
    other = counts(WatermarkPolicies.with_fixed_lag("2s"))
    with pytest.raises(et.errors.CheckpointError, match="limiting_lag_and_lull"):
        Script(other, EVENTS, checkpoint=kept).rows([(at(13), "")], [(at(14), "")])
    assert sorted(str(file) for file in Path(kept).rglob("*")) == before
    shutil.rmtree(kept)


def test_parameters_may_change_from_run_to_run() -> None:
    """A longer lag takes nothing back."""
    with Script(counts(LULL), EVENTS) as script:
        script.rows([(at(13), "")]).stop()
        kept = script.checkpoint + "-kept"
        shutil.copytree(script.checkpoint, kept)
    longer = WatermarkPolicies.limiting_lag_and_lull("20s", "1m").throttle_by_frame("2s")
    with Script(counts(longer), EVENTS, checkpoint=kept) as script:
        script.rows([(at(13), "")], [(at(14), "")], [(at(40), "")]).expect(watermark=at(20))
    shutil.rmtree(kept)


def test_a_checkpoint_of_stock_spark_is_refused() -> None:
    """Spark cannot add a source to a checkpoint; the message says what to do."""
    with Script(stock("2 seconds"), EVENTS) as script:
        script.rows([(at(13), "")]).stop()
        kept = script.checkpoint + "-kept"
        shutil.copytree(script.checkpoint, kept)
    with pytest.raises(et.errors.CheckpointError, match="new checkpoint location"):
        Script(counts(LULL), EVENTS, checkpoint=kept).rows([(at(13), "")], [(at(14), "")])
    shutil.rmtree(kept)


def test_keys_that_are_idle_wait_while_the_clock_is_held() -> None:
    """Otherwise each batch until the query has caught up reads and writes all of them."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
        window = window.key_by("key").watermark_scope("key").key_idle_timeout("10s")
        return window.tumbling("1m").agg(F.count("*").alias("n")).results.select("key", "n")

    keys = [f"device {number}" for number in range(20)]
    with Script(query, EVENTS) as script:
        script.rows([(at(5), key) for key in keys]).expect([]).stop()
        script.waiting(*([(at(second), "busy")] for second in (6, 7, 8)))
        script.restart(clock="+1h").expect([(key, 1) for key in keys])
        assert [state["numRowsUpdated"] for state in operators(script)][:3] == [1, 1, 1]
