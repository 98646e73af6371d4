"""A query that is to run for hours, a batch a second: ``... tests.chaos.soak.victim FOLDER PART``.

It has many keys and substreams, of which some are new every ten minutes; some rows are late, and a
handler counts them. It goes on until it is killed, and writes down a line each minute.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

ROWS = 20_000  # of a batch, which is a second of event time
KEYS = 100_000
SUBSTREAMS = 20_000
PART_S = 600
SHARE = 20  # a twentieth of the substreams is new in each part
LATE_S = 60  # which one row in a hundred lags behind the others
JITTER_MS = 2000
START_S = 1_700_000_400  # of the event time: a part begins with a multiple of its length
LAGS = "5s", "4s", "6s"  # of the parts, in turn
EVERY_S = 60  # between two lines
RESULTS, HANDLED, SAMPLES = "results.jsonl", "handled.jsonl", "samples.jsonl"

SETTINGS = {
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def events(spark: SparkSession) -> DataFrame:
    """Return the stream: what a row has depends on its number alone."""
    rate = spark.readStream.format("rate-micro-batch").options(rowsPerBatch=ROWS, numPartitions=2)
    rows = rate.options(startTimestamp=START_S * 1000, advanceMillisPerBatch=1000).load()
    is_late, jitter = _chosen("late", 100) == 0, _chosen("jitter", JITTER_MS)
    behind = F.when(is_late, LATE_S * 1000).otherwise(jitter)
    millis = F.unix_millis("timestamp") - behind
    substream = _chosen("substream", SUBSTREAMS)
    part = F.expr(f"(unix_seconds(timestamp) - {START_S}) div {PART_S}")
    generation = F.floor((part + substream % SHARE) / SHARE)
    return rows.select(
        F.timestamp_millis(millis).alias("ts"),
        _chosen("key", KEYS).alias("key"),
        (substream + generation * SUBSTREAMS).alias("device"),
    )


def _chosen(salt: str, of: int) -> Column:
    """Return a number below `of` for each row, which looks like chance."""
    return F.pmod(F.xxhash64("value", F.lit(salt)), F.lit(of))


def window_of(rows: DataFrame, part: int, folder: Path) -> WindowBuilder:
    """Return the window of a part: the lag differs from that of the part before."""

    def keep(late: DataFrame, of: et.LateContext) -> None:
        _append(folder / HANDLED, batch=of.batch_id, rows=late.count())

    lag = WatermarkPolicies.with_fixed_lag(LAGS[part % len(LAGS)])
    window = et.window(rows).event_time(
        "ts",
        lag,
        substream="device",
        substream_idle_timeout="30s",
        substream_ttl="5m",
        on_restart="resume",  # this source never says that it has been read to its end
    )
    window = window.key_by("key").tumbling("10s").late_retention("20m").on_late(keep)
    return window.agg(F.count("*").alias("n"))


def _append(file: Path, **line: Any) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def run(spark: SparkSession, folder: Path, part: int) -> None:
    """Run until the process is killed."""

    def keep(rows: DataFrame, batch: int) -> None:
        windows, counted = rows.agg(F.count("*"), F.coalesce(F.sum("n"), F.lit(0))).collect()[0]
        _append(folder / RESULTS, batch=batch, windows=windows, rows=counted)

    window = window_of(events(spark), part, folder)
    writer = window.results.writeStream.foreachBatch(keep).trigger(processingTime="1 second")
    with et.named_errors():
        query = et.start(window, writer.option("checkpointLocation", str(folder / "checkpoint")))
        last = -1
        while not query.awaitTermination(EVERY_S):
            last = _sample(spark, query, folder, part, last)


def _sample(spark: SparkSession, query: StreamingQuery, folder: Path, part: int, last: int) -> int:
    """Write down a line, with the batches after the last one of the line before."""
    found = [progress for progress in query.recentProgress if progress.batchId > last]
    checkpoint = folder / "checkpoint"
    _append(
        folder / SAMPLES,
        part=part,
        millis=[progress.durationMs["triggerExecution"] for progress in found],
        checkpoint=size(checkpoint.rglob("*")),
        ledger=size((checkpoint / "eventtide/ledger").iterdir()),
        index=size((checkpoint / "eventtide/late").iterdir()),
        **_of_jvm(spark),
    )
    return max((progress.batchId for progress in found), default=last)


def _of_jvm(spark: SparkSession) -> dict[str, int]:
    """Return the bytes that are alive in the heap, resident bytes, threads and descriptors."""
    jvm: Any = spark._jvm
    java = jvm.java.lang
    java.System.gc()
    beans = java.management.ManagementFactory
    process = Path("/proc", str(java.ProcessHandle.current().pid()))
    status = (process / "status").read_text("utf-8")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return {
        "heap": int(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed()),
        "resident": int(resident.split()[1]) * 1024,
        "threads": int(beans.getThreadMXBean().getThreadCount()),
        "descriptors": len(os.listdir(process / "fd")),  # noqa: PTH208 - a path for each is not needed
    }


def size(files: Iterable[Path]) -> int:
    """Return the bytes of files, of which some may be gone by then."""
    found = 0
    for file in files:
        with suppress(FileNotFoundError):
            about = file.stat()
            found += about.st_size if S_ISREG(about.st_mode) else 0
    return found


def session() -> SparkSession:
    """Return the session that a user would have."""
    builder = SparkSession.builder.master("local[2]").appName("eventtide-soak")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    return et.configure(builder).getOrCreate()


if __name__ == "__main__":
    run(session(), Path(sys.argv[1]), int(sys.argv[2]))
