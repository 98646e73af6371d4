"""A table that `et.heal` corrects equals the batch query over all rows, as `et.prove` says."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import InvalidArgumentError
from eventtide.tables import heal, prove
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.tables.conftest import each_table, iceberg_catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.tables import Table

ARCHIVE = "ts timestamp, device string, reading double"


def timed(events: DataFrame) -> WindowBuilder:
    """Return a window over the events, before its size."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    return et.window(events).event_time("ts", lag).key_by("device")


def tumbling(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds, with an aggregate that needs all rows."""
    return (
        timed(events)
        .tumbling("10s")
        .agg(F.count("*").alias("n"), F.median("reading").alias("middle"))
    )


def sliding(events: DataFrame) -> WindowBuilder:
    """Return sliding windows whose late rows may belong to windows that are still open."""
    window = timed(events).sliding("30s", every="10s").late_rule("frame_closed")
    return window.agg(F.count("*").alias("n"))


def cumulating(events: DataFrame) -> WindowBuilder:
    """Return growing windows, of which a row may miss the short ones without being late."""
    return timed(events).cumulate("30s", step="10s").agg(F.count("*").alias("n"))


class Job:
    """A query over an archive of files that writes into a table, in parts."""

    def __init__(
        self, spark: SparkSession, folder: Path, table: Table, window: Callable[..., WindowBuilder]
    ) -> None:
        self.spark, self.folder, self.kind, self.window = spark, folder, table, window
        self.table = f"delta.`{folder}/results`"
        if table == "iceberg":
            self.table = f"{iceberg_catalog(spark, folder)}.results"
        self.checkpoint = str(folder / "checkpoint")
        self.archive = folder / "archive"
        self.archive.mkdir(parents=True)

    def add(self, rows: list[tuple[float, str]]) -> None:
        """Add a file to the archive, and run the query over it."""
        lines = [
            json.dumps({"ts": f"2024-01-01T{_clock(second)}Z", "device": device, "reading": second})
            for second, device in rows
        ]
        number = len(list(self.archive.iterdir()))
        (self.archive / f"{number}.json").write_text("\n".join(lines))
        counts = self.window(self.spark.readStream.schema(ARCHIVE).json(str(self.archive)))
        into = counts.results.writeStream.option("checkpointLocation", self.checkpoint)
        into = into.trigger(availableNow=True)
        if self.kind == "iceberg":
            into.toTable(self.table, format="iceberg").awaitTermination()
        else:
            into.format("delta").start(f"{self.folder}/results").awaitTermination()

    def read(self, spark: SparkSession) -> DataFrame:
        """Return all rows."""
        return spark.read.schema(ARCHIVE).json(str(self.archive))

    def heal(self) -> None:
        """Correct what there is to correct."""
        window = self.window(self.read(self.spark))
        once = heal(window, self.checkpoint, source=self.read, table=self.table, once=True)
        once.awaitTermination()

    def prove(self) -> et.tables.Proof:
        """Compare the table with the batch query."""
        window = self.window(self.read(self.spark))
        return prove(window, self.checkpoint, source=self.read, table=self.table)


def _clock(second: float) -> str:
    minutes, seconds = divmod(second, 60)
    return f"12:{int(minutes):02d}:{seconds:06.3f}"


@each_table
@pytest.mark.parametrize(
    "window",
    [tumbling, *(pytest.param(one, marks=pytest.mark.thorough) for one in (sliding, cumulating))],
)
def test_after_a_cycle_the_table_equals_the_batch_query(
    spark: SparkSession, tmp_path: Path, table: Table, window: Callable[[DataFrame], WindowBuilder]
) -> None:
    """Rows come up to a minute late; before the cycle, the table differs."""
    random = Random(3)  # noqa: S311 - rows of a test
    job = Job(spark, tmp_path / window.__name__, table, window)
    wrong = 0
    for part in range(1, 5):
        rows = [(part * 20 + random.uniform(0, 20), random.choice("abc")) for _ in range(20)]
        late = [(part * 20 + random.uniform(-60, 0), random.choice("abcd")) for _ in range(5)]
        job.add([(max(second, 0), device) for second, device in rows + late])
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
