"""Conditions and aggregates of VoltSP windows over the columns of a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import BooleanType

from eventtide._text.columns import is_name
from eventtide.errors import ColumnTypeError, refused
from eventtide.windows._extractors import kind_over

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from eventtide.voltsp._aggregates import Aggregate

__all__ = ["check_condition", "made"]


def check_condition(condition: object, results: DataFrame) -> None:
    """Reject a condition that is not a BOOLEAN over these results."""
    column = F.expr(condition) if isinstance(condition, str) else cast("Column", condition)
    kind = kind_over("when", condition, column, results)
    if not (kind is None or isinstance(kind, BooleanType)):
        problem = f"has type {kind.simpleString().upper()}"
        fix = f"when='{results.columns[0]} > 100'"
        raise refused(
            "when", condition, problem, allowed="a BOOLEAN", fix=fix, error=ColumnTypeError
        )


def made(aggregate: Aggregate) -> Column:
    """Return the aggregate as a Spark Column."""
    kind, of = aggregate.kind, aggregate.of
    if kind == "expression":
        return F.expr(str(of)).alias(aggregate.name)
    is_text = isinstance(of, str) and not is_name(of)
    rows = F.expr(str(of)) if is_text else "*" if of is None else of
    return getattr(F, kind)(rows).alias(aggregate.name)  # type: ignore[no-any-return] # Spark's
