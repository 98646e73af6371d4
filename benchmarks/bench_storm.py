"""Milliseconds of a micro-batch that hands the rows of windows to pandas, beside Spark's lists.

Storm's windows for a function, and `groupBy(window)` with `collect_list` before `mapInArrow`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import answers
import handed
from eventtide import WatermarkPolicies
from eventtide.storm import StormWindow
from figures import ROOT
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import Measured, millis_figure, rates, session, state_settings, take_turn, warm_up
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Figure, Settings
    from pyspark.sql import DataFrame, SparkSession

BASELINE = "groupBy(window), collect_list, mapInArrow"
WORKLOAD = (
    "windows of 1000 rows of two columns, each to pandas for count, sum and max; sink noop; "
    "RocksDB with changelog checkpointing, 2 shuffle partitions, heap 4 GiB"
)
ROWS = 1_000  # of a window of a key
LAG = 2  # seconds: how far events are out of order


@dataclass(frozen=True)
class Case:
    """Windows over batches of a number of seconds of event time."""

    windows: Windows
    seconds: int
    rate: int = 1_000  # events a second of event time
    batches: int = 8
    turns: int = 2

    @property
    def keys(self) -> int:
        """As many as there have to be for a window of that number of rows."""
        return self.windows.size * self.rate // ROWS

    @property
    def rows(self) -> int:
        """Of a batch."""
        return self.rate * self.seconds

    def events(self, spark: SparkSession) -> DataFrame:
        """Return events between whole milliseconds, where no window of either side ends."""
        made = events(rates(spark, self.rows), even(self.keys), self.rate)
        return made.withColumn("ts", F.expr("timestamp_micros(unix_micros(ts) + 500)"))

    def ours(self, of: DataFrame) -> DataFrame:
        """Return what a function makes of Storm's windows."""
        size, slide = f"{self.windows.size}s", f"{self.windows.slide}s"
        bolt = StormWindow().with_window(size, slide).with_timestamp_field("ts").group_by("key")
        window = bolt.over(of).execute(handed.of_window, handed.RESULT)
        # by rows alone, as Spark's: Storm's timer goes by the clock of the machine
        policy = WatermarkPolicies.with_fixed_lag(f"{LAG}s")
        return handed.windows(window.event_time("ts", policy).results)

    def stock(self, of: DataFrame) -> DataFrame:
        """Return what a function makes of Spark's lists."""
        timed = of.withWatermark("ts", f"{LAG} seconds")
        window = F.window("ts", f"{self.windows.size} seconds", f"{self.windows.slide} seconds")
        lists = timed.groupBy(window, "key").agg(
            F.collect_list("ts").alias("ts"), F.collect_list("value").alias("value")
        )
        flat = lists.selectExpr("window.start", "window.end", "key", "ts", "value")
        return handed.windows(flat.mapInArrow(handed.of_lists, handed.RESULT))

    @property
    def skipped(self) -> int:
        """Batches before windows are full."""
        return (self.windows.size + LAG) // self.seconds + 3

    @property
    def due(self) -> int:
        """How many windows close in a batch."""
        return self.keys * self.seconds // self.windows.slide

    def settings(self) -> Settings:
        """Return what a figure says of it."""
        return {
            "windows": str(self.windows),
            "keys": self.keys,
            "rows_per_batch": self.rows,
            "windows_per_batch": self.due,
        }


MINUTE = Windows(60, 1, LAG)
CASES = (
    Case(MINUTE, seconds=1),
    Case(MINUTE, seconds=10),
    Case(MINUTE, seconds=10, rate=10_000, batches=3),
    Case(Windows(60, 10, LAG), seconds=10),
    Case(Windows(60, 60, LAG), seconds=60),
)


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case in turns, or one turn of one, if the answers are equal."""
    with session() as spark:
        show_python(spark)
        check(spark, Case(Windows(6, 2, LAG), seconds=1))
        warm(spark, batches=30 if quick else 120)
        cases = (Case(MINUTE, seconds=10, batches=3, turns=1),) if quick else CASES
        yield from (compare(spark, case) for case in cases)


def show_python(spark: SparkSession) -> None:
    """Have Spark's workers start this Python, which has pandas, and find `handed`."""
    spark.sparkContext.pythonExec = sys.executable
    spark.sparkContext.environment["PYTHONPATH"] = str(ROOT / "benchmarks")


def check(spark: SparkSession, case: Case) -> None:
    """Compare what both sides answer."""
    ours = answers.of_stream(case.ours(case.events(spark)), last=30)
    theirs = answers.of_stream(case.stock(case.events(spark)), last=30)
    found = answers.compare(ours, theirs, BASELINE)
    print(f"storm: {found} results are those of {BASELINE}", flush=True)


def warm(spark: SparkSession, batches: int) -> None:
    """Run small batches of both sides."""
    case = Case(Windows(6, 2, LAG), seconds=1)
    warm_up(case.ours(case.events(spark)), case.stock(case.events(spark)), batches=batches)


def compare(spark: SparkSession, case: Case) -> Figure:
    """Measure one case in turns."""
    ours, theirs = Measured(), Measured()
    for turn in range(case.turns):
        print(f"storm: {case.windows}, {case.rows} rows, turn {turn + 1}", flush=True)
        take_turn(case.stock(case.events(spark)), case.batches, theirs, case.skipped)
        take_turn(case.ours(case.events(spark)), case.batches, ours, case.skipped)
    settings: Settings = {
        **case.settings(),
        **state_settings(ours, theirs),
        "batches": f"{len(ours.millis)} in {case.turns} turns",
        "skipped": case.skipped,
        "source": WORKLOAD,
    }
    return millis_figure("storm", settings, BASELINE, ours, theirs)
