"""Rows per second of et.lab on a recording in Parquet, beside Spark's count of the same windows."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from figures import Figure, Settings
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventtide import WatermarkPolicy, WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

ROWS, FEW_ROWS = 100_000_000, 4_000_000
PER_SECOND = 10_000
KEYS, SUBSTREAMS = 1000, 8
CORES = 2

FIXED = tuple(WatermarkPolicies.with_fixed_lag(f"{2**i}s") for i in range(16))
BY_CLOCK = tuple(
    WatermarkPolicies.limiting_lag_and_lull(f"{2**i}s", f"{2**i}m").throttle_by_frame("10s")
    for i in range(16)
)


@dataclass(frozen=True)
class Case:
    """What the lab tries on all rows, and how long it took in each turn."""

    name: str
    policies: tuple[WatermarkPolicy, ...]
    by_key: bool
    seconds: list[float] = field(default_factory=list)

    def run(self, recording: DataFrame, rows: int) -> None:
        """Try the policies, and check that each has seen all rows."""
        windows = [_minutes(self.by_key)]
        lab = et.lab(
            recording,
            event_time="ts",
            arrival="seen",
            policies=self.policies,
            windows=windows,
            substream="sensor",
            progress=False,
        )
        if (seen := {point.rows for point in lab.points}) != {rows}:
            raise ValueError(f"policies have seen {seen} of {rows} rows")


def _minutes(by_key: bool) -> WindowBuilder:  # noqa: FBT001 - of this file
    window = et.window()
    return (window.key_by("key") if by_key else window).tumbling("1m")


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure one fixed lag, sixteen, and sixteen policies that follow the clock."""
    turns, rows = (1, FEW_ROWS) if quick else (2, ROWS)
    cases = [
        Case("a fixed lag", FIXED[5:6], by_key=False),
        Case("16 fixed lags", FIXED, by_key=False),
        Case("16 policies that follow the clock", BY_CLOCK, by_key=False),
        Case("16 policies that follow the clock", BY_CLOCK, by_key=True),
    ]
    with session() as spark, TemporaryDirectory() as folder:
        recording = _recorded(spark, rows, folder)
        stock: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(turns + 1):
            print(f"lab: turn {turn} of {turns}", flush=True)
            for by_key, seconds in stock.items():
                seconds.append(_seconds(partial(_counted, recording, by_key)))
            for case in cases if turn % 2 else reversed(cases):
                case.seconds.append(_seconds(partial(case.run, recording, rows)))
        for case in cases:
            yield _figure(case, stock[case.by_key], rows)


def _seconds(run: Callable[[], None]) -> float:
    started = time.monotonic()
    run()
    return time.monotonic() - started


def _figure(case: Case, stock: list[float], rows: int) -> Figure:
    ours, theirs = (rows / statistics.median(of[1:]) / CORES for of in (case.seconds, stock))
    settings: Settings = {
        "tried": case.name,
        "windows": f"tumbling 1m{f', {KEYS} keys' if case.by_key else ''}",
        "policies_rows_per_s": f"{ours * len(case.policies):,.0f}",
        "rows": f"{rows:,}",
        "turns": len(case.seconds) - 1,
        "source": f"Parquet, {PER_SECOND:,} rows a second of {SUBSTREAMS} substreams, every 10 s",
    }
    name = "groupBy(window, ...).count()"
    return Figure("lab", settings, "rows/s/core", ours, name, theirs, less_is_better=False)


def _recorded(spark: SparkSession, rows: int, folder: str) -> DataFrame:
    """Return rows on disk, in the order of arrival; a hundredth is up to an hour behind."""
    disorder = "pmod(hash(id, 1), if(pmod(hash(id), 100) = 0, 3600000, 2000))"
    made = spark.range(1_600_000_000 * PER_SECOND, 1_600_000_000 * PER_SECOND + rows).selectExpr(
        f"timestamp_millis(id div {PER_SECOND // 1000}) AS seen",
        f"timestamp_millis(id div {PER_SECOND // 1000} - {disorder}) AS ts",
        f"CAST(id * 40503 % {KEYS} AS int) AS key",
        f"concat('sensor-', id % {SUBSTREAMS}) AS sensor",
    )
    made.write.parquet(f"{folder}/recording")
    return spark.read.parquet(f"{folder}/recording")


def _counted(rows: DataFrame, by_key: bool) -> None:  # noqa: FBT001 - of this file
    keys = ["key"] if by_key else []
    counts = rows.groupBy(F.window("ts", "1 minute"), *keys).count()
    counts.write.format("noop").mode("overwrite").save()
