"""The hooks of the site: blocks of several languages become tabs."""

from __future__ import annotations

import runpy
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

PYTHON, SCALA, SQL = (
    "```python\nx = 1\n\ny\n```",
    "```scala\nval x = 1\n```",
    "```sql\nSELECT 1\n```",
)


@pytest.fixture(scope="module")
def tabbed() -> Callable[[str], str]:
    """Return what makes tabs."""
    made: Callable[[str], str] = runpy.run_path(str(ROOT / "project" / "site_hooks.py"))["tabbed"]
    return made


def tab(label: str, block: str) -> str:
    """Return a tab in the syntax of pymdownx; that in Python begins a set."""
    begin = "===!" if label == "Python" else "==="
    return f'{begin} "{label}"\n\n' + textwrap.indent(block, "    ")


def test_blocks_that_follow_each_other_are_tabs(tabbed: Callable[[str], str]) -> None:
    """In two or three languages, with the text around them as it was."""
    tabs = [tab("Python", PYTHON), tab("Scala", SCALA), tab("SQL", SQL)]
    shown = tabbed(f"a\n\n{PYTHON}\n\n{SCALA}\n\n{SQL}\n\nb\n")
    assert shown == "\n\n".join(["a", *tabs, "b\n"])
    assert tabbed(f"{PYTHON}\n{SQL}\n") == "\n\n".join([tabs[0], tabs[2]]) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{PYTHON}\n",
        f"{PYTHON}\n\n{PYTHON}\n",
        f"{PYTHON}\n\nIn Scala:\n\n{SCALA}\n",
        f"{PYTHON}\n\n```text\nx\n```\n\n{SCALA}\n",
        f"{PYTHON}\n\n```java\nx;\n```\n",
    ],
)
def test_other_blocks_stay(text: str, tabbed: Callable[[str], str]) -> None:
    """One block, two of one language, with text between them, or in another language."""
    assert tabbed(text) == text


def test_a_language_begins_the_next_tabs(tabbed: Callable[[str], str]) -> None:
    """Two examples, each in two languages."""
    tabs = [tab("Python", PYTHON), tab("Scala", SCALA)]
    assert tabbed("\n\n".join([PYTHON, SCALA] * 2)) == "\n\n".join(tabs * 2)
