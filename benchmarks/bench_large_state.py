"""The state of millions of keys: its files, the heap, and the time of a restart.

Each side fills its state in a process of its own, and stops a few batches after an upload of the
state: how many batches a restart reads again must not depend on luck. Then restarts take turns,
each in a new process and on a copy of the checkpoint.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import keyed
from bench_recovery import last_batch, recover
from bench_windows import PROCESSOR, STOCK
from figures import Figure
from keyed_cases import NEVER_IDLE
from process import WHOLE_HEAP, alone, memory
from turns import rates, session, wait
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ROWS = 250_000  # of a batch
REPLAYED = 3  # batches after the last upload, which a restart reads from the changelog
PATIENCE = 120  # seconds, for an upload

WORKLOAD = (
    f"{ROWS:,} rows in columns a batch; count, sum, max; sink noop; RocksDB with changelog "
    "checkpointing, 2 shuffle partitions, heap 4 GiB; every key has two rows before the restart, "
    f"which is {REPLAYED} batches after the last upload"
)

MEASURES = {
    "files of RocksDB": "MiB",
    "state in the checkpoint": "MiB",
    "live heap": "MiB",
    "restart": "ms",
}


@dataclass(frozen=True)
class Query:
    """One side of a comparison.

    Attributes
    ----------
    by_key : bool
        Whether each key has a watermark of its own; otherwise there is one over all keys.
    """

    keys: int
    by_key: bool
    is_ours: bool

    def results(self, spark: SparkSession) -> DataFrame:
        """Return the results of the windows."""
        if self.by_key:
            rows = keyed.apart(spark, ROWS, self.keys, rate=ROWS // 10)
            return NEVER_IDLE.ours(rows) if self.is_ours else NEVER_IDLE.by_processor(rows)
        rows = events(rates(spark, ROWS), even(self.keys), rate=ROWS)
        windows = Windows(60, 60)
        return windows.ours(rows) if self.is_ours else windows.stock(rows)


def run(*, quick: bool) -> Iterator[Figure]:
    """Compare both kinds of watermarks."""
    keys, pairs = (250_000, 1) if quick else (10_000_000, 3)
    for by_key, baseline in ((True, PROCESSOR), (False, STOCK)):
        yield from _compare(keys, pairs, baseline, by_key=by_key)


def _compare(keys: int, pairs: int, baseline: str, *, by_key: bool) -> Iterator[Figure]:
    sides = [Query(keys, by_key, is_ours) for is_ours in (True, False)]
    taken: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        checkpoints = [Path(name) / str(number) for number in range(len(sides))]
        for side, checkpoint in zip(sides, checkpoints, strict=True):
            print(f"large_state: {side}", flush=True)
            taken.append(alone(_fill, side, checkpoint))
        restarts = _restarts(sides, checkpoints, pairs)
    for measures, millis in zip(taken, restarts, strict=True):
        measures["restart"] = statistics.median(millis)
    ours, theirs = taken
    for measure, unit in MEASURES.items():
        settings: Settings = {
            "measure": measure,
            "keys in state": f"{keys:,}",
            "windows": "tumbling 60 s, " + ("a watermark by key" if by_key else "one watermark"),
            "restarts": pairs,
            "source": WORKLOAD,
        }
        yield Figure(
            "large_state",
            settings,
            unit,
            ours[measure],
            baseline,
            theirs[measure],
            less_is_better=True,
        )


def _fill(query: Query, checkpoint: Path) -> dict[str, float]:
    """Run until each key has had two rows; return what the state takes."""
    with session(java=WHOLE_HEAP) as spark:
        running = _start(spark, checkpoint, query)
        wait(running, 2 * query.keys // ROWS)
        progress = running.lastProgress
        if progress is None:
            raise RuntimeError("the query has not reported a batch")
        files = sum(
            int(each.customMetrics["rocksdbSstFileSize"]) for each in progress.stateOperators
        )
        heap = memory().heap
        _wait_behind_upload(checkpoint)
        running.stop()
    return {
        "files of RocksDB": files / 2**20,
        "state in the checkpoint": _bytes(checkpoint / "state") / 2**20,
        "live heap": heap / 2**20,
    }


def _wait_behind_upload(checkpoint: Path) -> None:
    """Wait until the last upload of every partition is the same few batches ago."""
    until = time.monotonic() + PATIENCE
    while last_batch(checkpoint / "commits") + 1 - _uploaded(checkpoint) != REPLAYED:
        if time.monotonic() > until:
            raise RuntimeError(f"no upload is {REPLAYED} batches old, of {checkpoint}")
        time.sleep(0.005)


def _uploaded(checkpoint: Path) -> int:
    """Return the newest version of the state that every partition has uploaded."""
    partitions = {file.parent for file in checkpoint.glob("state/*/*/*.changelog")}
    return min(last_batch(partition, "*.zip") for partition in partitions)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _restarts(sides: list[Query], checkpoints: list[Path], pairs: int) -> list[list[float]]:
    millis: list[list[float]] = [[] for _ in sides]
    for pair in range(pairs):
        print(f"large_state: restarts, pair {pair + 1} of {pairs}", flush=True)
        for number in range(len(sides)) if pair % 2 else reversed(range(len(sides))):
            copy = checkpoints[number].with_suffix(".again")
            shutil.copytree(checkpoints[number], copy)
            start = partial(_start, query=sides[number])
            millis[number].append(alone(recover, copy, start)[0])
            shutil.rmtree(copy)
    return millis


def _start(spark: SparkSession, checkpoint: Path, query: Query) -> StreamingQuery:
    writer = query.results(spark).writeStream.format("noop").outputMode("append")
    return writer.option("checkpointLocation", str(checkpoint)).start()
