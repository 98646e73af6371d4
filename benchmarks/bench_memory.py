"""The most memory that a million keys take, ours and stock Spark's in a JVM each."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from bench_windows import STOCK, WORKLOAD, Case
from figures import Figure
from process import WHOLE_HEAP, Memory, peak_memory
from turns import Measured, session, take_turn
from workload import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings

CASES = (
    Case(500_000, 1_000_000, Windows(10, 10), batches=10),
    Case(500_000, 1_000_000, Windows(10, 2), batches=6),
)


@dataclass(frozen=True)
class Taken:
    """What a query held at most, and the state that it had."""

    memory: Memory
    measured: Measured


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every case, or the first."""
    for case in CASES[:1] if quick else CASES:
        yield from _compare(case)


def _compare(case: Case) -> list[Figure]:
    print(f"memory: {case}", flush=True)
    theirs, ours = (_alone(case, is_ours=side) for side in (False, True))
    settings: Settings = {
        "windows": str(case.windows),
        "keys": case.keys,
        "rows_per_batch": case.rows,
        "state_rows_of_rival": theirs.measured.state_rows,
        "batches": case.batches,
        "most": "of looks every 2 s, after a collection of garbage",
        "heap": "4 GiB, all of it resident",
        "source": WORKLOAD,
    }
    return [
        Figure(
            "memory",
            {"memory": name, **settings},
            "MiB",
            getattr(ours.memory, field) / 2**20,
            STOCK,
            getattr(theirs.memory, field) / 2**20,
            less_is_better=True,
        )
        for name, field in {"live heap": "heap", "beyond the heap": "off_heap"}.items()
    ]


def _alone(case: Case, *, is_ours: bool) -> Taken:
    """Run one side in a new process, so that nothing of the other is in memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(_take, case, is_ours=is_ours).result()


def _take(case: Case, *, is_ours: bool) -> Taken:
    with session(java=WHOLE_HEAP) as spark:
        measured = Measured()
        side = case.windows.ours if is_ours else case.windows.stock
        skipped = case.ours_skipped if is_ours else case.theirs_skipped
        with peak_memory() as most:
            take_turn(case.query(spark, side), case.batches, measured, skipped)
        return Taken(most, measured)
