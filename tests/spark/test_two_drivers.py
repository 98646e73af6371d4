"""Two drivers on one checkpoint, as processes: `TwoDriversSuite` has every step of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spark.chaos import Chaos, undisturbed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SEED = 7  # in the time of the query


@pytest.mark.long
@pytest.mark.thorough
def test_a_driver_that_goes_on_after_another_has_begun(spark: SparkSession, tmp_path: Path) -> None:
    """It was stopped between its ledger and its commit, as by SIGSTOP, and ends by a name."""
    quiet = undisturbed(spark, tmp_path / "quiet", SEED)
    first = Chaos(tmp_path / "shared", SEED)
    other = Chaos(tmp_path / "shared", SEED)

    def meanwhile() -> None:
        assert other.kill(lambda: other.starts() == 2)

    assert first.pause(first.between("ledger", "commit"), meanwhile) != 0
    assert first.said("CHECKPOINT_TAKEN_OVER")
    other.finish()
    assert other.outcome(spark) == quiet
