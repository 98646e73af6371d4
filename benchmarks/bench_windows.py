"""Milliseconds of a micro-batch of et.window, beside what Spark has for the same windows."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import answers
from turns import (
    ROCKSDB,
    Measured,
    cpu_settings,
    millis_figure,
    rates,
    session,
    state_settings,
    take_turn,
    warm_up,
)
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Figure, Settings
    from pyspark.sql import DataFrame, SparkSession

WORKLOAD = (
    "numbers in columns, jitter 2 s; count, sum, max; sink noop; "
    "RocksDB with changelog checkpointing, 2 shuffle partitions, heap 4 GiB"
)

COUNTING = f"{ROCKSDB}.trackTotalNumberOfRows"

STOCK = "groupBy(window)"
UNCOUNTED = "groupBy(window), stores that do not count"
PROCESSOR = "transformWithState"


@dataclass(frozen=True)
class Case:
    """Rows in a batch, keys, windows over them, and a baseline.

    Attributes
    ----------
    goal : float, optional
        The ratio to reach.
    rate : int
        Rows in a second of event time.
    batches : int
        How many are measured in each turn: whole cycles.
    quick : bool
        Whether it is quick enough for a first impression.
    """

    rows: int
    keys: int
    windows: Windows
    goal: float | None = None
    baseline: str = STOCK
    rate: int = 500_000
    turns: int = 3
    batches: int = 8
    quick: bool = False

    def __str__(self) -> str:
        """As it is told while it runs."""
        rows = f"{self.rows:,} rows in a batch, {self.keys:,} keys"
        return f"{rows}, {self.windows}, beside {self.baseline}"

    @property
    def seconds(self) -> int:
        """How much event time a batch has."""
        return self.rows // self.rate

    @property
    def cycle(self) -> int:
        """After how many batches everything comes again: windows may close only in some."""
        return max(1, self.windows.slide // self.seconds)

    @property
    def ours_skipped(self) -> int:
        """After how many batches ours is in its stride: with the frames of a whole window."""
        return self._batches_until(self.windows.size)

    @property
    def theirs_skipped(self) -> int:
        """After how many batches the baseline is.

        groupBy(window) has all windows of a row from the row on, so it is when the first closes.
        """
        return self._batches_until(
            self.windows.size if self.baseline == PROCESSOR else self.windows.slide
        )

    def _batches_until(self, seconds: int) -> int:
        """Return how many batches there are until a window that ends after `seconds` is closed."""
        batches = max(4, math.ceil((seconds + self.windows.lag) / self.seconds) + 2)
        return math.ceil(batches / self.cycle) * self.cycle

    @property
    def settings(self) -> Settings:
        """What a figure says of it."""
        return {
            "windows": str(self.windows),
            "lag": f"{self.windows.lag} s",
            "keys": self.keys,
            "rows_per_batch": self.rows,
            "seconds_per_batch": self.seconds,
        }

    def take(self, spark: SparkSession, into: Measured, *, is_ours: bool) -> None:
        """Run a turn of one side."""
        if is_ours:
            take_turn(self.query(spark, self.windows.ours), self.batches, into, self.ours_skipped)
            return
        if self.baseline == UNCOUNTED:
            spark.conf.set(COUNTING, "false")
        baseline = self.query(spark, self.baseline_results)
        take_turn(baseline, self.batches, into, self.theirs_skipped)
        spark.conf.unset(COUNTING)

    @property
    def baseline_results(self) -> Callable[[DataFrame], DataFrame]:
        """What gives the baseline's results."""
        return self.windows.by_processor if self.baseline == PROCESSOR else self.windows.stock

    def query(self, spark: SparkSession, results: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """Return the results over this case's events."""
        return results(events(rates(spark, self.rows), even(self.keys), self.rate))


# A million keys that have a row in each window, which closes 100 s after its end: Spark's state
# has ten million rows. A batch has half the keys, and every other batch closes a window.
LARGE = Case(
    500_000, 1_000_000, Windows(10, 10, lag=100), goal=3, rate=100_000, turns=1, batches=10
)

# Fewer turns and batches where one of the baseline's takes half a minute.
CASES = (
    Case(500_000, 1_000, Windows(60, 1), goal=10),
    Case(5_000_000, 1_000, Windows(60, 1), goal=30, turns=2, batches=3),
    Case(500_000, 1_000, Windows(10, 1), goal=2.5, quick=True),
    Case(5_000_000, 1_000, Windows(10, 1), goal=5, turns=2, batches=6),
    Case(500_000, 100_000, Windows(10, 1), goal=12, turns=2),
    Case(500_000, 100_000, Windows(60, 1), goal=40, turns=2, batches=3),
    Case(5_000_000, 1_000, Windows(10, 10), goal=1.2, quick=True),
    Case(5_000_000, 100_000, Windows(10, 10), goal=1.5, quick=True),
    LARGE,
    Case(500_000, 100_000, Windows(10, 1), baseline=UNCOUNTED, turns=2),
    replace(LARGE, goal=None, baseline=UNCOUNTED),
    Case(500_000, 1_000, Windows(10, 1), baseline=PROCESSOR, quick=True),
    Case(500_000, 100_000, Windows(10, 1), baseline=PROCESSOR, turns=2, batches=4),
    Case(500_000, 1_000, Windows(60, 1), baseline=PROCESSOR, turns=2, batches=4),
)


# A second of event time in each small batch.
WARM_UP = Case(2_000, 100, Windows(10, 1), rate=2_000)


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case in turns, or one turn of the quick ones, if the answers are equal."""
    cases = [replace(case, turns=1, batches=5) for case in CASES if case.quick] if quick else CASES
    with session() as spark:
        warm(spark)
        for windows in (Windows(10, 1), Windows(10, 10)):
            check(spark, replace(WARM_UP, windows=windows))
        yield from (compare(spark, case) for case in cases)


def warm(spark: SparkSession) -> None:
    """Run small batches of all sides."""
    windows = WARM_UP.windows
    sides = (windows.stock, windows.by_processor, windows.ours)
    warm_up(*(WARM_UP.query(spark, side) for side in sides))


def check(spark: SparkSession, case: Case) -> None:
    """Compare what the three sides answer."""
    windows, last = case.windows, 2 * case.windows.size
    ours = answers.of_stream(case.query(spark, windows.ours), last)
    for name, side in ((STOCK, windows.stock), (PROCESSOR, windows.by_processor)):
        answers.compare(ours, answers.of_stream(case.query(spark, side), last), name)


def compare(spark: SparkSession, case: Case) -> Figure:
    """Measure one case in turns."""
    ours, theirs = Measured(), Measured()
    for turn in range(case.turns):
        print(f"windows: {case}, turn {turn + 1} of {case.turns}", flush=True)
        case.take(spark, theirs, is_ours=False)
        case.take(spark, ours, is_ours=True)
    settings: Settings = {
        **case.settings,
        **({} if case.goal is None else {"goal": case.goal}),
        **state_settings(ours, theirs),
        "skipped": f"{case.ours_skipped} of ours, {case.theirs_skipped} of the baseline",
        "batches": f"{len(ours.millis)} in {case.turns} turns",
        **cpu_settings(ours, theirs),
        "source": WORKLOAD,
    }
    for measured in (ours, theirs):
        measured.millis = by_cycle(measured.millis, case.cycle)
    return millis_figure("windows", settings, case.baseline, ours, theirs)


def by_cycle(millis: list[float], cycle: int) -> list[float]:
    """Return the mean of each cycle, so that batches of two kinds do not make a median of one."""
    return [statistics.mean(millis[i : i + cycle]) for i in range(0, len(millis), cycle)]
