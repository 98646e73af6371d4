"""A running query that raises typed errors."""

from __future__ import annotations

from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _bridge

__all__ = ["NamedQuery"]


class NamedQuery(StreamingQuery):
    """A query that raises eventtide's error classes, as in a `named_errors` block."""

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802 - PySpark's name
        """Wait until the query has ended, and raise its error."""
        with _bridge.named_errors():
            return super().awaitTermination(timeout)

    def processAllAvailable(self) -> None:  # noqa: N802 - PySpark's name
        """Wait until the query has read all available rows, and raise its error."""
        with _bridge.named_errors():
            super().processAllAvailable()

    def stop(self) -> None:
        """Stop the query."""
        with _bridge.named_errors():
            super().stop()
