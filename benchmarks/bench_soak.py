"""A query at a steady rate for a long time: its batches and its memory, from part to part.

Not among the benchmarks that run when none is named.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from bench_windows import warm
from figures import Figure
from process import WHOLE_HEAP, Memory, memory
from turns import rates, session
from workload import Windows, aggregates, even, events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PARTS = 12

LEAST = 5  # seconds of a part

ROWS = 200_000  # in a batch, which is a second of event time

# The jitter is two seconds, and rows are late by the watermark before the last batch: some are.
WINDOWS = Windows(60, 1, lag=0.95)

FULL = 64  # batches until windows are full

WORKLOAD = (
    "200 000 rows in columns each second, jitter 2 s, lag 950 ms, 10 000 keys, 60 s / 1 s; "
    "count, sum, max; rows behind the watermark are late and logged; sink noop; RocksDB with "
    "changelog checkpointing, 2 shuffle partitions; heap 4 GiB, all of it resident"
)


@dataclass(frozen=True)
class Part:
    """One of the equal parts of the time, as it was at its end."""

    millis: list[float]
    rows: int
    state_rows: int
    late_rows: int  # so far
    memory: Memory
    checkpoint: int


def run(*, quick: bool, minutes: float) -> Iterator[Figure]:
    """Run the query for so long, or a tenth of it, and set each part beside the first."""
    seconds = max(LEAST, round(minutes * 60 / (10 if quick else 1) / PARTS))
    with tempfile.TemporaryDirectory() as folder, session(java=WHOLE_HEAP) as spark:
        warm(spark)
        first = None
        for i, part in enumerate(_parts(spark, Path(folder), seconds)):
            first = first or part
            yield _figure(part, first, seconds * (i + 1))


def _parts(spark: SparkSession, checkpoint: Path, seconds: int) -> Iterator[Part]:
    window = WINDOWS.window(events(rates(spark, ROWS), even(10_000), ROWS))
    results = window.late_rule("behind_watermark").agg(*aggregates()).results
    writer = results.writeStream.format("noop").trigger(processingTime="1 second")
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        while query.lastProgress is None or query.lastProgress.batchId < FULL:
            query.awaitTermination(1)
        for part in range(PARTS):
            print(f"soak: part {part + 1} of {PARTS}", flush=True)
            last = query.lastProgress.batchId
            query.awaitTermination(seconds)  # raises if the query failed
            yield _part(query, last, checkpoint)
    finally:
        query.stop()


def _part(query: StreamingQuery, before: int, checkpoint: Path) -> Part:
    found = [progress for progress in query.recentProgress if progress.batchId > before]
    return Part(
        [progress.durationMs["triggerExecution"] for progress in found],
        sum(progress.numInputRows for progress in found),
        sum(state.numRowsTotal for state in found[-1].stateOperators),
        sum(et.progress(query).late.values()),
        memory(),
        sum(_sizes(checkpoint)),
    )


def _sizes(folder: Path) -> Iterator[int]:
    """Return the bytes of each file that is not deleted in between."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                yield (Path(parent) / name).stat().st_size


def _figure(part: Part, first: Part, seconds: int) -> Figure:
    *_, worst = statistics.quantiles(part.millis, n=100, method="inclusive")
    settings: Settings = {
        "until": f"{seconds / 60:g} min",
        "batches": len(part.millis),
        "rows": f"{part.rows:,}",
        "p99_ms": round(worst),
        "live_heap_MiB": round(part.memory.heap / 2**20),
        "beyond_heap_MiB": round(part.memory.off_heap / 2**20),
        "checkpoint_MiB": round(part.checkpoint / 2**20),
        "state_rows": f"{part.state_rows:,}",
        "late_rows_so_far": f"{part.late_rows:,}",
        "source": WORKLOAD,
    }
    millis = (statistics.median(part.millis), statistics.median(first.millis))
    return Figure(
        "soak", settings, "ms/batch", millis[0], "first part", millis[1], less_is_better=True
    )
