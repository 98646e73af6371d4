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


def column_name(name: str, column: object) -> str:
    """Return the name of a column that is given by its name or as a Column."""
    of_type(name, column, (str, Column), "a column name, or a Column", f"{name}='ts'")
    text = shown(column)
    if isinstance(column, Column) and not is_name(text):
        allowed, fix = "a column", f"df.withColumn('ts', {text}), and {name}='ts'"
        raise refused(name, column, "is an expression", allowed=allowed, fix=fix)
    return text


def is_name(text: str) -> bool:
    """Return whether a text is a column name and not an expression."""
    return _NAME.fullmatch(text) is not None


def check_column(
    name: str, column: str | Column, columns: Sequence[str], words: Sequence[str] = ()
) -> None:
    """Reject an unknown plain name; Spark checks nested, quoted and metadata names.

    `words` are values with a meaning of their own, which the caller has handled.
    """
    if isinstance(column, Column) or column.startswith("_") or set(column) & set(".`"):
        return
    known = {c.lower() for c in columns}  # Spark is case-insensitive by default
    if column.lower() not in known:
        near = get_close_matches(column, [*words, *columns], n=1) or columns[:1] or ["ts"]
        allowed = f"one of {listed(columns)}"
        if words:
            allowed = f"{', '.join(map(repr, words))}, or {allowed}"
        fix, problem = f"{name}={near[0]!r}", "is not a column"
        raise refused(name, column, problem, allowed=allowed, fix=fix, error=UnknownColumnError)


def listed(columns: Sequence[str]) -> str:
    """Return the names of the first columns and the number of the others, for an error text."""
    more = len(columns) - _SHOWN
    return ", ".join([*columns[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


def shown(column: object) -> str:
    """Return a name unchanged, and a Column as the text of its expression."""
    return str(column).removeprefix("Column<'").removesuffix("'>")
