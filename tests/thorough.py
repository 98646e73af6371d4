"""Cases of which CI runs some: `dev/test --thorough` runs them all, and older Sparks the fewest."""

from __future__ import annotations

import os
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from _pytest.mark import ParameterSet

__all__ = ["EXAMPLES", "pairs", "sampled", "smoked"]

EXAMPLES = int(os.environ.get("EVENTTIDE_EXAMPLES", "1"))
"""The random streams of a test; more with `EVENTTIDE_EXAMPLES=50 dev/test spark`."""


def sampled(
    cases: Iterable[Any], quick: Container[Any], name: Callable[[Any], str] | None = None
) -> list[ParameterSet]:
    """Return parameters of a test, with the mark `thorough` on all that are not in `quick`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=[] if case in quick else [pytest.mark.thorough],
            id=None if name is None else name(case),
        )
        for case in cases
    ]


def smoked(cases: Iterable[Any], of: Container[Any]) -> list[ParameterSet]:
    """Return parameters of a test, with the mark `smoke` on those in `of`."""
    return [pytest.param(case, marks=[pytest.mark.smoke] if case in of else []) for case in cases]


def pairs(first: Collection[Any], second: Collection[Any]) -> list[ParameterSet]:
    """Return all pairs of values; CI runs each of the first with one of the second, in turns."""
    return sampled(product(first, second), quick=list(zip(first, cycle(second), strict=False)))
