"""A checkpoint that an earlier version has written goes on, or is refused by name."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.kept_checkpoints import (
    BATCHES,
    KEPT,
    QUERIES,
    SCHEMA,
    WRITTEN,
    query_of,
    run,
    windows_of,
)
from tests.spark.window_runs import WITHOUT_CODE, late_rows, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.batch_results import Rows

REFUSED = {
    "windows-state1": r"LEDGER_VERSION\] .* version 3; .* reads 11",
    "windows-state7": r"LEDGER_VERSION\] .* version 9; .* reads 11",
}
GO_ON = sorted({file.name.removesuffix(".tar.gz") for file in KEPT.glob("*.tar.gz")} - {*REFUSED})


def unpacked(name: str, folder: Path) -> Path:
    """Return the folder of a checkpoint that is kept, with a plan that can be read."""
    with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
        archive.extractall(folder / "checkpoint", filter="data")
    if name in REFUSED:  # what is refused is to be the rest
        with tarfile.open(KEPT / "windows-0.1.0.tar.gz") as archive:
            archive.extract("./eventtide/plan", folder / "checkpoint", filter="data")
    return folder / "checkpoint"


@pytest.fixture(scope="module")
def wanted(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Rows, Rows]]:
    """Return what one version alone gives after a checkpoint that is kept, and its late log."""

    @cache
    def of(query: str) -> tuple[Rows, Rows]:
        folder = tmp_path_factory.mktemp(query)
        run(spark, query, BATCHES[:WRITTEN], folder)
        results = run(spark, query, BATCHES, folder)
        assert len(results) > 5
        return results, late(spark, query, folder / "checkpoint")

    return of


def late(spark: SparkSession, query: str, checkpoint: Path) -> Rows:
    """Return the late log, which windows of Spark's own have not."""
    return [] if query == "watermarks" else late_rows(spark, checkpoint)


@pytest.mark.parametrize("name", GO_ON)
def test_it_goes_on(
    spark: SparkSession,
    tmp_path: Path,
    wanted: Callable[[str], tuple[Rows, Rows]],
    name: str,
) -> None:
    """With what was open then: all comes out that comes out of one version alone."""
    checkpoint, query = unpacked(name, tmp_path), query_of(name)
    assert bool(late(spark, query, checkpoint)) == (query in {"keys", "storm"})
    with settings(spark, WITHOUT_CODE):
        results = run(spark, query, BATCHES, tmp_path)
        assert (results, late(spark, query, checkpoint)) == wanted(query)


@pytest.mark.parametrize(("name", "message"), REFUSED.items())
def test_it_is_refused_by_name(
    spark: SparkSession, tmp_path: Path, name: str, message: str
) -> None:
    """Formats of the ledger before 11, which no release has had."""
    unpacked(name, tmp_path)
    with settings(spark, WITHOUT_CODE), pytest.raises(StreamingQueryException, match=message):
        run(spark, query_of(name), BATCHES, tmp_path)


@pytest.mark.parametrize("name", [*GO_ON, *REFUSED])
def test_the_doctor_reads_it(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Also where its query is refused, which it says."""
    rows = (
        spark.readStream.schema(SCHEMA).json(str(tmp_path)).withColumn("ts", F.to_timestamp("ts"))
    )
    plan = QUERIES[query_of(name)](rows)
    report = et.read_checkpoint(unpacked(name, tmp_path), plan=plan)
    assert report.committed >= WRITTEN - 1
    refused = [message.partition("\\")[0] for message in (REFUSED.get(name),) if message]
    assert (report.watermark is not None) == ("LEDGER_VERSION" not in refused)
    assert report.continues == (not refused)
    assert [text[1:].partition("]")[0] for text in report.problems] == refused


def test_the_doctor_says_that_state_cannot_be_counted(spark: SparkSession, tmp_path: Path) -> None:
    """Why, unless its query has removed the state by going on."""
    from eventtide.cli._doctor import open_windows  # noqa: PLC0415 - a client has no command line

    report = et.read_checkpoint(unpacked("windows-state1", tmp_path))
    window = windows_of(spark.createDataFrame([], SCHEMA).withColumn("ts", F.to_timestamp("ts")))
    with pytest.raises(et.errors.CheckpointError, match="STATE_VERSION"):
        open_windows(window, report, spark)
    before = replace(report, committed=report.committed - 1)
    assert "the query has continued" in str(open_windows(window, before, spark))
