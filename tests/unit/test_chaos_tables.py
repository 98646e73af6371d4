"""The tables of the campaigns, and the pages that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.chaos import kept
from tests.chaos.figures import Figures
from tests.chaos.report import BEGIN, END, PAGES, with_table
from tests.chaos.tables import CAMPAIGNS, GROWS, IN_SHORT, full, short, upper_bound

if TYPE_CHECKING:
    from pathlib import Path


def test_the_bound_of_no_failures() -> None:
    """The rule of three, nearly."""
    assert upper_bound(0, 0) is None
    assert upper_bound(100, 1) is None
    assert upper_bound(1, 0) == pytest.approx(0.95)
    assert upper_bound(300, 0) == pytest.approx(0.00994, abs=1e-5)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tables_of_a_page_are_fresh(page: Path) -> None:
    """After new figures, `dev/chaos table` writes them."""
    text = page.read_text("utf-8")
    assert with_table(text, PAGES[page]()) == text


def test_recovery_of_stock_spark_is_beside_ours(tmp_path: Path) -> None:
    """Of the same windows; its trials are no trials of ours."""
    about = {"violations": [], "seconds": 3600.0, "kills": 2}
    figures = Figures("recovery", tmp_path)
    figures.add(kind="tumbling", seed=1, recoveries=[1.0, 3.0] * 50, **about)
    figures.add(kind="stock tumbling", seed=2, recoveries=[2.0] * 100, **about)
    figures = Figures("random", tmp_path)
    figures.add(kind="tumbling", seed=1, recoveries=[9.0] * 100, **about)
    figures.add(kind="storm", seed=2, **about)
    lines = full(tmp_path).splitlines()
    assert "| tumbling and sliding windows | 100 | 2.0 s | 3.0 s |" in lines
    assert "| the same on stock Spark | 100 | 2.0 s | 2.0 s |" in lines
    [kills] = [line for line in lines if line.startswith("| `kill -9` of the driver |")]
    assert kills.startswith("| `kill -9` of the driver | 4 in 2 queries | 2 | 0 | 52.7 % | 2.0 |")


def test_a_page_without_marks_is_refused() -> None:
    """The tables go between two marks; text around them stays."""
    with pytest.raises(ValueError, match="no <!-- figures"):
        with_table("# Page", "| |")
    assert with_table(f"a {BEGIN}\nold\n{END} z", "new") == f"a {BEGIN}\n\nnew\n\n{END} z"


def test_the_slopes_of_a_soak(tmp_path: Path) -> None:
    """From the third part on, of the engine of the last part alone."""
    figures = Figures("soak", tmp_path)
    for part in range(6):
        same = dict.fromkeys((*GROWS,), 2.0) | {"heap_mib": 100.0 if part < 2 else 300.0 + part}
        figures.add(kind="soak", seed=part, violations=[], seconds=600.0, **same)
        assert ("a collection" in full(tmp_path)) == (part >= 3)  # a slope needs two parts
    lines = full(tmp_path).splitlines()
    assert "| of 6 parts | first | third | last | slope in an hour |" in lines
    assert "| heap after a collection | 100 MiB | 302 MiB | 305 MiB | +6 MiB |" in lines
    assert "| threads | 2 | 2 | 2 | +0 |" in lines


def test_the_readme_has_all_trials(tmp_path: Path) -> None:
    """A kill of any process is in one line, and none is in two."""
    about = {"violations": [], "seconds": 1.0, "kind": "tumbling"}
    Figures("random", tmp_path).add(seed=1, kills=3, **about)
    Figures("kafka", tmp_path).add(seed=1, kills=4, **about)
    Figures("fuzz-sql", tmp_path).add(seed=1, trials=50, **about)
    lines = short(tmp_path).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:]] == ["0", "7", "0", "0", "50"]
    listed = [name for names in IN_SHORT.values() for name in names]
    assert sorted(listed) == sorted(CAMPAIGNS)


def test_a_checkpoint_of_each_kind_is_kept() -> None:
    """For each version that is upgraded from."""
    names = {kind.replace(" ", "-") for kind in kept.KINDS}
    versions = list(kept.FOLDER.iterdir())
    assert versions
    for version in versions:
        assert {file.name.partition(".")[0] for file in version.iterdir()} >= names
