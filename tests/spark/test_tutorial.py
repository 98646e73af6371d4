"""Runs docs/tutorial/first-15-minutes.ipynb: the outputs are those of the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbclient import NotebookClient

from tests.tutorial import NOTEBOOK, PAGE, steps

if TYPE_CHECKING:
    from pathlib import Path

# The times of events are of 2024, those of the clock are not.
CLOCK = re.compile(r"20(?!24)\d\d-\d\d-\d\d\s+\d\d:\d\d:\d\d(\.\d+)?")


def told(output: str) -> str:
    """Return an output without the times of the clock, and as one line: these wrap it."""
    return " ".join(CLOCK.sub("(clock)", output).split())


@pytest.mark.long
@pytest.mark.thorough
def test_the_notebook_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From top to bottom, in a session and a folder as of a user who has just installed it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    expected, _ = steps(PAGE.read_text(encoding="utf-8"))
    for step, cell in zip(expected, cells, strict=True):
        printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
        assert told(printed) == told(step.output), step.code
