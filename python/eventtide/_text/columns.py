"""Checks of column arguments that do not need Spark."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeAlias

from pyspark.sql import Column

from eventtide._text.arguments import of_type
from eventtide.errors import InvalidArgumentError, UnknownColumnError, sentence

__all__ = ["Substream", "check_column", "column_list", "listed", "shown", "substream_parts"]

Substream: TypeAlias = str | Column | Sequence[str | Column]
"""The columns that identify a substream: a column name, an expression, or several of them."""

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
        raise InvalidArgumentError(sentence(name, columns, problem, allowed=allowed, fix=fix))
    return list(columns)


def check_column(name: str, column: str | Column, columns: Sequence[str]) -> None:
    """Reject an unknown plain name; Spark checks nested, quoted and metadata names."""
    if isinstance(column, Column) or column.startswith("_") or set(column) & set(".`"):
        return
    known = {c.lower() for c in columns}  # Spark is case-insensitive by default
    if column.lower() not in known:
        near = get_close_matches(column, columns, n=1) or columns[:1] or ["ts"]
        allowed = f"one of {listed(columns)}"
        raise UnknownColumnError(
            sentence(name, column, "is not a column", allowed=allowed, fix=f"{name}={near[0]!r}")
        )


def listed(columns: Sequence[str]) -> str:
    """Return the names of the first columns and the number of the others, for an error text."""
    more = len(columns) - _SHOWN
    return ", ".join([*columns[:_SHOWN], *([f"{more} more"] if more > 0 else [])])


def shown(column: object) -> str:
    """Return a name unchanged, and a Column as the text of its expression."""
    return str(column).removeprefix("Column<'").removesuffix("'>")
