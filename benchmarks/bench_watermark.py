"""Rows per second of a query under et.with_watermark, beside the same under Spark's withWatermark.

The queries take turns, so that whatever else the machine does meets all of them alike.
"""

from __future__ import annotations

import math
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from figures import Figure, Settings
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    Query = Callable[[DataFrame], DataFrame]

ROWS = 2_000_000  # in a batch
SKIPPED = 2  # batches of each query, while it starts
KEYS = 1000
LAG = "2 seconds"

WORKLOAD = "rate-micro-batch, event time 500 rows for each ms with jitter 2 s, sink noop"

# Without child processes for each checkpoint file, which would be much of a small batch.
FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)


@dataclass(frozen=True)
class Plan:
    """A query, and by which columns its substreams are told apart; none is one substream."""

    name: str
    query: Query
    substreams: tuple[str | None, ...]


def _counts(key: str) -> Query:
    return lambda events: events.groupBy(F.window("ts", "10 seconds"), key).count()


PLANS = (
    Plan("no operator after the watermark", lambda events: events, (None, "key", "name")),
    Plan("count by window of 10 s and int key", _counts("key"), (None, "key")),
    Plan("count by window of 10 s and string key", _counts("name"), ("name",)),
)

SAID = {None: "1", "key": "1000 by an int column", "name": "1000 by a string column"}


@dataclass
class Measured:
    """The batches of all turns of one query."""

    rates: list[float] = field(default_factory=list)
    rows: int = 0
    cpu: float = 0.0

    @property
    def cpu_nanos(self) -> float:
        """CPU time of the whole JVM for each row."""
        return self.cpu * 1e9 / self.rows


def run(*, quick: bool) -> list[Figure]:
    """Measure every query under every watermark."""
    turns, batches = (1, 3) if quick else (6, 6)
    with tempfile.TemporaryDirectory() as folder:
        spark = _session(folder)
        try:
            return [figure for plan in PLANS for figure in _compare(spark, plan, turns, batches)]
        finally:
            spark.stop()


def _compare(spark: SparkSession, plan: Plan, turns: int, batches: int) -> list[Figure]:
    stock = Measured()
    ours = {substream: Measured() for substream in plan.substreams}
    for turn in range(turns + 1):
        print(f"Spark: {plan.name}, turn {turn} of {turns}", flush=True)
        wanted = 0 if turn == 0 else batches  # the first turn warms up
        _take_turn(plan.query(_events(spark).withWatermark("ts", LAG)), wanted, stock)
        for substream, measured in ours.items():
            _take_turn(plan.query(_watermarked(_events(spark), substream)), wanted, measured)
    return [
        _figure(plan.name, SAID[substream], measured, stock, turns)
        for substream, measured in ours.items()
    ]


def _figure(name: str, variant: str, ours: Measured, stock: Measured, turns: int) -> Figure:
    settings: Settings = {
        "query": name,
        "substreams": variant,
        "policy": f"with_fixed_lag, {LAG}",
        "rows_per_batch": ROWS,
        "batches": f"{len(ours.rates)} in {turns} turns",
        "ours_cpu_ns_per_row": round(ours.cpu_nanos, 1),
        "theirs_cpu_ns_per_row": round(stock.cpu_nanos, 1),
        "cpu_ratio": round(stock.cpu_nanos / ours.cpu_nanos, 3),
        "source": WORKLOAD,
    }
    rates = (statistics.median(ours.rates), statistics.median(stock.rates))
    return Figure(
        "watermark", settings, "rows/s", rates[0], "withWatermark", rates[1], less_is_better=False
    )


def _session(folder: str) -> SparkSession:
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("eventtide-benchmarks")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")  # a query that is stopped within a batch complains
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", folder)
        .config("spark.sql.streaming.numRecentProgressUpdates", "1000")
        .config("spark.sql.streaming.checkpointLocation", f"{folder}/checkpoints")
        .config("spark.sql.streaming.checkpointFileManagerClass", FILES)
    )
    return et.configure(builder).getOrCreate()


def _events(spark: SparkSession) -> DataFrame:
    rows = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS)
        .option("numPartitions", 2)
        .option("startTimestamp", 0)
        .option("advanceMillisPerBatch", 1000)
        .load()
    )
    jitter = "(value * 2654435761L % 2000L + 2000L) % 2000L"
    return rows.selectExpr(
        f"timestamp_millis(1600000000000L + value div 500L - {jitter}) AS ts",
        f"CAST(value % {KEYS}L AS int) AS key",
        f"concat('sensor-', value % {KEYS}L) AS name",
    )


def _watermarked(events: DataFrame, substream: str | None) -> DataFrame:
    policy = WatermarkPolicies.with_fixed_lag("2s")
    return et.with_watermark(events, "ts", policy, substream=substream)


def _take_turn(query: DataFrame, batches: int, into: Measured) -> None:
    running = query.writeStream.format("noop").outputMode("append").start()
    try:
        _wait(running, SKIPPED)
        cpu = _cpu_seconds()
        first = _done(running)
        _wait(running, first + batches)
        into.cpu += _cpu_seconds() - cpu
        into.rows += (_done(running) - first) * ROWS
    finally:
        running.stop()
    for progress in running.recentProgress:
        if SKIPPED <= progress.batchId < SKIPPED + batches:
            into.rates.append(
                progress.numInputRows * 1000 / progress.durationMs["triggerExecution"]
            )


def _wait(query: StreamingQuery, batches: int) -> None:
    while _done(query) < batches:
        failure = query.exception()
        if failure is not None:
            raise failure
        time.sleep(0.02)


def _done(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return 0 if progress is None else progress.batchId + 1


def _cpu_seconds() -> float:
    """Return the CPU time of Spark's JVM so far, where the system tells it."""
    context = SparkContext._active_spark_context  # noqa: SLF001 - so is the JVM behind it
    stat = Path(f"/proc/{_pid(context)}/stat")
    if not stat.exists():
        return math.nan
    fields = stat.read_text("utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _pid(context: Any) -> int:  # noqa: ANN401 - py4j's
    return int(context._jvm.java.lang.ProcessHandle.current().pid())  # noqa: SLF001
