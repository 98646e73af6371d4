"""Milliseconds of a micro-batch of et.window on one core, on two, and on two executors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bench_windows
from bench_windows import WORKLOAD, Case
from process import alone
from turns import Measured, millis_figure, session, take_turn
from workload import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Figure, Settings

ONE = "local[1]"

MASTERS = {
    ONE: "1 task at a time",
    "local[2]": "2 tasks at a time",
    "local-cluster[2,1,4096]": "2 executors, a task each",
}

CASES = (
    Case(5_000_000, 1_000, Windows(60, 1)),
    Case(5_000_000, 100_000, Windows(10, 1)),
    Case(500_000, 100_000, Windows(10, 1)),
)


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case on every master, and set each beside one core."""
    cases = CASES[:1] if quick else CASES
    on = {master: alone(_measured, master, cases) for master in MASTERS}
    for master, cores in MASTERS.items():
        for case, ours, one in zip(cases, on[master], on[ONE], strict=True):
            yield _figure(case, cores, ours, one)


def _measured(master: str, cases: tuple[Case, ...]) -> list[Measured]:
    """Return one turn of each case."""
    with session(master) as spark:
        bench_windows.warm(spark)
        found = [Measured() for _ in cases]
        for case, measured in zip(cases, found, strict=True):
            print(f"cores: {case}, {MASTERS[master]}", flush=True)
            query = case.query(spark, case.windows.ours)
            take_turn(query, case.batches, measured, _skipped(case))
        return found


def _skipped(case: Case) -> int:
    return 2 * case.ours_skipped


def _figure(case: Case, cores: str, ours: Measured, one: Measured) -> Figure:
    settings: Settings = {
        **case.settings,
        "on": cores,
        "batches": f"{len(ours.millis)} after {_skipped(case)}",
        "source": WORKLOAD,
    }
    return millis_figure("cores", settings, MASTERS[ONE], ours, one)
