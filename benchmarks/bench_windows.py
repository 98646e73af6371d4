"""Milliseconds of a micro-batch of et.window, beside Spark's groupBy(window())."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import Measured, cpu_settings, millis_figure, rates, session, take_turn

if TYPE_CHECKING:
    from figures import Figure, Settings
    from pyspark.sql import Column, DataFrame, SparkSession

RATE = 500_000  # rows in a second of event time
START = 1_600_000_000_000

WORKLOAD = (
    "rate-micro-batch, 500 000 rows a second of event time, jitter 2 s, lag 2 s; "
    "count, sum, max; sink noop; RocksDB, 2 shuffle partitions"
)


@dataclass(frozen=True)
class Case:
    """A workload: rows in a batch, keys, and windows in seconds."""

    rows: int
    keys: int
    size: int
    slide: int
    skipped: int = 4  # batches while it starts

    @property
    def name(self) -> str:
        """The windows as a reader says them."""
        if self.size == self.slide:
            return f"tumbling {self.size} s"
        return f"{self.size} s / {self.slide} s"


CASES = (
    Case(500_000, 1_000, 60, 1),
    Case(500_000, 1_000, 10, 1),
    Case(5_000_000, 1_000, 10, 10),
    Case(500_000, 100_000, 10, 1),
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
        for query, measured in ((_stock, stock), (_ours, ours)):
            take_turn(query(_events(spark, case), case), batches, measured, case.skipped)
    settings: Settings = {
        "windows": case.name,
        "keys": case.keys,
        "rows_per_batch": case.rows,
        "batches": f"{len(ours.millis)} in {turns} turns",
        **cpu_settings(ours, stock),
        "source": WORKLOAD,
    }
    return millis_figure("windows", settings, "groupBy(window)", ours, stock)


def _events(spark: SparkSession, case: Case) -> DataFrame:
    rows = rates(spark, case.rows)
    hashed = "(value * 2654435761L)"
    jitter = f"pmod({hashed} div 7L, 2000L)"
    return rows.selectExpr(
        f"timestamp_millis({START}L + value * 1000L div {RATE}L - {jitter}) AS ts",
        f"pmod({hashed}, {case.keys}L) AS key",
        f"(pmod({hashed} div 13L, 4096L)) / 4 AS value",
    )


def _aggregates() -> list[Column]:
    return [
        F.count("*").alias("n"),
        F.sum("value").alias("total"),
        F.max("value").alias("most"),
    ]


def _stock(events: DataFrame, case: Case) -> DataFrame:
    timed = events.withWatermark("ts", "2 seconds")
    window = F.window("ts", f"{case.size} seconds", f"{case.slide} seconds")
    return timed.groupBy(window, "key").agg(*_aggregates())


def _ours(events: DataFrame, case: Case) -> DataFrame:
    window = (
        et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("2s")).key_by("key")
    )
    if case.size == case.slide:
        windows = window.tumbling(f"{case.size}s")
    else:
        windows = window.sliding(f"{case.size}s", every=f"{case.slide}s")
    return windows.agg(*_aggregates()).results
