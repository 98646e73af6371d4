"""A table that `et.heal` corrects equals the batch query over all rows, as `et.prove` says."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from eventtide.errors import InvalidArgumentError
from eventtide.tables import heal, prove
from eventtide.tables._merge import merge
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.window_runs import settings
from tests.tables.conftest import each_table, some_table
from tests.tables.healed import (
    Job,
    by_key,
    cumulating,
    cut_sessions,
    parts,
    sessions,
    sliding,
    timed,
    tumbling,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide.tables import Proof
    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.tables import Table


def healed(job: Job) -> Proof:
    """Run a cycle, and return the proof that the table is right."""
    job.heal()
    proof = job.prove()
    assert proof, str(proof)
    return proof


@each_table
@pytest.mark.parametrize(
    "window",
    [
        tumbling,
        sessions,
        *(
            pytest.param(one, marks=pytest.mark.thorough)
            for one in (sliding, cumulating, cut_sessions, by_key)
        ),
    ],
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
        proof = healed(job)
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


@some_table
def test_a_late_row_waits_until_its_session_has_closed(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """Alone when it came, it is in a session that a row on time has made longer."""
    job = Job(spark, tmp_path / table, table, sessions)
    job.add([(1, "a"), (20, "b")])
    job.add([(14, "a"), (21, "b")])  # the watermark is at 16
    job.add([(9, "a")])  # late: its session would end at 13, and that of 14 begins after it
    job.add([(12.5, "a"), (16.5, "a")])  # on time, and between the two
    job.heal()
    assert job.prove()
    job.add([(40, "b")])
    job.add([(41, "b")])
    assert not job.prove()
    healed(job)
    starts = spark.table(job.table).where("device = 'a'").select("window.start", "n")
    assert sorted(row.n for row in starts.collect()) == [1, 4]


@some_table
def test_sessions_that_a_row_on_time_has_merged_are_one(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """The first one was written before, and no row is late."""
    job = Job(spark, tmp_path / table, table, sessions)
    job.add([(1, "a"), (9, "b")])
    job.add([(10.5, "b")])  # closes [1, 5)
    job.heal()
    job.add([(4.5, "a"), (30, "b")])  # alone until 8.5, above the watermark of 5.5
    job.add([(40, "b")])
    assert not job.prove()
    healed(job)
    [session] = spark.table(job.table).where("device = 'a'").collect()
    assert session.n == 2


def late_sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions that wait for late rows, and have one result each."""
    return sessions(events).allowed_lateness("20s")


@some_table
@pytest.mark.parametrize(
    ("window", "defaults"),
    [(late_sessions, {}), (sessions, {"spark.eventtide.allowedLateness": "20s"})],
)
def test_a_session_is_open_during_its_allowed_lateness(
    spark: SparkSession,
    tmp_path: Path,
    table: Table,
    window: Callable[[DataFrame], WindowBuilder],
    defaults: dict[str, str],
) -> None:
    """Late rows join it with a written one, but the query has not written it yet."""
    with settings(spark, defaults):
        job = Job(spark, tmp_path / table, table, window)
        job.add([(1, "a")])
        job.add([(41, "b")])  # the watermark is at 36: closes [1, 5), 20 s after its end
        job.add([(2, "a"), (5.5, "a"), (9, "a"), (12.5, "a")])  # the last one on time, until 36.5
        healed(job)
        job.add([(60, "b")])
        job.add([(61, "b")])
        healed(job)
    [session] = spark.table(job.table).where("device = 'a'").collect()
    assert session.n == 5


def in_one_time(events: DataFrame) -> WindowBuilder:
    """Return windows in the time of the query, which is said."""
    return tumbling(events).watermark_scope("global")


@some_table
def test_windows_in_the_time_of_the_query_need_no_late_row_to_be_missed(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """As without a scope; in the time of keys nothing says that such a window has closed."""
    job = Job(spark, tmp_path / table, table, in_one_time)
    job.add([(1, "a"), (2, "b")])
    job.add([(40, "a")])
    job.add([(41, "a")])
    assert job.prove()
    spark.sql(f"DELETE FROM {job.table} WHERE device = 'b'")  # noqa: S608 - our own table
    assert job.prove().missing == 1


@some_table
def test_a_result_that_comes_during_a_merge_is_kept(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """The query appends while the statement runs; then the statement is repeated."""
    job = Job(spark, tmp_path / table, table, tumbling)
    job.add([(1, "a"), (2, "b")])
    job.add([(40, "a")])
    began, go = tmp_path / "began", tmp_path / "go"

    def waits() -> int:
        began.touch()
        while not go.exists():
            time.sleep(0.01)
        return 7

    old = spark.table(job.table).where("device = 'a'").limit(1).localCheckpoint()
    new = old.withColumn("n", F.udf(waits, "long")())
    with ThreadPoolExecutor(1) as pool:
        merged = pool.submit(merge, new, job.table, ["window", "device"])
        while not (began.exists() or merged.done()):
            time.sleep(0.01)
        appended = old.withColumn("device", F.lit("c"))
        if table == "iceberg":
            appended.writeTo(job.table).append()
        else:
            appended.write.format("delta").mode("append").save(f"{job.folder}/results")
        go.touch()
        merged.result()
    spark.sql(f"REFRESH TABLE {job.table}")
    found = {row.device: row.n for row in spark.table(job.table).collect()}
    assert found == {"a": 7, "b": 1, "c": 1}


@pytest.mark.xdist_group("delta")
def test_what_cannot_be_healed_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Sessions by key, times without a zone, and sliding windows of which a row may miss some."""
    job = Job(spark, tmp_path / "refused", "delta", tumbling)
    job.add([(1, "a"), (40, "a")])
    rows = job.read(spark)
    keyed = timed(rows).watermark_scope("key").session("5s").agg(F.count("*").alias("n"))
    for asks in (heal, prove):
        with pytest.raises(InvalidArgumentError, match="by key that may be open"):
            asks(keyed, job.checkpoint, source=job.read, table=job.table)
    local = rows.withColumn("ts", F.col("ts").cast("timestamp_ntz"))
    with pytest.raises(InvalidArgumentError, match="TIMESTAMP_NTZ"):
        heal(tumbling(local), job.checkpoint, source=lambda _: local, table=job.table)
    hops = timed(rows).sliding("30s", every="10s").agg(F.count("*").alias("n"))
    with pytest.raises(InvalidArgumentError, match="late_rule"):
        heal(hops, job.checkpoint, source=job.read, table=job.table)
