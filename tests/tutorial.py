"""Writes docs/tutorial/first-15-minutes.ipynb from the page: python -m tests.tutorial.

Text becomes Markdown cells, a block marked ``tutorial`` a code cell. A ``text`` block behind it is
its output, which tests/spark/test_tutorial.py compares with that of a run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tests.pages import ROOT

PAGE = ROOT / "docs/tutorial/first-15-minutes.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")

FENCE = re.compile(r"^```(python tutorial|text)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass
class Step:
    """A code block of the page, with the text before it and the output behind it."""

    text: str
    code: str
    output: str = ""


def steps(page: str) -> tuple[list[Step], str]:
    """Return the steps of a page, and the text behind the last one."""
    found: list[Step] = []
    at = 0
    for block in FENCE.finditer(page):
        text, (kind, code), at = page[at : block.start()], block.groups(), block.end()
        if kind != "text":
            found.append(Step(text.strip(), code.rstrip()))
        elif text.strip():
            raise ValueError(f"An output stands behind its block, but this behind text: {text}")
        else:
            found[-1].output = code
    return found, page[at:].strip()


def notebook(page: str) -> str:
    """Return the text of the notebook."""
    found, end = steps(page)
    cells: list[dict[str, object]] = []
    for count, step in enumerate(found, 1):
        if step.text:
            cells.append(cell("markdown", step.text))
        stream = {"name": "stdout", "output_type": "stream", "text": lines(step.output)}
        outputs = [stream] if step.output else []
        cells.append(cell("code", step.code) | {"execution_count": count, "outputs": outputs})
    cells.append(cell("markdown", end))
    for number, made in enumerate(cells):
        made["id"] = f"cell-{number}"
    document = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def cell(kind: str, text: str) -> dict[str, object]:
    """Return a cell without what only code has."""
    return {"cell_type": kind, "metadata": {}, "source": lines(text)}


def lines(text: str) -> list[str]:
    """Return the lines of a text, as a notebook keeps it."""
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
