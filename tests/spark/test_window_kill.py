"""Killed, failed, slow or lost: the results and the late log are those of a run without trouble."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.spark.chaos import POINTS, Chaos, Outcome, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SEED = 7


@pytest.fixture(scope="module")
def quiet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Return what comes out when nothing happens."""
    return without_trouble(spark, tmp_path_factory.mktemp("quiet"), SEED)


def without_trouble(spark: SparkSession, folder: Path, seed: int) -> Outcome:
    """Return what comes out of a stream when nothing happens, which is enough to compare."""
    results, late = undisturbed(spark, folder, seed)
    assert len(results) > 100
    assert len(late) > 20
    return results, late


def test_a_driver_that_is_killed_between_its_state_and_its_commit(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Each time all tasks are done, and of what comes after them nothing, or one thing more.

    With aggregation in generated code. `dev/chaos` kills anywhere, and more often.
    """
    quiet = without_trouble(spark, tmp_path / "quiet", SEED + 1)
    chaos = Chaos(tmp_path / "killed", SEED + 1)
    for done, missing in pairwise(POINTS):
        assert chaos.kill_between(done, missing)
    chaos.finish()
    assert chaos.outcome(spark) == quiet


@pytest.mark.parametrize("troubles", [["fail", "lose"], ["slow"]], ids="-".join)
def test_a_task_that_is_run_again(
    spark: SparkSession, tmp_path: Path, quiet: Outcome, troubles: list[str]
) -> None:
    """Its first attempt fails, is lost with its executor, or is so slow that there are two."""
    chaos = Chaos(tmp_path, SEED)
    chaos.finish(*(part for trouble in troubles for part in ("--trouble", trouble)))
    for trouble in troubles:
        for place in "id", "n":
            assert (tmp_path / f"{trouble}-{place}").exists()
    assert chaos.outcome(spark) == quiet
