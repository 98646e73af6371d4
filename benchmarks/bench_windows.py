"""Milliseconds of a micro-batch of et.window, beside Spark's groupBy(window())."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turns import Measured, cpu_settings, millis_figure, rates, session, take_turn
from workload import Windows, events

if TYPE_CHECKING:
    from figures import Figure, Settings
    from pyspark.sql import SparkSession

RATE = 500_000  # rows in a second of event time

WORKLOAD = (
    "numbers in columns, 500 000 rows a second of event time, jitter 2 s, lag 2 s; "
    "count, sum, max; sink noop; RocksDB with changelog checkpointing, 2 shuffle partitions"
)


@dataclass(frozen=True)
class Case:
    """Rows in a batch, keys, and windows over them."""

    rows: int
    keys: int
    windows: Windows
    skipped: int = 4  # batches while it starts


CASES = (
    Case(500_000, 1_000, Windows(60, 1)),
    Case(500_000, 1_000, Windows(10, 1)),
    Case(5_000_000, 1_000, Windows(10, 10)),
    Case(500_000, 100_000, Windows(10, 1)),
)


def run(*, quick: bool) -> list[Figure]:
    """Measure every case in turns."""
    turns, batches = (1, 5) if quick else (3, 8)
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        try:
            return [_compare(spark, case, turns, batches) for case in CASES]
        finally:
            spark.stop()


def _compare(spark: SparkSession, case: Case, turns: int, batches: int) -> Figure:
    ours, stock = Measured(), Measured()
    for turn in range(turns):
        print(f"Spark: {case}, turn {turn + 1} of {turns}", flush=True)
        for query, measured in ((case.windows.stock, stock), (case.windows.ours, ours)):
            rows = events(rates(spark, case.rows), case.keys, RATE)
            take_turn(query(rows), batches, measured, case.skipped)
    settings: Settings = {
        "windows": str(case.windows),
        "keys": case.keys,
        "rows_per_batch": case.rows,
        "batches": f"{len(ours.millis)} in {turns} turns",
        **cpu_settings(ours, stock),
        "source": WORKLOAD,
    }
    return millis_figure("windows", settings, "groupBy(window)", ours, stock)
