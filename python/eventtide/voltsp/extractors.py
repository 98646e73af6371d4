"""Columns and SQL expressions in place of Java's extractors, and the aggregates over them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._arguments import of_type
from eventtide._columns import check_column
from eventtide.errors import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["aggregate", "check_extractor", "extracted"]

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*|`[^`]+`")
# A class has an upper-case letter in front; so a cast such as ts::timestamp is none.
_METHOD = re.compile(r"(?:\w+\.)*[A-Z]\w*::(\w+)")


def check_extractor(name: str, extractor: object) -> None:
    """Refuse what is neither a column nor an expression, and Java's methods.

    Examples
    --------
    >>> check_extractor("key_extractor", "org.acme.Event::userId")
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: key_extractor='org.acme.Event::userId' is a method ...
    """
    allowed, fix = "a column name, SQL text or a Column", f"{name}='user_id'"
    of_type(name, extractor, (str, Column), allowed, fix)
    if isinstance(extractor, str) and (method := _METHOD.fullmatch(extractor.strip())):
        problem = "is a method of Java, and rows here have columns"
        allowed = f"{allowed}; a cast as CAST(... AS ...)"
        fix = f"{name}={method[1]!r}"
        raise refused(name, extractor, problem, allowed=allowed, fix=fix)


def extracted(name: str, extractor: str | Column, columns: Sequence[str]) -> str | Column:
    """Return the name of a column that is there, or an expression as a Column."""
    if isinstance(extractor, Column):
        return extractor
    if extractor in columns or _NAME.fullmatch(extractor):
        check_column(name, extractor, columns)
        return extractor
    return F.expr(extractor)


def aggregate(kind: str, name: str, of: str | Column | None) -> Column:
    """Return the aggregate of that kind, under that name."""
    if kind == "expression":
        return F.expr(str(of)).alias(name)
    is_text = isinstance(of, str) and not _NAME.fullmatch(of)
    rows = F.expr(str(of)) if is_text else "*" if of is None else of
    return getattr(F, kind)(rows).alias(name)  # type: ignore[no-any-return] # Spark's aggregates
