"""Milliseconds of a micro-batch where rows are judged by their key, beside what users can write.

Tumbling windows by the watermark of each key, sessions, rows counted, and keys that fall silent.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import answers
import keyed
from bench_windows import by_cycle
from figures import ROOT
from keyed_cases import (
    CASES,
    DEADLINES,
    DUE,
    GROUP_STATE,
    PANDAS_PROCESSOR,
    ROW_PROCESSOR,
    SKIPPED,
    STORED,
    Case,
    Check,
    checks,
)
from turns import (
    Measured,
    cpu_settings,
    millis_figure,
    session,
    state_settings,
    take_turn,
    warm_up,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Figure, Settings
    from keyed import Results
    from pyspark.sql import SparkSession

WORKLOAD = (
    "numbers in columns; count, sum, max; sink noop; "
    "RocksDB with changelog checkpointing, 2 shuffle partitions, heap 4 GiB"
)

PYTHON = (GROUP_STATE, PANDAS_PROCESSOR, ROW_PROCESSOR)  # which the JVM has not to compile


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case in turns, or one turn of the quick ones, if the answers are equal."""
    with session() as spark:
        _show_python(spark)
        for each in checks():
            check(spark, each)
        warm(spark, batches=60 if quick else 250)
        yield from (_compare(spark, case)[0] for case in _selected(CASES, quick=quick))
        yield from _along(spark, _selected(DEADLINES, quick=quick))


def _show_python(spark: SparkSession) -> None:
    """Have Spark's workers start this Python, which has pandas, and find keyed_python.

    A file that is added to the session is not found by the worker that opens a processor's state.
    """
    spark.sparkContext.pythonExec = sys.executable
    spark.sparkContext.environment["PYTHONPATH"] = str(ROOT / "benchmarks")


def _selected(cases: tuple[Case, ...], *, quick: bool) -> list[Case]:
    if not quick:
        return list(cases)
    return [replace(case, turns=1, batches=min(4, case.batches)) for case in cases if case.quick]


def check(spark: SparkSession, case: Check) -> None:
    """Compare what all sides answer."""

    def answer(results: Results) -> answers.Answers:
        query = results(case.events(spark))
        return answers.of_stream(query, case.last, case.slack, keyed.checksums)

    ours = answer(case.ours)
    for name, results in case.baselines.items():
        found = answers.compare(ours, answer(results), name)
        print(f"keys: {found} results are those of {name}", flush=True)


def warm(spark: SparkSession, batches: int) -> None:
    """Run small batches of all sides but those in Python."""
    sides = [
        results(case.events(spark))
        for case in checks()
        for name, results in {"ours": case.ours, **case.baselines}.items()
        if name not in PYTHON
    ]
    warm_up(*sides, batches=batches)


def _along(spark: SparkSession, curve: list[Case]) -> Iterator[Figure]:
    """Measure states that grow, beside the baseline's and beside our own smallest."""
    least: Measured | None = None
    for case in curve:
        figure, ours = _compare(spark, case)
        yield figure
        if least is None:
            least = ours
        elif case.about[DUE] == curve[0].about[DUE]:
            yield _figure(case, f"ours, {curve[0].about[STORED]} keys", ours, least)


def _compare(spark: SparkSession, case: Case) -> tuple[Figure, Measured]:
    """Measure one case in turns; return also what was measured of ours."""
    ours, theirs = Measured(), Measured()
    for turn in range(case.turns):
        print(f"keys: {case}, turn {turn + 1} of {case.turns}", flush=True)
        _take(spark, case, theirs, is_ours=False)
        _take(spark, case, ours, is_ours=True)
    return _figure(case, case.baseline, ours, theirs), ours


def _take(spark: SparkSession, case: Case, into: Measured, *, is_ours: bool) -> None:
    """Run a turn of one side."""
    conf = {} if is_ours else case.conf
    for name, value in conf.items():
        spark.conf.set(name, value)
    results, skipped = (case.ours, SKIPPED) if is_ours else (case.theirs, case.theirs_skipped)
    take_turn(results(case.events(spark)), case.batches, into, skipped)
    for name in conf:
        spark.conf.unset(name)


def _figure(case: Case, baseline: str, ours: Measured, theirs: Measured) -> Figure:
    settings: Settings = {
        **case.about,
        **({} if case.goal is None else {"goal": case.goal}),
        **state_settings(ours, theirs),
        "batches": f"{len(ours.millis)} in {case.turns} turns",
        "skipped": f"{SKIPPED} of ours, {case.theirs_skipped} of the baseline",
        **(cpu_settings(ours, theirs) if case.by_cpu else {}),
        "source": WORKLOAD,
    }
    sides = (replace(side, millis=by_cycle(side.millis, case.cycle)) for side in (ours, theirs))
    return millis_figure("keys", settings, baseline, *sides)
