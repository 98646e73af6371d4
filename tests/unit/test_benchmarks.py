"""The page of benchmarks says what the results say."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

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
