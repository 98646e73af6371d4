"""The page of benchmarks says what the results say, and answers are compared."""

from __future__ import annotations

import importlib
import json
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
FIELDS = {"bench", "settings", "unit", "ours", "baseline", "theirs", "ratio"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what benchmarks/page.py defines."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return runpy.run_path(str(ROOT / "benchmarks" / "page.py"))


def test_the_page_is_fresh(made: dict[str, Any]) -> None:
    """docs/explanation/benchmarks.md is what the script makes of the results."""
    page = (ROOT / "docs/explanation/benchmarks.md").read_text("utf-8")
    assert page == made["page"](RESULTS), "run: python benchmarks/page.py"


def test_the_charts_are_fresh(made: dict[str, Any]) -> None:
    """So are the pictures of it and of the README; each is small and fetches nothing."""
    drawn = made["all_charts"]()
    for name, svg in drawn.items():
        kept = (ROOT / "docs/img" / name).read_text("utf-8")
        assert kept == svg, f"{name}: run: python benchmarks/page.py"
        assert len(svg) < 60_000
    assert {file.name for file in (ROOT / "docs/img").glob("bench-*")} == set(drawn)
    assert {file.stem for file in RESULTS.glob("*.json")} - set(made["CHARTS"]) == {
        "connect",
        "lab",
    }


def test_the_page_has_few_words_outside_of_its_tables(made: dict[str, Any]) -> None:
    """At most 2 800, folded text included; a picture has its first sentence once more."""
    lines = made["page"](RESULTS).splitlines()
    text = " ".join(line for line in lines if not line.startswith(("|", "![")))
    assert len(text.split()) <= 2800


def test_every_benchmark_has_a_place_on_the_page(
    made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `dev/bench` knows by name has its prose and its turn, before it has results too."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    names = set(runpy.run_path(str(ROOT / "benchmarks" / "run.py"))["BENCHES"])
    assert names <= set(made["ORDER"])
    assert names <= {file.stem for file in (ROOT / "benchmarks" / "prose").glob("*.md")}


def test_every_result_has_the_form_and_its_settings() -> None:
    """A record has the fields of `dev/bench --out`, and says machine, versions and load."""
    files = list(RESULTS.glob("*.json"))
    assert files
    for record in (record for file in files for record in json.loads(file.read_text("utf-8"))):
        assert set(record) == FIELDS
        assert {"machine", "load", "java", "spark", "jet", "flink"} <= set(record["settings"])
        assert record["ratio"] > 0 or record["theirs"] == 0


def test_the_readme_has_the_figures_of_the_results() -> None:
    """Its headlines are what was measured last, rounded."""
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    spark = _sixty_seconds("windows", "groupBy(window)", 500_000)
    jet = _sixty_seconds("engines", "Jet", 20_000_000)
    assert (
        f"take {spark['ours'] / 1000:.2f} s a batch; Spark's take {spark['theirs'] / 1000:.1f} s."
    ) in readme
    assert (
        f"Eventtide reads {jet['ours'] / 1e6:.0f} M rows/s and Hazelcast Jet 5.7 reads"
        f" {jet['theirs'] / 1e6:.1f} M rows/s."
    ) in readme
    assert 0.45 < _sixty_seconds("engines", "Jet", 500_000)["ratio"] < 0.55
    ratios = [
        record["ratio"]
        for record in json.loads((RESULTS / "windows.json").read_text("utf-8"))
        if record["baseline"] == "groupBy(window)"
        and "/" in record["settings"]["windows"]
        and record["settings"]["rows_per_batch"] == 500_000  # as in the chart
    ]
    assert f"are {min(ratios):.0f} to {max(ratios):.0f} times as fast**" in readme


def _sixty_seconds(name: str, baseline: str, rows: int) -> dict[str, Any]:
    """Return the record of 60 s / 1 s with 1 000 keys."""
    records = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    wanted = {"windows": "60 s / 1 s", "keys": 1000, "rows_per_batch": rows}
    found: dict[str, Any] = next(
        r for r in records if r["baseline"] == baseline and wanted.items() <= r["settings"].items()
    )
    return found


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


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what compares the results of the latency's engines, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("latency")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two keys: three rows in second 7, one each in second 8."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    sent = importlib.import_module("latency_load").Sent(2)
    sent.add(7, range(2), 70)
    sent.add(7, range(1), 71)
    sent.add(8, range(1, 2), 80)
    sent.add(8, range(1), 85)
    return sent


def test_a_window_is_closed_by_its_key_or_by_all(timed: Any, sent: Any) -> None:
    """The first row after its end counts, and the last second is not closed."""
    by_key = timed.closing(sent, by_key=True)
    assert by_key == {timed.Window(7, 0): 85, timed.Window(7, 1): 80}
    assert set(timed.closing(sent, by_key=False).values()) == {80}


def test_right_results_are_not_wrong(timed: Any, sent: Any) -> None:
    """Those of later windows may be incomplete; updates may come often."""
    found = {(7, 0): (1, 2), (7, 1): (1, 1), (8, 0): (9, 9)}
    assert not timed.wrong(sent, _arrived(timed, found), 8, final=True)
    found[7, 0] = (2, 2)
    assert not timed.wrong(sent, _arrived(timed, found), 8, final=False)


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ({(7, 0): (1, 2)}, "has no result"),
        ({(7, 0): (1, 2), (7, 1): (1, 2)}, "has 2 rows in its result, but 1 were sent"),
        ({(7, 0): (2, 2), (7, 1): (1, 1)}, "has 2 results"),
        ({(6, 0): (1, 1), (7, 0): (1, 2), (7, 1): (1, 1)}, "but 0 were sent"),
    ],
)
def test_wrong_results_are_named(found: Any, problem: str, timed: Any, sent: Any) -> None:
    """One is missing, has another count, comes twice, or has no rows."""
    [said] = timed.wrong(sent, _arrived(timed, found), 8, final=True)
    assert problem in said


def _arrived(timed: Any, found: dict[tuple[int, int], tuple[int, int]]) -> dict[Any, Any]:
    return {
        timed.Window(*window): timed.Arrived(0, results, rows)
        for window, (results, rows) in found.items()
    }
