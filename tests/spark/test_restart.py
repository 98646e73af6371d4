"""Killed and started again: the watermarks are the same, and nothing is late for the pause."""

from __future__ import annotations

import shutil
from pathlib import Path

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script

from tests.spark.queries import EVENTS, at, counts, stock

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


def play(script: Script, kill_after: int | None = None, *, lose_commit: bool = False) -> list[str]:
    """Run all steps and return the watermark after each."""
    watermarks = []
    for number, (step, argument) in enumerate(STEPS):
        getattr(script, step)(argument)
        watermarks.append(script.watermark)
        if number == kill_after:
            script.stop()
            if lose_commit:
                forget_commit(script)
            script.restart()
    return watermarks


def forget_commit(script: Script) -> None:
    """Leave the checkpoint as a kill between a batch and its commit does."""
    commits = Path(script.checkpoint) / "commits"
    last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
    for name in (f"{last}", f".{last}.crc"):
        (commits / name).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def undisturbed() -> list[str]:
    """Return the watermarks of a run that nobody killed."""
    with Script(counts(LULL, substream="key", idle_timeout="6s"), EVENTS) as script:
        return play(script)


@pytest.mark.parametrize("lose_commit", [False, True])
@pytest.mark.parametrize("kill_after", range(len(STEPS)))
def test_a_killed_query_has_the_same_watermarks(
    undisturbed: list[str], kill_after: int, lose_commit: bool
) -> None:
    """After any step, with the last batch committed or not."""
    with Script(counts(LULL, substream="key", idle_timeout="6s"), EVENTS) as script:
        assert play(script, kill_after, lose_commit=lose_commit) == undisturbed


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


def test_the_ledger_keeps_what_it_needs(tmp_path: Path) -> None:
    """A query restarted from the whole entry and the changes after it stands where it stood."""
    with Script(counts(LULL, substream="key"), EVENTS) as script:
        for second in range(25):
            script.rows([(at(second), f"device {second % 3}")])
        before = et.progress(script.streaming_query)
        script.restart().rows([(at(25), "device 1")])
        after = et.progress(script.streaming_query)
    tops = {line.name: line.top for line in before.inputs[0].substreams}
    again = {line.name: line.top for line in after.inputs[0].substreams}
    assert {**again, "device 1": None} == {**tops, "device 1": None}
    assert tmp_path.exists()


def test_another_plan_is_refused_before_anything_is_written() -> None:
    """Kinds and substreams must stay; the message names both plans."""
    with Script(counts(LULL), EVENTS) as script:
        script.rows([(at(13), "")]).stop()
        kept = script.checkpoint + "-kept"
        shutil.copytree(script.checkpoint, kept)
    before = sorted(str(file) for file in Path(kept).rglob("*"))
    other = counts(WatermarkPolicies.with_fixed_lag("2s"))
    with pytest.raises(et.CheckpointError, match="limiting_lag_and_lull"):
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
    with pytest.raises(et.CheckpointError, match="new checkpoint location"):
        Script(counts(LULL), EVENTS, checkpoint=kept).rows([(at(13), "")], [(at(14), "")])
    shutil.rmtree(kept)
