"""A running query whose errors come by their names."""

from __future__ import annotations

from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _jvm

__all__ = ["NamedQuery"]


class NamedQuery(StreamingQuery):
    """A query that raises eventtide's errors as `named_errors` does, without it."""

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802 - PySpark's name
        """Wait for its end, and raise what it ended by."""
        with _jvm.named_errors():
            return super().awaitTermination(timeout)

    def processAllAvailable(self) -> None:  # noqa: N802 - PySpark's name
        """Wait until the query has read all there is, and raise what it ended by."""
        with _jvm.named_errors():
            super().processAllAvailable()

    def stop(self) -> None:
        """Stop the query."""
        with _jvm.named_errors():
            super().stop()
