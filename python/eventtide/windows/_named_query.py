"""A running query that raises typed errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _bridge

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery as Query
else:
    Query = object

__all__ = ["NamedQuery"]


class NamedQuery(Query):
    """The methods of a query that raise eventtide's error classes, as in a `named_errors` block.

    A bridge combines them with the query class of its kind of session.
    """

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802 - PySpark's name
        """Wait until the query has ended, and raise its error."""
        with _bridge.named_errors_of(self):
            return super().awaitTermination(timeout)

    def processAllAvailable(self) -> None:  # noqa: N802 - PySpark's name
        """Wait until the query has read all available rows, and raise its error."""
        with _bridge.named_errors_of(self):
            super().processAllAvailable()

    def stop(self) -> None:
        """Stop the query."""
        with _bridge.named_errors_of(self):
            super().stop()
