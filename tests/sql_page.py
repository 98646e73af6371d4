"""Writes the tables of docs/reference/sql.md anew from the table of settings: dev/tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.pages import ROOT
from tests.settings_page import LIMITS, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs/reference/sql.md"
MARK = "<!-- Written by dev/tables from here on. -->"
GROUPS = {
    "watermark": ("Arguments of watermarks", "Of `eventtide_watermark` and `eventtide_window`."),
    "window": ("Arguments of windows", "Of `eventtide_window`."),
}
NOT_IN_SQL = {"on_late", "result"}
TYPES = {
    "column": "a column",
    "columns": "columns",
    "policy": "a policy, with its parameters and `decorators` as further arguments",
    "count or names": "a count, or an array of names",
    "flag": "`true` or `false`",
    "size": "a duration, or a calendar size",
    "length": "a duration, or a count",
    "instant": "a TIMESTAMP, or its text",
    "positive duration, or never": "a duration above zero, or `'never'`",
    "choice or columns": "`'key'`, `'global'` or columns",
}


def page() -> str:
    """Return the page: the text before the mark, and the tables."""
    before, _, _ = PAGE.read_text("utf-8").partition(MARK)
    return before + MARK + "\n\n" + "\n".join(tables())


def tables() -> Iterator[str]:
    """Yield the lines of all tables."""
    for of, (title, about) in GROUPS.items():
        yield f"## {title}\n\n{about}\n"
        yield "| argument | value | default | |\n|---|---|---|---|"
        for row in arguments(of):
            value = value_of(row)
            yield f"| `{name_of(row)}` | {value} | {row['default'] or ''} | {row['doc']} |"
        yield ""


def arguments(of: str) -> Iterator[dict[str, Any]]:
    """Yield the settings of a group that SQL has."""
    for row in rows():
        option = row.get("option", "")
        if row["of"] != of or option in NOT_IN_SQL:
            continue
        if option == "length.time":
            doc = "The length of a window of Storm's, in time or in rows."
            yield row | {"option": "length", "type": "length", "least": None, "doc": doc}
        elif "." not in option:
            yield row


def name_of(row: dict[str, Any]) -> str:
    """Return the name of a setting in SQL: its option or, if it has none, its name in Python."""
    if "option" in row:
        return str(row["option"])
    method, _, argument = row["python"][0].partition(".")
    return str(argument if method == "with_watermark" else method)


def value_of(row: dict[str, Any]) -> str:
    """Return the type of a value and its limits."""
    if row["type"] == "choice":
        return ", ".join(f"`'{choice}'`" for choice in row["choices"])
    text, least = TYPES.get(row["type"], f"a {row['type']}"), row.get("least")
    if row["type"] in {"aggregates", "triggers"}:
        text = row["type"]
    if isinstance(least, int):
        return f"{text}, {least} or more"
    return text + LIMITS.get(least, "")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
