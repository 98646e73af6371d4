"""Queries that take turns, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import eventtide as et
import pyspark
from figures import ROOT, Figure, Settings
from process import cpu_seconds
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

SKIPPED = 2  # batches of each query, while it starts

BASELINES = ROOT / ".build" / "eventtide-baselines.jar"  # dev/bench makes it

ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"


@dataclass
class Measured:
    """The batches of all turns of one query.

    Attributes
    ----------
    state_rows : int
        How many rows the state store had at the end of the last turn.
    state_bytes : int
        The size of the store's files then; what it has not written yet comes on top.
    get_millis, put_millis : float
        What RocksDB took to find values, and to take them, in all tasks and batches.
    span : tuple of float
        When the batches of the last turn that count began and ended, in seconds since 1970.
    """

    rates: list[float] = field(default_factory=list)
    millis: list[float] = field(default_factory=list)
    rows: int = 0
    cpu: float = 0.0
    state_rows: int = 0
    state_bytes: int = 0
    get_millis: float = 0
    put_millis: float = 0
    span: tuple[float, float] = (0.0, 0.0)

    @property
    def cpu_nanos(self) -> float:
        """CPU time of the whole JVM for each row."""
        return self.cpu * 1e9 / self.rows


@contextmanager
def session(master: str = "local[2]", java: str = "", memory: str = "4g") -> Iterator[SparkSession]:
    """Yield a session, with options of its JVM; nothing of it or of its files is left after."""
    with tempfile.TemporaryDirectory() as folder:
        builder = _builder(folder, master, java).config("spark.driver.memory", memory)
        spark = et.configure(builder).getOrCreate()
        application = spark.sparkContext.applicationId
        try:
            yield spark
        finally:
            spark.stop()
            # What the executors of a local-cluster leave in Spark's own folder.
            rmtree(Path(pyspark.__file__).parent / "work" / application, ignore_errors=True)


def _builder(folder: str, master: str, java: str) -> SparkSession.Builder:
    return (
        SparkSession.builder.master(master)
        .appName("eventtide-benchmarks")
        .config("spark.jars", str(BASELINES))
        .config("spark.executor.memory", "4g")
        .config("spark.driver.extraJavaOptions", java)
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "false")  # hashes overflow
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")  # a query that is stopped within a batch complains
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", folder)
        .config("spark.sql.streaming.numRecentProgressUpdates", "1000")
        .config("spark.sql.streaming.checkpointLocation", f"{folder}/checkpoints")
    )


def rates(spark: SparkSession, rows: int) -> DataFrame:
    """Return a stream of the numbers from 0 on, as `value`, that many in each batch.

    Spark's `rate-micro-batch` would take a quarter of a large batch, for both sides alike.
    """
    return spark.readStream.format("numbers").option("rowsPerBatch", rows).load()


def cpu_settings(ours: Measured, theirs: Measured) -> Settings:
    """Return what the two took of the processor, which others that use it change less."""
    return {
        "ours_cpu_ns_per_row": round(ours.cpu_nanos, 1),
        "theirs_cpu_ns_per_row": round(theirs.cpu_nanos, 1),
        "cpu_ratio": round(theirs.cpu_nanos / ours.cpu_nanos, 3),
    }


def state_settings(ours: Measured, theirs: Measured) -> Settings:
    """Return what the two had in their stores, and in the stores' files."""
    both = (ours, theirs)
    return {
        "state_rows": " / ".join(f"{each.state_rows:,}" for each in both),
        "state_mib": " / ".join(f"{each.state_bytes / 2**20:.0f}" for each in both),
    }


def millis_figure(
    bench: str, settings: Settings, baseline: str, ours: Measured, theirs: Measured
) -> Figure:
    """Return the milliseconds of the median batch of both."""
    millis = (statistics.median(ours.millis), statistics.median(theirs.millis))
    return Figure(bench, settings, "ms/batch", millis[0], baseline, millis[1], less_is_better=True)


def warm_up(*queries: DataFrame, batches: int = 250) -> None:
    """Run queries of small batches, until planning a batch is no more than it is in a long run.

    Spark's own code, of which a batch runs very much, takes minutes to be compiled by the JVM.
    """
    print("warming up", flush=True)
    for query in queries:
        take_turn(query, batches, Measured(), skipped=0)


def take_turn(query: DataFrame, batches: int, into: Measured, skipped: int = SKIPPED) -> None:
    """Run a query for a number of batches after the first ones, and keep what they took."""
    running = query.writeStream.format("noop").outputMode("append").start()
    try:
        wait(running, skipped)
        cpu, began = cpu_seconds(), time.time()
        first = _done(running)
        wait(running, first + batches)
        into.cpu += cpu_seconds() - cpu
        into.span = (began, time.time())
        last = _done(running)
    finally:
        running.stop()
    for progress in running.recentProgress:
        if first <= progress.batchId < last:
            into.rows += progress.numInputRows
        if skipped <= progress.batchId < skipped + batches:
            millis = progress.durationMs["triggerExecution"]
            into.millis.append(millis)
            into.rates.append(progress.numInputRows * 1000 / millis)
            into.state_rows = sum(state.numRowsTotal for state in progress.stateOperators)
            into.state_bytes = _total(progress, "SstFileSize")
            into.get_millis += _total(progress, "GetLatency")
            into.put_millis += _total(progress, "PutLatency")


def _total(progress: StreamingQueryProgress, metric: str) -> int:
    """Return what RocksDB says in all state stores of a batch."""
    metrics = (state.customMetrics for state in progress.stateOperators)
    return sum(int(each.get(f"rocksdb{metric}", 0)) for each in metrics)


def wait(query: StreamingQuery, batches: int, pause: float = 0.02) -> None:
    """Wait until that number of batches has ended; raise what the query failed with."""
    while _done(query) < batches:
        failure = query.exception()
        if failure is not None:
            raise failure
        time.sleep(pause)


def _done(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return 0 if progress is None else progress.batchId + 1
