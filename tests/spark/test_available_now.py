"""Runs that read what there is and end: the clock has one tick, after the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts, windowed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

REAL_TIME = WatermarkPolicies.limiting_real_time_lag("10s")


@pytest.mark.parametrize("on_restart", ["hold_until_caught_up", "resume"])
def test_the_last_windows_close_at_the_end_of_the_run(
    spark: SparkSession,
    tmp_path: Path,
    on_restart: Literal["hold_until_caught_up", "resume"],
) -> None:
    """Also from a source that cannot say that it has no more, and is read file by file."""
    folder = str(tmp_path / "events")
    for number in range(3):
        rows = spark.range(number * 10 + 1, number * 10 + 9).coalesce(1)
        rows.select(F.timestamp_seconds("id").alias("ts")).write.mode("append").json(folder)
    stream = spark.readStream.schema("ts timestamp").option("maxFilesPerTrigger", 1).json(folder)
    counted = windowed(et.with_watermark(stream, "ts", REAL_TIME, on_restart=on_restart))
    writer = counted.writeStream.trigger(availableNow=True).format("json")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.start(str(tmp_path / "results"))
    assert query.awaitTermination(60)
    results = spark.read.json(str(tmp_path / "results")).collect()
    assert {row["start"]: row["n"] for row in results} == {0: 8, 10: 8, 20: 8}


def test_a_run_without_new_rows_closes_what_is_due() -> None:
    """What a job does that is started by a timer while nothing arrives."""
    policy = WatermarkPolicies.limiting_lag_and_lull("2s", "5s")
    with Script(counts(policy), EVENTS) as script:
        script.rows([(at(13), "a")]).expect([], watermark=at(11)).stop()
        script.restart(clock="+1m", available_now=True).expect([(10, 1)])
        batch = script.last_batch
        script.restart(available_now=True)
        assert script.last_batch in {batch, -1}


def test_a_backlog_is_read_before_the_clock_counts() -> None:
    """Several waiting batches, none late, and the last window closed."""
    with Script(counts(REAL_TIME), EVENTS, clock=at(20)) as script:
        script.rows([(at(19), "")]).stop()
        script.waiting([(at(21), ""), (at(35), "")], [(at(25), ""), (at(59), "")])
        script.restart(clock=at(120), available_now=True)
        script.expect([(10, 1), (20, 2), (30, 1), (50, 1)], late=0)
