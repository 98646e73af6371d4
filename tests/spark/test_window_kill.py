"""Killed, failed, slow or lost: the results and the late log are those of a run without trouble."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.spark.chaos import POINTS, Chaos, Outcome, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

BY_A_PYTHON_POLICY, WITH_CODE, IN_TIME_OF_KEYS = 7, 8, 9  # seeds: see `chaos_query`


def without_trouble(spark: SparkSession, folder: Path, seed: int) -> Outcome:
    """Return what comes out of a stream when nothing happens, which is enough to compare."""
    results, late = undisturbed(spark, folder, seed)
    assert len(results) > 100
    assert len(late) > 20
    return results, late


@pytest.mark.chaos
@pytest.mark.parametrize("seed", [WITH_CODE, BY_A_PYTHON_POLICY])
def test_a_driver_that_is_killed_between_its_state_and_its_commit(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    """Each time all tasks are done, and of what comes after them nothing, or one thing more.

    `dev/chaos` kills anywhere, and more often.
    """
    quiet = without_trouble(spark, tmp_path / "quiet", seed)
    chaos = Chaos(tmp_path / "killed", seed)
    for done, missing in pairwise(POINTS):
        assert chaos.kill_between(done, missing)
    chaos.finish()
    assert chaos.outcome(spark) == quiet


@pytest.mark.long
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seed", "troubles", "marks"),
    [
        (BY_A_PYTHON_POLICY, ["fail", "lose"], ["fail-{}", "lose-{}"]),
        pytest.param(
            *(IN_TIME_OF_KEYS, ["slow"], ["slow-{}", "slow-{}-twin"]), marks=pytest.mark.chaos
        ),
    ],
    ids=["fails, is lost", "is slow"],
)
def test_a_task_that_is_run_again(
    spark: SparkSession, tmp_path: Path, seed: int, troubles: list[str], marks: list[str]
) -> None:
    """Its first attempt fails, is lost with its executor, or is so slow that there are two."""
    quiet = without_trouble(spark, tmp_path / "quiet", seed)
    chaos = Chaos(tmp_path / "troubled", seed)
    chaos.finish(*(part for trouble in troubles for part in ("--trouble", trouble)))
    for place in "id", "n":
        for mark in marks:
            assert (tmp_path / "troubled" / mark.format(place)).exists()
    assert bool(chaos.said("Lost executor")) == ("lose" in troubles)
    assert chaos.outcome(spark) == quiet
