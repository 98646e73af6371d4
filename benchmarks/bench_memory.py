"""The most memory that a million keys take, ours and stock Spark's in a JVM each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_windows import STOCK, WORKLOAD, Case
from figures import Figure
from process import WHOLE_HEAP, Memory, alone, peak_memory
from turns import Measured, session
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
    theirs, ours = (alone(_take, case, is_ours=side) for side in (False, True))
    settings: Settings = {
        **case.settings,
        "state_rows_of_baseline": theirs.measured.state_rows,
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


def _take(case: Case, *, is_ours: bool) -> Taken:
    with session(java=WHOLE_HEAP) as spark:
        measured = Measured()
        with peak_memory() as most:
            case.take(spark, measured, is_ours=is_ours)
        return Taken(most, measured)
