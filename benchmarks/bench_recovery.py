"""How long a query takes after a ``kill -9`` to commit a batch again, ours beside stock Spark's.

Each side is killed once, in the middle of a batch. Then restarts of the two take turns, each in a
process of its own and on a copy of what the kill has left: a driver that is started again is cold.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import tempfile
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from bench_windows import STOCK
from figures import Figure
from process import alone, cpu_seconds
from turns import rates, session
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Settings
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ROWS, KEYS = 20_000, 10_000
WINDOWS = Windows(10, 10)
BATCHES = 15  # before the kill
PATIENCE = 300  # seconds
SIDES = (True, False)

WORKLOAD = (
    f"{ROWS:,} rows in columns a batch, each a second of event time; jitter 2 s, lag 2 s; "
    f"{KEYS:,} keys; count, sum, max; sink noop; RocksDB with changelog checkpointing, 2 shuffle "
    f"partitions; killed with kill -9 after {BATCHES} batches, between offsets and commit"
)


def run(*, quick: bool) -> Iterator[Figure]:
    """Kill both, and let restarts of them take turns."""
    pairs = 3 if quick else 9
    took: dict[bool, list[tuple[float, float]]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for ours in SIDES:
            print(f"recovery: killing {_side(ours)}", flush=True)
            _kill(folder / _side(ours), ours=ours)
        for pair in range(pairs):
            print(f"recovery: pair {pair + 1} of {pairs}", flush=True)
            for ours in SIDES if pair % 2 else reversed(SIDES):
                copy = folder / "again"
                shutil.copytree(folder / _side(ours), copy)
                took[ours].append(alone(recover, copy, partial(_start, ours=ours)))
                shutil.rmtree(copy)
    yield _figure(*(took[ours] for ours in SIDES))


def _figure(ours: list[tuple[float, float]], theirs: list[tuple[float, float]]) -> Figure:
    (millis, cpu), (their_millis, their_cpu) = map(_medians, (ours, theirs))
    settings: Settings = {
        "windows": str(WINDOWS),
        "pairs": len(ours),
        "ours_range": _range(ours),
        "theirs_range": _range(theirs),
        "ours_cpu_ms": round(cpu),
        "theirs_cpu_ms": round(their_cpu),
        "time": "from the start of the query to its first commit, median of restarts",
        "source": WORKLOAD,
    }
    return Figure("recovery", settings, "ms", millis, STOCK, their_millis, less_is_better=True)


def _medians(took: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(m for m, _ in took), statistics.median(cpu for _, cpu in took)


def _range(took: list[tuple[float, float]]) -> str:
    return f"{min(took)[0]:,.0f} - {max(took)[0]:,.0f}"


def _side(ours: bool) -> str:  # noqa: FBT001 - the name of it
    return "ours" if ours else "stock"


def _kill(checkpoint: Path, *, ours: bool) -> None:
    """Run the query in a process group of its own, and kill it in a batch."""
    process = get_context("spawn").Process(target=_run, args=(checkpoint, ours))
    process.start()
    until = time.monotonic() + PATIENCE
    try:
        while not _is_in_batch(checkpoint):
            if process.exitcode is not None or time.monotonic() > until:
                raise RuntimeError(f"the query has ended or hangs before {BATCHES} batches")
            time.sleep(0.005)
    finally:
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()


def _is_in_batch(checkpoint: Path) -> bool:
    begun, committed = last_batch(checkpoint / "offsets"), last_batch(checkpoint / "commits")
    return committed >= BATCHES and begun > committed


def last_batch(log: Path, files: str = "*") -> int:
    """Return the highest of the numbers that names of files begin with; -1 without one."""
    numbers = (re.match(r"\d+", file.name) for file in log.glob(files))
    return max((int(number[0]) for number in numbers if number), default=-1)


def _run(checkpoint: Path, ours: bool) -> None:  # noqa: FBT001 - of a process
    os.setsid()
    tempfile.tempdir = str(checkpoint.parent)  # what a kill leaves goes with it
    with session() as spark:
        _start(spark, checkpoint, ours=ours).awaitTermination()


def recover(
    checkpoint: Path, start: Callable[[SparkSession, Path], StreamingQuery]
) -> tuple[float, float]:
    """Return the milliseconds until the first commit, and those of the JVM's CPU."""
    with session() as spark:
        committed, cpu, began = last_batch(checkpoint / "commits"), cpu_seconds(), time.monotonic()
        query = start(spark, checkpoint)
        while last_batch(checkpoint / "commits") == committed:
            failure = query.exception()
            if failure is not None:
                raise failure
            time.sleep(0.005)
        took = time.monotonic() - began, cpu_seconds() - cpu
        query.stop()
        return took[0] * 1000, took[1] * 1000


def _start(spark: SparkSession, checkpoint: Path, *, ours: bool) -> StreamingQuery:
    rows = events(rates(spark, ROWS), even(KEYS), ROWS)
    results = WINDOWS.ours(rows) if ours else WINDOWS.stock(rows)
    writer = results.writeStream.format("noop").outputMode("append")
    return writer.option("checkpointLocation", str(checkpoint)).start()
