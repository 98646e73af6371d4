"""Writes the table of methods in docs/reference/scala.md from the settings: dev/tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import settings_page
from tests.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs/reference/scala.md"
BEGIN, END = "<!-- methods: dev/tables writes this table -->\n", "<!-- end of methods -->\n"

# Arguments in Python that are methods in Scala, because Java has no arguments by name.
METHODS = ("maximum_duration", "touching", "discarding", "late_updates")


def page() -> str:
    """Return the page with its table."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = "\n".join(table())
    return f"{before}{BEGIN}\n{lines}\n\n{END}{after}"


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| method | value | default | |\n|---|---|---|---|"
    for row in settings_page.rows():
        if row["of"] == "window" and row.get("kinds") != ["storm"] and row["type"] != "function":
            value, default = settings_page.value_of(row), row["default"] or ""
            yield f"| {name_of(row)} | {value} | {default} | {row['doc']} |"


def name_of(row: dict[str, Any]) -> str:
    """Return the methods that set a row of the table."""
    option = row.get("option")
    if option in METHODS:
        flag = row["type"] == "flag"
        return f"`{camel(option)}({'' if flag else option.rpartition('_')[2]})`"
    methods = dict.fromkeys(name.partition(".")[0] for name in row["python"])
    return ", ".join(f"`{camel(method)}({', '.join(arguments(method))})`" for method in methods)


def arguments(method: str) -> list[str]:
    """Return the arguments of a method, as the table of settings names them."""
    rows = (row for row in settings_page.rows() if row.get("option") not in METHODS)
    names = (name.partition(".") for row in rows for name in row.get("python", ()))
    return [camel(argument) for of, _, argument in names if of == method and argument]


def camel(name: str) -> str:
    """Return a name in camel case."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
