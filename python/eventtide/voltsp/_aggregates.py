"""The aggregates of a window, for `with_aggregate_definition`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import Column

from eventtide._text.arguments import of_type
from eventtide.errors import refused
from eventtide.windows._extractors import check_extractor

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Aggregate", "AggregateDefinition"]


@dataclass(frozen=True, eq=False, repr=False)
class Aggregate:
    """One aggregate: its kind, the name of its column, and its input."""

    kind: str
    name: str
    of: str | Column | None = None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        of_type("name", self.name, str, "a name for the new column", "name='total'")
        if self.kind == "expression":
            fix = "expression='count_if(ok)'"
            of_type("expression", self.of, str, "SQL text of an aggregate", fix)
        elif self.of is not None or self.kind != "count":
            check_extractor("column", self.of)

    def __repr__(self) -> str:
        """Return the method call that creates this aggregate."""
        if self.kind == "count" and self.of is None:
            return "count()" if self.name == "count" else f"count({self.name!r})"
        return f"{self.kind}({self.name!r}, {self.of!r})"


@dataclass(frozen=True, eq=False, repr=False)
class AggregateDefinition:
    """The aggregates of a window, initially empty in `VoltSPWindow.with_aggregate_definition`.

    Each method returns a new definition with one more aggregate. A column is a name, SQL text over
    the rows, or a Column.

    Examples
    --------
    >>> AggregateDefinition().count().sum("total", "amount").avg("mean", "amount * rate")
    count().sum('total', 'amount').avg('mean', 'amount * rate')
    """

    aggregates: tuple[Aggregate | Column, ...] = ()

    def count(self, name: str = "count", column: str | Column | None = None) -> Self:
        """Count the rows, or the rows in which the column is not null."""
        return self._and(Aggregate("count", name, column))

    def sum(self, name: str, column: str | Column) -> Self:
        """Compute the sum of the values."""
        return self._and(Aggregate("sum", name, column))

    def avg(self, name: str, column: str | Column) -> Self:
        """Compute the mean of the values."""
        return self._and(Aggregate("avg", name, column))

    def min(self, name: str, column: str | Column) -> Self:
        """Compute the lowest value."""
        return self._and(Aggregate("min", name, column))

    def max(self, name: str, column: str | Column) -> Self:
        """Compute the highest value."""
        return self._and(Aggregate("max", name, column))

    def expression(self, name: str, expression: str) -> Self:
        """Compute any mergeable aggregate, as SQL text."""
        return self._and(Aggregate("expression", name, expression))

    def agg(self, *columns: Column) -> Self:
        """Compute any mergeable Spark aggregates, as for `WindowBuilder.agg`."""
        fix = ".agg(F.max('ts').alias('latest'))"
        for column in columns:
            of_type("agg", column, Column, "aggregates of Spark, one after the other", fix)
        return self._and(*columns)

    def __repr__(self) -> str:
        """Return the method calls that create this definition."""
        return ".".join(
            repr(one) if isinstance(one, Aggregate) else f"agg({one!r})" for one in self.aggregates
        )

    def _and(self, *more: Aggregate | Column) -> Self:
        aggregates = (*self.aggregates, *more)
        names = [one.name for one in aggregates if isinstance(one, Aggregate)]
        for name in {name for name in names if names.count(name) > 1}:
            allowed, fix = "names that differ", f"name='{name}_2'"
            raise refused("name", name, "is already used", allowed=allowed, fix=fix)
        return type(self)(aggregates)
