"""Aggregates as SQL text, which need no session until the window has rows."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

__all__ = ["SqlAggregate", "columns"]


@dataclass(frozen=True)
class SqlAggregate:
    """An aggregate of a document."""

    name: str
    text: str

    @property
    def column(self) -> Column:
        """The aggregate as a Column."""
        return F.expr(self.text).alias(self.name)

    def __repr__(self) -> str:
        """Return the expression that creates the Column."""
        return f"F.expr({self.text!r}).alias({self.name!r})"


def columns(aggregates: tuple[Column | SqlAggregate, ...]) -> list[Column]:
    """Return aggregates as Columns; aggregates in SQL text need an active session."""
    return [one.column if isinstance(one, SqlAggregate) else one for one in aggregates]
