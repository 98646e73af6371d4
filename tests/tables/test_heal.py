"""A table that `et.heal` corrects equals the batch query over all rows, as `et.prove` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from eventtide.errors import InvalidArgumentError
from eventtide.tables import heal
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.tables.conftest import each_table
from tests.tables.healed import Job, cumulating, parts, sliding, timed, tumbling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.tables import Table


@each_table
@pytest.mark.parametrize(
    "window",
    [tumbling, *(pytest.param(one, marks=pytest.mark.thorough) for one in (sliding, cumulating))],
)
def test_after_a_cycle_the_table_equals_the_batch_query(
    spark: SparkSession, tmp_path: Path, table: Table, window: Callable[[DataFrame], WindowBuilder]
) -> None:
    """Rows come up to a minute late; before the cycle, the table differs."""
    job = Job(spark, tmp_path / window.__name__, table, window)
    wrong = 0
    for part in parts(seed=3):
        job.add(part)
        wrong += not job.prove()
        job.heal()
        proof = job.prove()
        assert proof, str(proof)
    assert wrong > 1
    assert proof.equal > 5


@each_table
def test_a_proof_names_what_differs(spark: SparkSession, tmp_path: Path, table: Table) -> None:
    """Before a cycle: results that lack a late row, and those of a key that came late only."""
    job = Job(spark, tmp_path / table, table, tumbling)
    job.add([(1, "a"), (2, "b")])
    job.add([(40, "a")])
    job.add([(3, "a"), (4, "c"), (60, "a")])
    proof = job.prove()
    assert (proof.equal, proof.different, proof.missing, proof.extra) == (2, 1, 1, 0)
    assert "missing" in str(proof)
    found = {row.difference: row for row in proof.differences.collect()}
    assert (found["different"].written.n, found["different"].expected.n) == (1, 2)


@pytest.mark.xdist_group("delta")
def test_what_cannot_be_healed_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Sessions, and sliding windows of which a row may miss some."""
    job = Job(spark, tmp_path / "refused", "delta", tumbling)
    job.add([(1, "a"), (40, "a")])
    rows = job.read(spark)
    sessions = timed(rows).session("5s").agg(F.count("*").alias("n"))
    with pytest.raises(InvalidArgumentError, match="times of their keys"):
        heal(sessions, job.checkpoint, source=job.read, table=job.table)
    hops = timed(rows).sliding("30s", every="10s").agg(F.count("*").alias("n"))
    with pytest.raises(InvalidArgumentError, match="late_rule"):
        heal(hops, job.checkpoint, source=job.read, table=job.table)
