"""A runner on queries lets a case wait that has a word, a step or a value that it does not know."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark import storm_cases, test_golden_field, volt_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Case = dict[str, Any]
    Runner = Callable[[Case], str | None]

GOLDEN = Path("tests/golden")
RUNNERS: dict[str, Runner] = {
    "storm": storm_cases.unknown_words,
    "voltsp": volt_cases.unknown_words,
    "field": test_golden_field.unknown_words,
}
PLAYED = {name for name, _ in test_golden_field.PLAYED} | {"FC38"}


def cases() -> list[Any]:
    """Return every case that a query plays, with its runner."""
    return [
        pytest.param(runner, case, id=case["id"])
        for name, runner in RUNNERS.items()
        for case in json.loads((GOLDEN / f"{name}.json").read_text())["cases"]
        if name != "field" or case["id"] in PLAYED
    ]


def everything_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return where a case has an object or a list."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inside:
        if isinstance(one, (dict, list)):
            yield from everything_in(one, (*path, key))


def at(case: Case, path: tuple[Any, ...]) -> Any:
    """Return what is at a place."""
    return at(case[path[0]], path[1:]) if path else case


REMARKS = {"notes", "note", "origin", "bounds", "scan_lag_ms", "published_effective"}
"""Where anything may stand, in one runner or another."""
UNSEEN = {"watermarks", "final"}
"""What a query cannot compare."""


@pytest.mark.parametrize(("runner", "case"), cases())
def test_a_case_is_known_and_with_another_word_it_waits(runner: Runner, case: Case) -> None:
    """Wherever it has an object, a further word is one that nobody knows."""
    assert runner(case) is None
    for path in everything_in(case):
        if isinstance(at(case, path), dict) and not set(path) & (REMARKS | UNSEEN):
            other = copy.deepcopy(case)
            at(other, path)["novel"] = 1
            assert runner(other) is not None, path


@pytest.mark.parametrize(("runner", "case"), cases())
def test_steps_and_nulls_that_are_unknown_make_a_case_wait(runner: Runner, case: Case) -> None:
    """As a step of another system, or null where a number is."""
    for number, step in enumerate(case["steps"]):
        other = copy.deepcopy(case)
        other["steps"][number]["op"] = "leap"
        assert runner(other) == "unknown step: leap"
        for word in (word for word in ("ts", "at", "to", "now", "events") if word in step):
            other = copy.deepcopy(case)
            other["steps"][number][word] = None
            assert runner(other) is not None, (number, word)


@pytest.mark.parametrize(
    ("runner", "case"), [(runner, case) for runner in RUNNERS.values() for case in ({}, {"id": 1})]
)
def test_what_is_no_case_waits(runner: Runner, case: Case) -> None:
    """It has none of the words that every case has."""
    assert runner(case) is not None


@pytest.mark.parametrize("op", ["eof", "sleep", "early_tick", "complete", "probe"])
def test_steps_of_the_guide_that_no_query_has_wait(op: str) -> None:
    """A query has no end of input, and nobody sees it between its batches."""
    case = copy.deepcopy(test_golden_field.CASES["FC20"])
    case["steps"].append({"op": op})
    assert test_golden_field.unknown_words(case) == f"unknown step: {op}"


def test_an_expectation_of_a_step_that_does_not_come_waits() -> None:
    """Nobody would compare it."""
    by_id = {param.id: param.values for param in cases()}
    runner, case = by_id["storm-seed-example"]
    other = copy.deepcopy(case)
    other["expect"]["windows"][0]["step"] = 0
    assert runner(other) == "expect: step 0 tells no watermark"
    _, case = next(values for values in by_id.values() if values[0] is volt_cases.unknown_words)
    other = copy.deepcopy(case)
    other["expect"][0]["step"] = 99
    assert volt_cases.unknown_words(other) == "expect: no step 99"
