"""Columns and SQL expressions in place of Java's extractors, and the aggregates over them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from pyspark.errors import AnalysisException
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import BooleanType, TimestampNTZType, TimestampType

from eventtide._arguments import of_type
from eventtide._columns import check_column, listed, shown
from eventtide.errors import ColumnTypeError, refused, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from eventtide.voltsp.aggregates import Aggregate

__all__ = [
    "check_condition",
    "check_extractor",
    "extracted",
    "extracted_time",
    "made",
    "made_of",
]

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


def extracted(name: str, extractor: str | Column, df: DataFrame) -> str | Column:
    """Return the name of a column that is there, or an expression over the rows as a Column."""
    if isinstance(extractor, str) and (extractor in df.columns or _NAME.fullmatch(extractor)):
        check_column(name, extractor, df.columns)
        return extractor
    column = extractor if isinstance(extractor, Column) else F.expr(extractor)
    _kind_over(name, extractor, column, df)
    return column


def extracted_time(extractor: str | Column, df: DataFrame) -> str | Column:
    """Return what tells the time of a row, once it proved to be a time."""
    name = "event_time_extractor"
    column = extracted(name, extractor, df)
    kind = _kind_over(name, extractor, column, df)
    if not isinstance(kind, (TimestampType, TimestampNTZType)):
        problem = f"has type {kind.simpleString().upper()}"
        time = f"to_timestamp({extractor if isinstance(extractor, str) else shown(column)})"
        allowed, fix = "a TIMESTAMP or a TIMESTAMP_NTZ", f"{name}={time!r}"
        raise ColumnTypeError(sentence(name, extractor, problem, allowed=allowed, fix=fix))
    return column


def check_condition(condition: object, results: DataFrame) -> None:
    """Refuse a condition that is none over these results."""
    column = F.expr(condition) if isinstance(condition, str) else cast("Column", condition)
    kind = _kind_over("when", condition, column, results)
    if not isinstance(kind, BooleanType):
        problem = f"has type {kind.simpleString().upper()}"
        fix = f"when='{results.columns[0]} > 100'"
        raise ColumnTypeError(sentence("when", condition, problem, allowed="a BOOLEAN", fix=fix))


def _kind_over(name: str, given: object, column: str | Column, df: DataFrame) -> DataType:
    with made_of(df, name, given):
        return df.select(column).schema[0].dataType


@contextmanager
def made_of(df: DataFrame, name: str, given: object) -> Iterator[None]:
    """Refuse by its name what Spark cannot make of the rows."""
    try:
        yield
    except AnalysisException as error:
        first = str(error).strip().partition("\n")[0].partition(" SQLSTATE")[0].rstrip(". ")
        allowed = f"what is made of {listed(df.columns)}"
        fix = f"it in df.selectExpr(...), or one of {listed(df.columns)}"
        raise refused(name, given, f"is wrong: {first}", allowed=allowed, fix=fix) from None


def made(aggregate: Aggregate) -> Column:
    """Return the aggregate as Spark has it."""
    kind, of = aggregate.kind, aggregate.of
    if kind == "expression":
        return F.expr(str(of)).alias(aggregate.name)
    is_text = isinstance(of, str) and not _NAME.fullmatch(of)
    rows = F.expr(str(of)) if is_text else "*" if of is None else of
    return getattr(F, kind)(rows).alias(aggregate.name)  # type: ignore[no-any-return] # Spark's
