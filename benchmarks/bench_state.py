"""Milliseconds of a micro-batch of et.window over states of different sizes, beside each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import Measured, cpu_settings, millis_figure, rates, session, take_turn, warm_up
from workload import even

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Figure, Settings
    from pyspark.sql import DataFrame, SparkSession

START = 1_600_000_020_000  # the beginning of a minute: none ends in the batches of SPARSE

HASH = "(value * 2654435761L)"

WORKLOAD = "numbers in columns, lag 2 s; count, sum, max; sink noop; RocksDB, 2 shuffle partitions"


@dataclass(frozen=True)
class Load:
    """A stream and its windows.

    Attributes
    ----------
    key : str
        The key of row `value`, in SQL.
    frames : int
        How many frames a window has.
    slide : int
        How long one is, in seconds.
    advance : int
        How many seconds of event time a batch has.
    skipped : int
        Batches while state grows to what it will be.
    """

    key: str
    frames: int
    slide: int = 1
    rows: int = 200_000
    advance: int = 1
    skipped: int = 6

    def query(self, spark: SparkSession) -> DataFrame:
        """Return the results of the windows."""
        events = rates(spark, self.rows).selectExpr(
            f"timestamp_millis({START}L + value * {1000 * self.advance}L div {self.rows}L) AS ts",
            f"{self.key} AS key",
            f"pmod({HASH} div 13L, 4096L) / 4 AS value",
        )
        window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("2s"))
        size, every = f"{self.frames * self.slide}s", f"{self.slide}s"
        sliding = window.key_by("key").sliding(size, every=every)
        count = F.count("*").alias("n")
        return sliding.agg(count, F.sum("value").alias("sum"), F.max("value").alias("max")).results


# The first ten batches have a row of each of a million keys, the others rows of one in a hundred.
MANY = f"if(value < 1000000L, value, {even(10_000)} * 100L)"
FEW = f"if(value < 1000000L, pmod(value, 10000L), {even(10_000)})"
HOT = f"if(pmod({HASH} div 11L, 100L) = 0, {even(1_000)}, 0L)"

THOUSAND = Load(even(1_000), frames=10)
MINUTES = replace(THOUSAND, advance=60, skipped=66)
HUNDRED_THOUSAND = Load(even(100_000), frames=10)
SPARSE = Load(MANY, frames=60, slide=60, rows=100_000, skipped=12)

CASES: dict[str, tuple[Load, str, Load]] = {
    "1 000 keys, 60 frames": (replace(THOUSAND, frames=60, skipped=66), "10 frames", THOUSAND),
    "1 000 keys, 3 600 frames, 60 slides a batch": (
        replace(MINUTES, frames=3_600),
        "10 frames",
        MINUTES,
    ),
    "100 000 keys, 60 frames": (
        replace(HUNDRED_THOUSAND, frames=60, skipped=20),
        "10 frames",
        HUNDRED_THOUSAND,
    ),
    "1 000 000 keys, 1 % of them in a batch": (
        SPARSE,
        "only those keys",
        replace(SPARSE, key=FEW),
    ),
    "one key with 99 % of the rows, of 1 000": (
        replace(THOUSAND, key=HOT, frames=60, skipped=66),
        "all keys alike",
        replace(THOUSAND, frames=60, skipped=66),
    ),
}


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case in turns."""
    turns, batches = (1, 6) if quick else (2, 12)
    with session() as spark:
        warm_up(replace(THOUSAND, rows=2_000).query(spark))
        yield from (_compare(spark, name, turns, batches) for name in CASES)


def _compare(spark: SparkSession, name: str, turns: int, batches: int) -> Figure:
    load, baseline, beside = CASES[name]
    ours, theirs = Measured(), Measured()
    for turn in range(turns):
        print(f"state: {name}, turn {turn + 1} of {turns}", flush=True)
        for one, measured in ((beside, theirs), (load, ours)):
            take_turn(one.query(spark), batches, measured, one.skipped)
    settings: Settings = {
        "state": name,
        "rows_per_batch": load.rows,
        "batches": f"{len(ours.millis)} in {turns} turns",
        **cpu_settings(ours, theirs),
        "source": WORKLOAD,
    }
    return millis_figure("state", settings, baseline, ours, theirs)
