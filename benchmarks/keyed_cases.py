"""What `bench_keys` measures, and the small streams to which all sides have to answer the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import keyed
from bench_windows import COUNTING, PROCESSOR
from keyed import GAP, MINUTE, Counted, Sessions, Tumbling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Settings
    from keyed import Results
    from pyspark.sql import DataFrame, SparkSession

    Events = Callable[[SparkSession], DataFrame]

UNCOUNTED = f"{PROCESSOR}, stores that do not count"
GROUP_STATE = "applyInPandasWithState"
PANDAS_PROCESSOR = "transformWithStateInPandas"
ROW_PROCESSOR = f"{PROCESSOR} in Python"
SESSION_WINDOW = "groupBy(session_window)"
MERGED = f"{SESSION_WINDOW}, merged before the shuffle"

MERGING = "spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition"

STORED, DUE = "keys in state", "due in a batch"

SKIPPED = 8  # batches of each query while it starts

SCALA_GOAL, PYTHON_GOAL, SPARK_GOAL = 3, 20, 2

NEVER_IDLE = Tumbling()
FIVE_MINUTES = Tumbling(idle=300)
SILENT = Tumbling(idle=240, clock="event_time")  # well before the keys of `returning` return


@dataclass(frozen=True)
class Case:
    """Events, and two queries over them that answer the same.

    Attributes
    ----------
    about : dict
        What a figure says of them.
    conf : dict
        Settings of Spark that the baseline has.
    cycle : int
        After how many batches everything comes again.
    batches : int
        How many are measured in each turn: whole cycles.
    theirs_skipped : int
        After how many batches the baseline is in its stride: all keys are known, code is compiled.
    by_cpu : bool
        Whether the JVM's CPU time for a row says something of both.
    quick : bool
        Whether it is quick enough for a first impression.
    """

    about: Settings
    events: Events
    ours: Results
    baseline: str
    theirs: Results
    goal: float | None = None
    conf: dict[str, str] = field(default_factory=dict)
    turns: int = 2
    cycle: int = 1
    batches: int = 8
    theirs_skipped: int = SKIPPED
    by_cpu: bool = True
    quick: bool = False

    def __str__(self) -> str:
        """As it is told while it runs."""
        said = ", ".join(f"{name} {value}" for name, value in self.about.items())
        return f"{said}, beside {self.baseline}"


@dataclass(frozen=True)
class Check:
    """A small stream, and what has to answer the same; see `answers.of_stream`."""

    events: Events
    ours: Results
    baselines: dict[str, Results]
    last: int
    slack: int = 0


def tumbling(rows: int, keys: int, windows: Tumbling = FIVE_MINUTES) -> Case:
    """Return windows of a minute beside transformWithState; a batch has ten seconds of events."""
    about: Settings = {
        "windows": f"tumbling {MINUTE} s",
        "idle after": f"{windows.idle} s" if windows.idle else "never",
        "keys": keys,
        "rows_per_batch": rows,
    }
    events = partial(keyed.apart, rows=rows, keys=keys, rate=rows // 10)
    return Case(about, events, windows.ours, PROCESSOR, windows.by_processor, SCALA_GOAL)


def in_python(case: Case) -> Iterator[Case]:
    """Return windows beside all the ways to write them in Python."""
    case = replace(case, goal=PYTHON_GOAL, turns=1, batches=3, theirs_skipped=2, by_cpu=False)
    yield replace(case, baseline=GROUP_STATE, theirs=FIVE_MINUTES.by_group_state)
    yield replace(case, baseline=PANDAS_PROCESSOR, theirs=FIVE_MINUTES.by_pandas_processor)
    yield replace(case, baseline=ROW_PROCESSOR, theirs=FIVE_MINUTES.by_row_processor)


def sessions(rows: int, keys: int) -> Case:
    """Return sessions beside Spark's own; a batch has five seconds of events."""
    about: Settings = {
        "windows": f"sessions, gap {GAP} s",
        "lag": "2 s",
        "keys": keys,
        "rows_per_batch": rows,
    }
    events = partial(keyed.bursts, rows=rows, keys=keys, rate=rows // 5)
    return Case(about, events, Sessions().ours, SESSION_WINDOW, Sessions().stock, SPARK_GOAL)


def counted(rows: int, keys: int, size: int = 20) -> Case:
    """Return windows of a number of rows beside transformWithState."""
    about: Settings = {"windows": f"{size} rows", "keys": keys, "rows_per_batch": rows}
    events = partial(keyed.at_random, rows=rows, keys=keys)
    windows = Counted(size)
    case = Case(about, events, windows.ours, PROCESSOR, windows.by_processor)
    return replace(case, cycle=max(1, size * keys // rows))


def silent(keys: int, due: int = 1_000) -> Case:
    """Return a state of many keys, of which some fall due in a batch, beside timers."""
    about: Settings = {
        "windows": f"tumbling {MINUTE} s",
        "idle after": f"{SILENT.idle} s of event time",
        STORED: f"{keys:,}",
        DUE: f"{due:,}",
    }
    events = partial(keyed.returning, keys=keys, due=due)
    case = Case(about, events, SILENT.ours, PROCESSOR, SILENT.by_processor)
    return replace(case, by_cpu=False)


MOST = tumbling(500_000, 1_000_000)  # a row of half of the keys in each batch
MANY, FEW = tumbling(500_000, 100_000), tumbling(500_000, 1_000)
MANY_SESSIONS = sessions(250_000, 100_000)

CASES = (
    MOST,
    replace(MANY, goal=None, quick=True),
    replace(FEW, goal=None, quick=True),
    replace(tumbling(2_000_000, 1_000), goal=None),
    replace(MANY, goal=None, baseline=UNCOUNTED, conf={COUNTING: "false"}),
    replace(tumbling(500_000, 100_000, NEVER_IDLE), goal=None),
    *(replace(case, goal=None, quick=True) for case in in_python(FEW)),
    *(replace(case, quick=case.baseline == ROW_PROCESSOR) for case in in_python(MANY)),
    replace(MANY_SESSIONS, quick=True),
    sessions(250_000, 1_000),
    replace(MANY_SESSIONS, baseline=MERGED, conf={MERGING: "true"}, quick=True),
    replace(counted(500_000, 100_000), quick=True),
    replace(counted(500_000, 1_000), quick=True),
)

# The first has ten keys for each that is due, so that a scan of the others shows in the next.
DEADLINES = (
    *(replace(silent(keys), quick=True) for keys in (10_000, 100_000, 1_000_000)),
    silent(1_000_000, due=10_000),
)


def checks() -> Iterator[Check]:
    """Return a check of each kind."""
    apart = partial(keyed.apart, rows=20_000, keys=100, rate=2_000)
    yield Check(
        apart,
        FIVE_MINUTES.ours,
        {
            "et.window without idle_timeout": NEVER_IDLE.ours,
            f"{PROCESSOR} without timers": NEVER_IDLE.by_processor,
            **_tumbling_baselines(FIVE_MINUTES),
        },
        last=3 * MINUTE,
        slack=2 * MINUTE,
    )
    soon = Tumbling(idle=1)
    once = partial(keyed.once, rows=100, rows_of_key=5)
    yield Check(once, soon.ours, _tumbling_baselines(soon), last=5 * MINUTE)
    returning = partial(keyed.returning, keys=1_000, due=100)
    yield Check(returning, SILENT.ours, {PROCESSOR: SILENT.by_processor}, last=600, slack=600)
    short = Sessions(lag=1)  # so that some rows are late
    bursts = partial(keyed.bursts, rows=5_000, keys=400, rate=1_000)
    yield Check(bursts, short.ours, {SESSION_WINDOW: short.stock}, last=60)
    ten = Counted(10)
    # Seven rows of each key in a batch, so that windows end within batches.
    alike = partial(keyed.alike, rows=700, keys=100)
    yield Check(alike, ten.ours, {PROCESSOR: ten.by_processor}, last=60)


def _tumbling_baselines(windows: Tumbling) -> dict[str, Results]:
    return {
        PROCESSOR: windows.by_processor,
        GROUP_STATE: windows.by_group_state,
        PANDAS_PROCESSOR: windows.by_pandas_processor,
        ROW_PROCESSOR: windows.by_row_processor,
    }
