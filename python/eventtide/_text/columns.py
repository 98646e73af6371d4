"""Checks of column arguments that do not need Spark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeAlias

from pyspark.sql import Column

from eventtide._text.arguments import of_type
from eventtide.errors import UnknownColumnError, refused

__all__ = [
    "Substream",
    "backquoted",
    "check_column",
    "column_list",
    "column_name",
    "is_name",
    "listed",
    "shown",
    "substream_parts",
]

Substream: TypeAlias = str | Column | Sequence[str | Column]
"""The columns that identify a substream: a column name, an expression, or several of them."""

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*|`[^`]+`")

_SHOWN = 20  # maximum columns in an error text


def substream_parts(substream: Substream | None) -> list[str | Column]:
    """Return the columns that together identify a substream, empty by default."""
    if substream is None:
        return []
    columns = [substream] if isinstance(substream, (str, Column)) else substream
    allowed, fix = "a column name, a Column, or a list of them", "substream=['site', 'device']"
    return column_list("substream", columns, allowed, fix)


def column_list(
    name: str, columns: Sequence[str | Column], allowed: str, fix: str
) -> list[str | Column]:
    """Return one or more columns, by name or as expressions; reject duplicate names."""
    of_type(name, columns, Sequence, allowed, fix)
    for column in columns:
        if not isinstance(column, Column):
            of_type(name, column, str, allowed, fix)
    names = [column for column in columns if isinstance(column, str)]
    if not columns or len(set(names)) < len(names):
        problem = "has a name twice" if names else "is empty"
        raise refused(name, columns, problem, allowed=allowed, fix=fix)
    return list(columns)


def column_name(name: str, column: object, columns: Sequence[str] | None) -> str:
    """Return the name of a column, given as a name or as a Column.

    `columns` are the existing names, None if there are no rows yet. A Column prints its name
    without quotes, so only these names show whether ``my ts`` is a name.
    """
    of_type(name, column, (str, Column), "a column name, or a Column", f"{name}='ts'")
    text = shown(column)
    if isinstance(column, str) or is_name(text) or columns is None or _is_in(text, columns):
        return text
    problem, fix = "is an expression", f"df.withColumn('ts', {text}), and {name}='ts'"
    if text.startswith("'"):
        problem, fix = "is a literal", f"{name}={text}"
    raise refused(name, column, problem, allowed="a column", fix=fix)


def is_name(text: str) -> bool:
    """Return whether a text is a column name and not an expression."""
    return _NAME.fullmatch(text) is not None


def check_column(
    name: str, column: str | Column, columns: Sequence[str] | None, words: Sequence[str] = ()
) -> None:
    """Reject an unknown plain name; Spark checks nested, quoted and metadata names.

    `columns` are the existing names; if they are None, the session checks all of them. `words` are
    values with a special meaning, which the caller has handled.
    """
    if (
        columns is None
        or isinstance(column, Column)
        or column.startswith("_")
        or set(column) & set(".`")
    ):
        return
    if not _is_in(column, columns):
        names = {name.lower(): name for name in [*columns, *words]}
        near = get_close_matches(column.lower(), names, n=1)
        nearest = names[near[0]] if near else columns[0] if columns else "ts"
        allowed = f"one of {listed(columns)}"
        if words:
            allowed = f"{', '.join(map(repr, words))}, or {allowed}"
        fix, problem = f"{name}={nearest!r}", "is not a column"
        raise refused(name, column, problem, allowed=allowed, fix=fix, error=UnknownColumnError)


def _is_in(column: str, columns: Sequence[str]) -> bool:
    """Return whether a column exists; Spark is case-insensitive by default."""
    return column.lower() in {name.lower() for name in columns}


def backquoted(name: str) -> str:
    """Return a name of one column as SQL.

    Examples
    --------
    >>> backquoted("a.b"), backquoted("`")
    ('`a.b`', '````')
    """
    return "`" + name.replace("`", "``") + "`"


def listed(columns: Sequence[str]) -> str:
    """Return the names of the first columns and the number of the others, for an error text."""
    more = len(columns) - _SHOWN
    return ", ".join([*columns[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


def shown(column: object) -> str:
    """Return a name unchanged, and a Column as the text of its expression."""
    text = str(column).removeprefix("Column<'").removesuffix("'>")
    # Spark Connect shows literals and counts of all rows differently; a classic column has no such
    # attribute, and would take its name for a field.
    inner = getattr(column, "__dict__", {}).get("_expr")
    if type(inner).__name__ == "LiteralExpression":
        return repr(getattr(inner, "_value", None))
    return text if inner is None else text.replace("unresolvedstar()", "*")
