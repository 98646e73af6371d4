"""Writes the tables of what the campaigns have found into the pages that show them."""

from __future__ import annotations

import sys

from tests.chaos import tables
from tests.chaos.figures import ROOT

PAGES = {
    ROOT / "docs/explanation/guarantees.md": tables.full,
    ROOT / "README.md": tables.short,
}
BEGIN, END = "<!-- figures: dev/chaos table writes them -->", "<!-- end of figures -->"


def with_table(text: str, lines: str) -> str:
    """Return a page with the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the page has no {BEGIN} with {END} after it")
    return f"{before}{BEGIN}\n\n{lines}\n\n{END}{after}"


def main() -> int:
    """Write the tables into their pages."""
    for page, table in PAGES.items():
        page.write_text(with_table(page.read_text("utf-8"), table()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
