"""A checkpoint is set back to a copy, as docs/how-to/upgrade.md says: with its sink, or not."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ROWS = "ts timestamp, device string"


@pytest.mark.parametrize("with_sink", [True, False], ids=["with its sink", "alone"])
def test_a_query_goes_on_from_a_copy_if_its_files_are_set_back_too(
    spark: SparkSession, tmp_path: Path, *, with_sink: bool
) -> None:
    """Otherwise the file sink skips a batch that it has, and Spark has no state for the next."""
    add(tmp_path, "1.json", ["01:10", "03:10", "06:10"])
    run(spark, tmp_path, lag="5s")
    for folder in ("tides", "results"):
        shutil.copytree(tmp_path / folder, tmp_path / "copy" / folder)
    add(tmp_path, "2.json", ["05:30", "07:30", "09:10"])
    run(spark, tmp_path, lag="5h")
    for folder in ("tides", "results") if with_sink else ("tides",):
        shutil.rmtree(tmp_path / folder)
        shutil.copytree(tmp_path / "copy" / folder, tmp_path / folder)
    if not with_sink:
        with pytest.raises(StreamingQueryException, match="CheckpointInfo length"):
            run(spark, tmp_path, lag="5s")
        return
    run(spark, tmp_path, lag="5s")
    results = spark.read.parquet(f"{tmp_path}/results")
    starts = results.select(F.date_format("window.start", "HH:mm")).collect()
    assert sorted(row[0] for row in starts) == ["01:10", "03:10", "06:10", "07:30"]
    late = et.read_late(tmp_path / "tides").select(F.date_format("ts", "HH:mm")).collect()
    assert [row[0] for row in late] == ["05:30"]


def test_streams_that_have_read_more_than_the_copy_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of late rows and of closed windows: they would skip what is written again."""
    add(tmp_path, "1.json", ["01:10", "03:10", "06:10"])
    run(spark, tmp_path, lag="5s")
    shutil.copytree(tmp_path / "tides", tmp_path / "copy")
    add(tmp_path, "2.json", ["05:30", "07:30", "09:10"])
    run(spark, tmp_path, lag="5s")
    for form in ("eventtide-late", "eventtide-completeness"):
        follow(spark, tmp_path, form)
    shutil.rmtree(tmp_path / "tides")
    shutil.copytree(tmp_path / "copy", tmp_path / "tides")
    for form in ("eventtide-late", "eventtide-completeness"):
        with pytest.raises(StreamingQueryException, match="CHECKPOINT_SET_BACK"):
            follow(spark, tmp_path, form)


def follow(spark: SparkSession, folder: Path, form: str) -> None:
    """Read what is new of the checkpoint."""
    rows = spark.readStream.format(form).option("checkpoint", f"{folder}/tides").load()
    writer = rows.writeStream.format("noop").trigger(availableNow=True)
    writer.option("checkpointLocation", f"{folder}/{form}").start().awaitTermination()


def add(folder: Path, name: str, times: list[str]) -> None:
    """Write a file of the source."""
    (folder / "events").mkdir(exist_ok=True)
    lines = [json.dumps({"ts": f"2024-01-01T{time}:00Z", "device": "a"}) for time in times]
    (folder / "events" / name).write_text("\n".join(lines), encoding="utf-8")


def run(spark: SparkSession, folder: Path, *, lag: str) -> None:
    """Run the query over what there is."""
    events = spark.readStream.schema(ROWS).json(f"{folder}/events")
    window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag(lag))
    counts = window.key_by("device").tumbling("1m").agg(F.count("*").alias("n"))
    writer = counts.results.writeStream.format("parquet").option("path", f"{folder}/results")
    writer = writer.option("checkpointLocation", f"{folder}/tides").trigger(availableNow=True)
    counts.start(writer).awaitTermination()
