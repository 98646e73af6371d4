"""The page of benchmarks says what the results say, and answers are compared."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
FIELDS = {"bench", "settings", "unit", "ours", "rival", "theirs", "ratio"}


@pytest.fixture
def made() -> dict[str, Any]:
    """Return what benchmarks/page.py defines."""
    return runpy.run_path(str(ROOT / "benchmarks" / "page.py"))


def test_the_page_is_fresh(made: dict[str, Any]) -> None:
    """docs/benchmarks.md is what the script makes of the results."""
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert page == made["page"](RESULTS), "run: python benchmarks/page.py"


def test_every_result_has_the_form_and_its_settings() -> None:
    """A record has the fields of `dev/bench --out`, and says machine, versions and load."""
    files = list(RESULTS.glob("*.json"))
    assert files
    for record in (record for file in files for record in json.loads(file.read_text("utf-8"))):
        assert set(record) == FIELDS
        assert {"machine", "load", "java", "spark", "jet", "flink"} <= set(record["settings"])
        assert record["ratio"] > 0


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return what compares the answers of engines."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    made: Callable[..., int] = runpy.run_path(str(ROOT / "benchmarks" / "answers.py"))["compare"]
    return made


def test_equal_answers_are_counted_up_to_our_last_window(compare: Callable[..., int]) -> None:
    """What another engine says of windows that we have not closed yet does not matter."""
    assert compare({0: (2, 70), 1: (3, 90)}, {0: (2, 70), 1: (3, 90), 2: (9, 9)}, "Jet") == 5


@pytest.mark.parametrize(
    "theirs", [{0: (2, 70)}, {0: (2, 70), 1: (3, 91)}, {-1: (1, 1), 0: (2, 70), 1: (3, 90)}]
)
def test_other_answers_fail_the_run(theirs: Any, compare: Callable[..., int]) -> None:
    """A checksum that differs, a window that is missing or one too many is an error."""
    with pytest.raises(RuntimeError, match="the start: Jet has"):
        compare({0: (2, 70), 1: (3, 90)}, theirs, "Jet")
