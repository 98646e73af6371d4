"""Rows per second of et.window, beside Jet, Flink SQL and a batch groupBy, with equal answers.

The other engines come first, each in a JVM of its own: none works beside another or beside Spark.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import answers
import engines
from engines import ENGINES, Effort, Job
from figures import Figure, Settings
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import Measured, rates, session, take_turn, warm_up
from workload import Windows, aggregates, even, events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engines import Runs
    from pyspark.sql import DataFrame, SparkSession

RATE = 500_000  # events in a second of event time

FEW, MANY = 1_000, 100_000  # keys

BATCH = "Spark batch groupBy(key, second)"

WORKLOAD = (
    "500 000 events a second of event time, jitter 2 s, lag 2 s; count, sum, max; 2 cores; "
    "sinks drop results (Spark noop) or add up checksums (Jet, Flink); RocksDB with changelog "
    "checkpointing, 2 shuffle partitions (Spark); no snapshots (Jet, Flink)"
)


@dataclass(frozen=True)
class Case:
    """Windows and keys; rows of a micro-batch of ours, and seconds of event time elsewhere.

    Ours may run with smaller micro-batches too.
    """

    windows: Windows
    keys: int
    rows: int
    seconds: int
    smaller: tuple[int, ...] = ()

    @property
    def batches(self) -> tuple[int, ...]:
        """Rows of all micro-batches that ours runs with."""
        return (self.rows, *self.smaller)

    @property
    def full(self) -> int:
        """The second of event time from which on all windows that close are full ones."""
        return self.windows.size + 4

    @property
    def skipped(self) -> int:
        """The micro-batches before that, and some for the compilers of the JVM."""
        return max(4, -(-self.full * RATE // self.rows) + 1)

    @property
    def job(self) -> Job:
        """What another engine is to do."""
        return Job(self.windows, self.keys, RATE, self.seconds * RATE)


@dataclass(frozen=True)
class Ours:
    """Rows a second in each run of Spark's, and what windows answered.

    With windows, by the rows of a micro-batch, and without windows.
    """

    windows: dict[int, list[float]]
    batch: list[float]
    answers: answers.Answers


CASES = (
    Case(Windows(60, 1), FEW, 20_000_000, 160, smaller=(5_000_000, 500_000)),
    Case(Windows(60, 1), MANY, 20_000_000, 84),
    Case(Windows(10, 1), FEW, 20_000_000, 160),
    Case(Windows(10, 1), MANY, 20_000_000, 40),
)

BATCHES = 8  # in a run of ours
BATCH_ROWS = 5  # times those of a micro-batch, in a batch query

# Many keys take Flink minutes.
QUICK = tuple(
    replace(case, rows=5_000_000, smaller=case.smaller[1:], seconds=case.windows.size + 32)
    for case in CASES
    if case.keys == FEW
)


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case on every engine, compare the answers, and pair ours with each."""
    cases, effort = (QUICK, Effort(1, 1)) if quick else (CASES, Effort(3, 1))
    theirs = {case: _theirs(case, effort) for case in cases}
    with session() as spark:
        warm_up(Windows(10, 1).ours(events(rates(spark, 2_000), even(100), 2_000)))
        for case in cases:
            yield from _figures(case, _ours(spark, case, effort), theirs[case], effort)


def _theirs(case: Case, effort: Effort) -> dict[str, Runs]:
    found = {}
    for engine in ENGINES:
        print(f"{engine}: {case}", flush=True)
        found[engine] = engines.run(engine, case.job, effort)
    return found


def _ours(spark: SparkSession, case: Case, effort: Effort) -> Ours:
    print(f"Spark: {case}", flush=True)
    windows = {}
    for rows in case.batches:
        part = replace(case, rows=rows)
        windows[rows] = [_run(_query(spark, part), part) for _ in range(effort.runs)]
    found = answers.of_stream(_query(spark, case), case.full)
    return Ours(windows, _batch(spark, case, effort), found)


def _query(spark: SparkSession, case: Case) -> DataFrame:
    return case.windows.ours(events(rates(spark, case.rows), even(case.keys), RATE))


def _run(query: DataFrame, case: Case) -> float:
    """Return the rows per second of a run, over all batches that have full windows."""
    measured = Measured()
    take_turn(query, BATCHES, measured, case.skipped)
    return case.rows * len(measured.millis) * 1000 / sum(measured.millis)


def _batch(spark: SparkSession, case: Case, effort: Effort) -> list[float]:
    """Return the rows per second of a batch query."""
    rows = BATCH_ROWS * case.rows
    numbers = spark.range(rows).withColumnRenamed("id", "value")
    second = F.unix_seconds("ts").alias("second")
    query = events(numbers, even(case.keys), RATE).groupBy("key", second).agg(*aggregates())
    found = []
    for _ in range(effort.warmups + effort.runs):
        started = time.monotonic()
        query.write.format("noop").mode("overwrite").save()
        found.append(rows / (time.monotonic() - started))
    return found[effort.warmups :]


def _figures(case: Case, ours: Ours, theirs: dict[str, Runs], effort: Effort) -> Iterator[Figure]:
    for engine, runs in theirs.items():
        same = answers.compare(ours.answers, runs.answers, engine)
        settings: Settings = {
            "theirs_events": f"{case.job.events:,}",
            "theirs_runs": str(effort),
            "theirs_whole_run": _millions(runs.whole),
            "equal_results": f"{same:,}",
        }
        for rows, found in ours.windows.items():
            yield _figure(replace(case, rows=rows), found, settings, engine, runs.steady)
    settings = {
        "theirs_events": f"{BATCH_ROWS * case.rows:,}",
        "theirs_runs": str(effort),
        "theirs_whole_run": _millions(ours.batch),
        "equal_results": "no windows",
    }
    for rows, found in ours.windows.items():
        yield _figure(replace(case, rows=rows), found, settings, BATCH, ours.batch)


def _figure(
    case: Case, ours: list[float], theirs: Settings, baseline: str, found: list[float]
) -> Figure:
    settings: Settings = {
        "windows": str(case.windows),
        "keys": case.keys,
        "rows_per_batch": case.rows,
        "ours_runs": f"{len(ours)} of {BATCHES} batches after {case.skipped}",
        "ours_range": _millions(ours),
        "theirs_range": _millions(found),
        **theirs,
        "heap": f"Jet and Flink {engines.heap()}, ParallelGC; Spark 4g, its default",
        "source": WORKLOAD,
    }
    medians = (statistics.median(ours), statistics.median(found))
    return Figure(
        "engines", settings, "rows/s", medians[0], baseline, medians[1], less_is_better=False
    )


def _millions(rates: list[float]) -> str:
    return f"{min(rates) / 1e6:.2f} - {max(rates) / 1e6:.2f} M"
