"""Checkpoints of earlier versions, and the queries that have written them.

``python -m tests.spark.kept_checkpoints FOLDER NAME...`` writes one for each name, such as
``windows-0.1.0`` for the query ``windows``, with the Eventtide that it finds, as
``FOLDER/NAME.tar.gz``. So it is run before a format changes.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
from eventtide import WatermarkPolicies, _bridge
from eventtide._text.schemas import row_type
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.batch_results import read_from, writes_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame

Batch: TypeAlias = "list[tuple[str, int, str]]"

KEPT = Path(__file__).parents[1] / "border" / "checkpoints"
SCHEMA = "key string, n long, ts string"
LAG = WatermarkPolicies.with_fixed_lag("5s")

SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def _batch(number: int) -> Batch:
    """Return rows of two keys, ten seconds after those before; the last one lags far behind."""
    seconds = [10 * number + step for step in (0, 2, 3, 5, 8, 9)] + [max(0, 10 * number - 30)]
    return [
        ("ab"[second % 2], 100 * number + i, f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}")
        for i, second in enumerate(seconds)
    ]


BATCHES = [_batch(number) for number in range(10)]
WRITTEN = 5  # of which a kept checkpoint has these many


def _watermarks(events: DataFrame) -> DataFrame:
    """Count in windows of Spark's own."""
    timed = et.with_watermark(events, "ts", LAG, substream="key", substream_idle_timeout="1m")
    return timed.groupBy(F.window("ts", "10 seconds"), "key").agg(F.count("*").alias("n"))


def windows_of(events: DataFrame) -> et.WindowBuilder:
    """Return windows that slide."""
    window = et.window(events).event_time("ts", LAG).key_by("key").sliding("20s", every="5s")
    return window.agg(F.count("*").alias("n"), F.max("n").alias("most"))


def _windows(events: DataFrame) -> DataFrame:
    return windows_of(events).results


def _keys(events: DataFrame) -> DataFrame:
    """Sum in the time of each key."""
    window = et.window(events).event_time("ts", LAG).key_by("key").watermark_scope("key")
    window = window.tumbling("10s").key_idle_timeout("1m", clock="event_time")
    return window.agg(F.sum("n").alias("total")).results


def _storm(events: DataFrame) -> DataFrame:
    """List rows in windows of so many."""
    bolt = (
        et.storm.StormWindow()
        .with_window(et.storm.Count(5), et.storm.Count(3))
        .with_timestamp_field("ts")
    )
    window = bolt.group_by("key").over(events).agg(F.collect_list("n").alias("ns"))
    return window.event_time("ts", LAG).results


QUERIES: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "watermarks": _watermarks,
    "windows": _windows,
    "keys": _keys,
    "storm": _storm,
}


def query_of(name: str) -> str:
    """Return what the query is called that has written a kept checkpoint."""
    return name.partition("-")[0]


def run(spark: SparkSession, query: str, batches: Sequence[Batch], folder: Path) -> list[str]:
    """Go on from a folder's checkpoint to the end of the batches, and return what comes out."""
    schema = row_type(SCHEMA)
    script = _bridge.of(spark).script(spark, schema)
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    try:
        for batch in batches:
            script.add(batch, partitions=2)
        events = script.stream().withColumn("ts", F.to_timestamp("ts"))
        writer = QUERIES[query](events).writeStream.trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
        writer.foreachBatch(writes_to(results)).start().awaitTermination()
    finally:
        script.close()
    return sorted(row for rows in read_from(results).values() for row in rows)


def main(folder: Path, names: Sequence[str]) -> None:
    """Write checkpoints."""
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = et.configure(builder).getOrCreate()
    for name in names:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as written:
            run(spark, query_of(name), BATCHES[:WRITTEN], Path(written))
            with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
                archive.add(Path(written, "checkpoint"), ".", filter=as_nobody)
    spark.stop()


def as_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out checksums, which Hadoop does without, and who wrote a file, and when."""
    if member.name.endswith(".crc"):
        return None
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
