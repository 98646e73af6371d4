"""Windows go into a Delta and an Iceberg table exactly once, also when the driver is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.spark.chaos import Chaos, undisturbed
from tests.tables.conftest import each_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.tables import Table

SEED = 7


@each_table
def test_a_table_has_each_window_once_though_the_driver_was_killed(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """When the state is there, and when the table has the batch, but the commit log has not."""
    quiet = undisturbed(spark, tmp_path / "quiet", SEED)
    chaos = Chaos(tmp_path / table, SEED, table)
    for done in "state", "ledger":  # which comes behind the table's own commit
        assert chaos.kill_between(done, "commit")
    chaos.finish()
    assert chaos.outcome(spark) == quiet
