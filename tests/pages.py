"""Reads what the docs claim: blocks, timelines, links and file names.

A Python block says on its fence how it is run: ```` ```python ```` without Spark, ```` ```python
spark ```` with a session, ```` ```python spark-4.1 ```` with one that has Delta and Iceberg,
```` ```python no-run ```` not at all. A timeline is a table with the
columns ``rows`` and ``watermark``; it belongs to the block before it. So does a ```` ```text ````
block behind the line ``It prints:``, which is what the block before it prints; ``...`` in it stands
for anything. A SQL block has statements, separated by ``;`` at the end of a line. A block with the
mark ``pipeline`` is a file of a pipeline, with its name on top.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    + [page for page in (ROOT / "docs").rglob("*.md") if page.name != "plan.md"]
)


@dataclass
class Timeline:
    """A table of steps: each is a dict by column."""

    line: int
    steps: list[dict[str, str]]


@dataclass
class Block:
    """A block, with the timelines that tell what it does."""

    page: str
    heading: str
    line: int
    language: str
    mark: str
    code: str
    timelines: list[Timeline] = field(default_factory=list)
    prints: str | None = None

    @property
    def name(self) -> str:
        """Where to find it, for the name of a test."""
        return f"{self.page}:{self.line} {self.heading}"


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of a page in some languages, or in Python, in order."""
    wanted = languages or ("python",)
    found: list[Block] = []
    heading, lines = "", page.read_text(encoding="utf-8").splitlines()
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("#"):
            heading = line.strip("# ")
        elif line.startswith("```"):
            end = lines.index("```", i + 1)
            code = "\n".join(lines[i + 1 : end]) + "\n"
            language, _, mark = line[3:].partition(" ")
            if language in wanted:
                found.append(Block(page.name, heading, i + 1, language, mark, code))
            elif language == "text" and "It prints:" in lines[max(i - 2, 0) : i] and found:
                found[-1].prints = code
            i = end
        elif {"rows", "watermark"} <= set(cells(line)) and found:
            end = next(
                (j for j in range(i, len(lines)) if not lines[j].startswith("|")), len(lines)
            )
            names = cells(line)
            rows = [dict(zip(names, cells(row), strict=True)) for row in lines[i + 2 : end]]
            found[-1].timelines.append(Timeline(i + 1, rows))
            i = end
        i += 1
    return found


def files(page: Path, mark: str) -> dict[str, str]:
    """Return the blocks with a mark by the name of a file, which is a comment in the first line."""
    found = re.findall(
        rf"^```\w+ {mark}\n((?:#|--) ([\w./-]+)\n.*?)^```$",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    return {name: code for code, name in found}


def cells(line: str) -> list[str]:
    """Return the cells of a table's line, none for another line."""
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def links(page: Path) -> list[str]:
    """Return where the links of a page lead."""
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose(page))


def anchors(page: Path) -> set[str]:
    """Return what can stand behind the ``#`` of a link to the page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def file_names(page: Path) -> set[str]:
    """Return the files and folders of this repository that a page names in code style."""
    named = re.findall(r"`([\w.\-/]+)`", prose(page))
    rooms = ("dev/", "docs/", "jvm/", "project/", "python/", "tests/", ".ci/", "benchmarks/")
    suffixes = (".py", ".scala", ".java", ".json", ".md", ".sbt", ".toml")
    return {name for name in named if name.startswith(rooms) or name.endswith(suffixes)}


def names(page: Path) -> set[str]:
    """Return the names of the package that a page has in code style, such as ``et.window``."""
    code = re.findall(r"`([^`\n]+)`", prose(page))
    named = {
        name
        for text in code
        for name in re.findall(r"(?<![\w./-])(?:et|eventtide)(?:\.[A-Za-z]\w*)+", text)
    }
    return {name for name in named if not name.endswith((".jar", ".json", ".yaml", ".md"))}


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
