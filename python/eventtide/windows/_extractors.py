"""Extractors: column names, SQL text or Columns where other systems use functions of a row."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import LongType, TimestampNTZType, TimestampType

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide._text.columns import check_column, is_name, listed, shown
from eventtide.errors import ColumnTypeError, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

__all__ = [
    "EXTRACTED_TIME",
    "check_extractor",
    "extracted",
    "extracted_time",
    "kind_over",
    "made_of",
]

EXTRACTED_TIME = "_extracted_event_time"
"""The column of an event time that is computed by an expression."""

_FIRST_MILLIS, _LAST_MILLIS = -62_135_596_800_000, 253_402_300_799_999  # of the years 1 to 9999
# A class name begins with an upper-case letter, so a cast such as ts::timestamp does not match.
_METHOD = re.compile(r"(?:\w+\.)*[A-Z]\w*::(\w+)")


def check_extractor(name: str, extractor: object) -> None:
    """Reject extractors that are neither a column nor an expression, and Java method references.

    Examples
    --------
    >>> check_extractor("key_extractor", "org.acme.Event::userId")
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: key_extractor='org.acme.Event::userId' is a Java ...
    """
    allowed, fix = "a column name, SQL text or a Column", f"{name}='user_id'"
    of_type(name, extractor, (str, Column), allowed, fix)
    if isinstance(extractor, str) and (method := _METHOD.fullmatch(extractor.strip())):
        problem = "is a Java method, but rows here have columns"
        allowed = f"{allowed}; a cast as CAST(... AS ...)"
        fix = f"{name}={method[1]!r}"
        raise refused(name, extractor, problem, allowed=allowed, fix=fix)


def extracted(name: str, extractor: str | Column, df: DataFrame) -> str | Column:
    """Return the name of an existing column, or an expression over the rows as a Column."""
    columns = _bridge.columns(df)
    if isinstance(extractor, str) and (extractor in (columns or ()) or is_name(extractor)):
        check_column(name, extractor, columns)
        return extractor
    column = extractor if isinstance(extractor, Column) else F.expr(extractor)
    kind_over(name, extractor, column, df)
    return column


def extracted_time(
    name: str, extractor: str | Column, df: DataFrame, *, millis: bool = False
) -> str | Column:
    """Return the column or expression of the time of a row, after a check of its type.

    Parameters
    ----------
    millis : bool
        Whether a BIGINT is accepted too, as milliseconds since 1970; not in a flow of a pipeline,
        where the type is unknown.
    """
    column = extracted(name, extractor, df)
    kind = kind_over(name, extractor, column, df)
    if millis and isinstance(kind, LongType):
        return _of_millis(F.col(column) if isinstance(column, str) else column)
    if not (kind is None or isinstance(kind, (TimestampType, TimestampNTZType))):
        problem = f"has type {kind.simpleString().upper()}"
        time = f"to_timestamp({extractor if isinstance(extractor, str) else shown(column)})"
        numbers = ", or a BIGINT with milliseconds since 1970" if millis else ""
        allowed, fix = f"a TIMESTAMP or a TIMESTAMP_NTZ{numbers}", f"{name}={time!r}"
        raise refused(name, extractor, problem, allowed=allowed, fix=fix, error=ColumnTypeError)
    return column


def _of_millis(column: Column) -> Column:
    """Return milliseconds as a time, null outside years 1 to 9999, where Spark would fail."""
    return F.when(column.between(_FIRST_MILLIS, _LAST_MILLIS), F.timestamp_millis(column))


def kind_over(name: str, given: object, column: str | Column, df: DataFrame) -> DataType | None:
    """Return the type of a column over these rows; `given` is the argument as the user wrote it.

    It is None in a flow of a pipeline, where the server checks the column.
    """
    with made_of(df, name, given):
        one = df.select(column)
        schema = _bridge.of(one).schema(one)
    return None if schema is None else schema[0].dataType


@contextmanager
def made_of(df: DataFrame, name: str, given: object) -> Iterator[None]:
    """Convert an AnalysisException in the block to an error that names the argument."""
    try:
        yield
    except AnalysisException as error:
        first = str(error).strip().partition("\n")[0].partition(" SQLSTATE")[0].rstrip(". ")
        allowed = f"an expression over {listed(df.columns)}"
        fix = f"it in df.selectExpr(...), or one of {listed(df.columns)}"
        raise refused(name, given, f"is wrong: {first}", allowed=allowed, fix=fix) from None
