"""Writes the tables of docs/reference/voltsp.md anew, each behind its mark: dev/tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pages import ROOT, cells
from tests.spark.conftest import new_session
from tests.spark.volt_tables import tables

if TYPE_CHECKING:
    from tests.spark.volt_cells import Table

PAGE = ROOT / "docs/reference/voltsp.md"
PUBLISHED = Path(__file__).with_name("volt_published.json")
MARKED = re.compile(r"^(<!-- table: ([\w-]+) -->\n\n)((?:\|.*\n)*)", flags=re.MULTILINE)


def main() -> None:
    """Write the page."""
    made = tables(new_session())
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), made), "utf-8")


def with_tables(page: str, made: dict[str, Table]) -> str:
    """Return a page with these tables, and with what they have otherwise than VoltSP's page."""
    all_tables = {**made, "deviations": deviations(made)}
    return MARKED.sub(lambda found: found[1] + markdown(all_tables[found[2]]), page)


def tables_of(page: str) -> dict[str, Table]:
    """Return the marked tables of a page."""
    return {found[2]: parsed(found[3].splitlines()) for found in MARKED.finditer(page)}


def parsed(lines: list[str]) -> Table:
    """Return the cells of a table, none without lines."""
    names, *rows = [cells(line) for line in lines if not line.startswith("|---")] or [[]]
    return [dict(zip(names, row, strict=True)) for row in rows]


def markdown(table: Table) -> str:
    """Return a table as a page has it."""
    rows = [list(table[0]), *(list(line.values()) for line in table)]
    head, *others = [f"| {' | '.join(row)} |\n" for row in rows]
    return f"{head}{'|---' * len(table[0])}|\n{''.join(others)}"


def published() -> dict[str, str]:
    """Return the cells of VoltSP's page, by table, batch or clock, and column."""
    return dict(json.loads(PUBLISHED.read_text("utf-8"))["cells"])


def listed() -> dict[str, str]:
    """Return the published cells that ours differ from, with the reasons."""
    return dict(json.loads(PUBLISHED.read_text("utf-8"))["deviations"])


def by_name(made: dict[str, Table]) -> dict[str, str]:
    """Return all cells under the names that published ones have."""
    named: dict[str, str] = {}
    for table, lines in made.items():
        for line in lines:
            step = line["Clock"] if line["Batch"] == "-" else line["Batch"]
            named |= {f"{table}/{step}/{column}": text for column, text in line.items()}
    return named


def deviations(made: dict[str, Table]) -> Table:
    """Return the table of the cells that are listed."""
    theirs, ours = published(), by_name(made)
    return [
        {"Cell": f"`{name}`", "VoltSP's page": theirs[name], "Here": ours[name], "Because": why}
        for name, why in listed().items()
    ]


if __name__ == "__main__":
    main()
