"""What very many substreams cost the driver, of which one in a hundred has rows in a batch.

A query with a row of each ends, and another JVM with a heap of 1 GiB goes on from its checkpoint; a
third one has the doctor's report of it. Each figure stands beside its goal.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from figures import Figure
from process import alone, driver_cpu_seconds, memory
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import rates, session, wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide import WatermarkPolicy
    from figures import Settings
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

HEAP = "1g"  # of the restart and the doctor; less would not do for Spark itself and its batches

POLICIES: dict[str, WatermarkPolicy] = {
    "with_fixed_lag": WatermarkPolicies.with_fixed_lag("2s"),
    "limiting_lag_and_lull": WatermarkPolicies.limiting_lag_and_lull("2s", max_lull="1s"),
    "limiting_real_time_lag": WatermarkPolicies.limiting_real_time_lag("2s"),
}

# How many of a restart's batches count, and how many come before: Java compiles meanwhile.
BATCHES, SKIPPED = 40, 20

GOAL_OF_BATCH = 1000.0  # ms
GOAL_OF_TICK = 50.0 / 100_000  # ms for each substream
GOAL_OF_HEAP = 1024.0  # MiB

WORKLOAD = (
    "one row each in the first batch, then one of every hundredth; event time the present, "
    "counts by window of 1 h, sink noop"
)


@dataclass(frozen=True)
class Case:
    """A policy, and over how many substreams."""

    policy: str
    substreams: int

    @property
    def changed(self) -> int:
        """How many substreams have a row in a batch."""
        return self.substreams // 100

    def query(self, spark: SparkSession, rows: int) -> DataFrame:
        """Return counts, for which every step of the watermark matters."""
        events = rates(spark, rows).selectExpr(
            "timestamp_millis(unix_millis(current_timestamp()) - value % 1000L) AS ts",
            f"concat('device-', (value * 2654435761L) % {self.substreams}L) AS device",
        )
        watermarked = et.with_watermark(
            events,
            "ts",
            POLICIES[self.policy],
            substream="device",
            max_substreams=self.substreams,
        )
        return watermarked.groupBy(F.window("ts", "1 hour")).count()


@dataclass(frozen=True)
class Taken:
    """Milliseconds, and bytes that are alive of the heap at the end."""

    millis: float
    heap: int


@dataclass(frozen=True)
class Driven:
    """The batches of a restart.

    Attributes
    ----------
    restart : Taken
        By its first batch, which restores the ledger and writes it anew; the heap after all.
    cpu_ms : float
        What the thread that runs the query took of the processor for a batch; tasks have others.
    driver_ms : list of float
        The time of each batch without that of its tasks.
    tick_ms : list of float
        What of it went by until Spark knew whether there is a batch.
    entry_bytes : list of int
        The length of each entry in the ledger.
    """

    restart: Taken
    cpu_ms: float
    driver_ms: list[float]
    tick_ms: list[float]
    entry_bytes: list[int]


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every policy, over few and over very many substreams."""
    for substreams in (10_000,) if quick else (1_000, 100_000, 1_000_000):
        for policy in POLICIES:
            yield from _measure(Case(policy, substreams))


def _measure(case: Case) -> Iterator[Figure]:
    print(f"substreams: {case}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder)
        alone(_begin, case, checkpoint)
        driven = alone(_go_on, case, checkpoint)
        doctor = alone(_report, checkpoint)
    middle, most = statistics.median(driven.driver_ms), max(driven.driver_ms)
    entry, whole = statistics.median(driven.entry_bytes), max(driven.entry_bytes)
    # Spark says whole milliseconds: none is less than half of one
    tick = max(0.5, statistics.median(driven.tick_ms))
    goal_of_tick = GOAL_OF_TICK * case.substreams
    yield _figure(case, "driver's part of a batch, CPU", "ms", driven.cpu_ms, GOAL_OF_BATCH)
    yield _figure(case, "driver's part of a batch", "ms", middle, GOAL_OF_BATCH)
    yield _figure(case, "the longest of them", "ms", most, GOAL_OF_BATCH)
    yield _figure(case, "a tick", "ms", tick, goal_of_tick)
    yield _figure(case, "an entry", "KiB", entry / 1024, whole / 1024, baseline="a whole one")
    for name, of in {"a restart": driven.restart, "the doctor": doctor}.items():
        what = f"live heap of {name}, which took {of.millis:.0f} ms"
        yield _figure(case, what, "MiB", of.heap / 2**20, GOAL_OF_HEAP)


def _figure(  # noqa: PLR0913 - what a figure is made of
    case: Case, what: str, unit: str, ours: float, theirs: float, *, baseline: str = "goal"
) -> Figure:
    settings: Settings = {
        "policy": case.policy,
        "substreams": case.substreams,
        "figure": what,
        "heap": HEAP,
        "batches": BATCHES,
        "source": WORKLOAD,
    }
    return Figure("substreams", settings, unit, ours, baseline, theirs, less_is_better=True)


def _begin(case: Case, checkpoint: Path) -> None:
    """Run the batch in which every substream has a row."""
    with session() as spark, _running(case.query(spark, case.substreams), checkpoint) as query:
        wait(query, 1)


def _go_on(case: Case, checkpoint: Path) -> Driven:
    """Start again, with rows of a hundredth of them."""
    with (
        session(memory=HEAP) as spark,
        _running(case.query(spark, case.changed), checkpoint) as query,
    ):
        wait(query, 1 + SKIPPED)
        cpu = driver_cpu_seconds()
        wait(query, 1 + SKIPPED + BATCHES)
        cpu_ms = (driver_cpu_seconds() - cpu) * 1000 / BATCHES
        heap = memory().heap
        first, *others = [progress.durationMs for progress in query.recentProgress]
    counted = others[SKIPPED : SKIPPED + BATCHES]
    entries = (checkpoint / "eventtide" / "ledger").glob("[0-9]*")
    return Driven(
        Taken(first["triggerExecution"], heap),
        cpu_ms,
        [each["triggerExecution"] - each["addBatch"] for each in counted],
        [each["latestOffset"] for each in counted],
        [entry.stat().st_size for entry in entries],
    )


def _report(checkpoint: Path) -> Taken:
    """Have a report of the checkpoint."""
    with session(memory=HEAP):
        began = time.monotonic()
        report = et.read_checkpoint(checkpoint)
        taken = Taken((time.monotonic() - began) * 1000, memory().heap)
    if report.problems:
        raise RuntimeError(report.problems)
    return taken


@contextmanager
def _running(query: DataFrame, checkpoint: Path) -> Iterator[StreamingQuery]:
    writer = query.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    running = writer.outputMode("append").start()
    try:
        yield running
    finally:
        running.stop()
