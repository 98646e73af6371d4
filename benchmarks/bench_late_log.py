"""How long it takes to read a few batches out of a late log of very many, beside the goal.

Once as a query leaves the log, with the folds of its index, and once after `et.compact_late`, each
in a JVM of its own. All rows of the log stand beside them, and the time of the compaction.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from figures import Figure
from late_log import FOLD_EVERY, RETAIN, STEP, make
from process import alone
from turns import session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Settings
    from pyspark.sql import DataFrame

BATCHES = 20_000
RUNS, RUNS_OF_ALL = 11, 3  # of which the first does not count
GOAL = 500.0  # ms

WORKLOAD = (
    "one late file of 5 rows a batch, local files; index as LateIndex writes it, folded by "
    f"{FOLD_EVERY}, the last {RETAIN} batches not yet"
)


@dataclass(frozen=True)
class Log:
    """A late log in which each batch has as many rows, a minute of event time after the last.

    Attributes
    ----------
    start : int
        The earliest event time, in microseconds.
    rows : int
        Of each batch.
    """

    checkpoint: Path
    batches: int
    rows: int
    start: int

    @property
    def conditions(self) -> dict[str, tuple[str, int]]:
        """Return what is read: the condition, and how many batches it is true for."""
        batch = self.batches * 12_345 // BATCHES
        first, last = self.start + batch * STEP, self.start + (batch + 9) * STEP
        times = f"timestamp_micros({first}) and timestamp_micros({last} + {STEP - 1})"
        return {
            "one batch": (f"_batch_id = {batch}", 1),
            "the newest batch": (f"_batch_id = {self.batches - 1}", 1),
            "a time with ten batches": (f"_event_time between {times}", 10),
        }


@dataclass(frozen=True)
class Taken:
    """Milliseconds of the first run, and of those after it."""

    first: float
    others: list[float]

    @property
    def median(self) -> float:
        """Return the figure."""
        return statistics.median(self.others)

    def settings(self) -> Settings:
        """Return what else there is to say."""
        span = f"{min(self.others):,.0f} - {max(self.others):,.0f}"
        return {"runs": len(self.others), "first_ms": round(self.first), "range_ms": span}


@dataclass(frozen=True)
class Compaction:
    """What a compaction has done, and in how many seconds."""

    done: et.observe.LateCompaction
    seconds: float


Measured = dict[str, Taken]

ALL = "all rows"


def run(*, quick: bool) -> Iterator[Figure]:
    """Make a log, and read it before and after its compaction."""
    batches = BATCHES // 10 if quick else BATCHES
    with tempfile.TemporaryDirectory() as folder:
        print(f"late log: making {batches:,} batches", flush=True)
        log = alone(_make, Path(folder) / "checkpoint", batches)
        print("late log: reading it as the query leaves it", flush=True)
        folded = alone(_measure, log)
        print("late log: compacting it, and reading it again", flush=True)
        compaction = alone(_compact, log)
        compacted = alone(_measure, log)
    yield from _figures(log, "folded", folded)
    yield from _figures(log, "compacted", compacted)
    yield _figure_of_all(log, compacted[ALL], folded[ALL])
    yield _figure_of_compaction(log, compaction, folded[ALL].first / 1000)


def _figures(log: Log, state: str, measured: Measured) -> Iterator[Figure]:
    for what in log.conditions:
        taken = measured[what]
        settings: Settings = {"batches": log.batches, "log": state, "read": what}
        settings |= {**taken.settings(), "source": WORKLOAD}
        yield Figure("late_log", settings, "ms", taken.median, "goal", GOAL, less_is_better=True)


def _figure_of_all(log: Log, compacted: Taken, folded: Taken) -> Figure:
    settings: Settings = {"batches": log.batches, "log": "compacted", "read": ALL}
    settings |= {**compacted.settings(), "source": WORKLOAD}
    ours, theirs = compacted.median, folded.median
    return Figure("late_log", settings, "ms", ours, "folded", theirs, less_is_better=True)


def _figure_of_compaction(log: Log, compaction: Compaction, reading: float) -> Figure:
    done = compaction.done
    settings: Settings = {
        "batches": log.batches,
        "figure": "et.compact_late",
        "compacted": f"{done.batches:,} batches",
        "files": f"{done.files_before:,} to {done.files_after:,}",
        "source": WORKLOAD,
    }
    ours, baseline = compaction.seconds, "reading all rows once before"
    return Figure("late_log", settings, "s", ours, baseline, reading, less_is_better=True)


def _make(checkpoint: Path, batches: int) -> Log:
    with session() as spark:
        return Log(checkpoint, batches, *make(spark, checkpoint, batches))


def _measure(log: Log) -> Measured:
    """Read each choice of rows several times, then all of them."""
    with session():

        def read(condition: str, batches: int) -> None:
            rows = et.read_late(log.checkpoint).where(condition).collect()
            if len(rows) != batches * log.rows:
                raise RuntimeError(f"{len(rows)} rows where {condition}")

        measured = {
            what: _timed(partial(read, *chosen), RUNS) for what, chosen in log.conditions.items()
        }
        measured[ALL] = _timed(lambda: _read_all(et.read_late(log.checkpoint)), RUNS_OF_ALL)
        return measured


def _read_all(rows: DataFrame) -> None:
    """Read every column into a sink that drops the rows."""
    rows.write.format("noop").mode("overwrite").save()


def _timed(read: Callable[[], None], runs: int) -> Taken:
    first, *others = [_millis(read) for _ in range(runs)]
    return Taken(first, others)


def _millis(read: Callable[[], None]) -> float:
    began = time.monotonic()
    read()
    return (time.monotonic() - began) * 1000


def _compact(log: Log) -> Compaction:
    """Compact it, in a session that has done nothing else."""
    with session():
        began = time.monotonic()
        done = et.compact_late(log.checkpoint)
        return Compaction(done, time.monotonic() - began)
