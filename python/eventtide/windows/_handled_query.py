"""The query handle of a window with a late-row handler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _bridge
from eventtide.windows._companion import Companion
from eventtide.windows._named_query import NamedQuery

if TYPE_CHECKING:
    from pyspark.errors import StreamingQueryException
    from pyspark.sql import SparkSession

    from eventtide.windows._handlers import LateHandler

__all__ = ["HandledQuery"]


class HandledQuery(NamedQuery):
    """A query and its companion as one query: it ends with both, and fails if either fails.

    Properties that Spark reports, such as the progress, are the properties of the query alone.
    """

    companion: Companion | None = None

    def follow(self, session: SparkSession, late: LateHandler, window: int) -> None:
        """Start the companion, unless the query ended before its late log existed."""
        rows = _bridge.of(self).follow_late(session, self, window)
        if rows is None:
            _bridge.of(self).release_late(self, failed=False)
        else:
            self.companion = Companion(self, late, rows, window)

    @property
    def _calls(self) -> Companion | None:
        """The companion to wait for; None within a call, which would wait for itself."""
        inside = self.companion is not None and self.companion.calls_here
        return None if inside else self.companion

    @property
    def isActive(self) -> bool:  # noqa: N802 - PySpark's name
        """Whether the query runs, or calls for its committed batches are pending."""
        calls = self._calls
        return super().isActive or (calls is not None and not calls.over.is_set())

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802
        """Wait until the query and its companion have ended, and raise the error of either."""
        calls = self._calls
        if calls is not None and not calls.over.wait(timeout):
            return False
        ended = super().awaitTermination(timeout)
        if calls is not None:
            calls.check()
        return ended

    def processAllAvailable(self) -> None:  # noqa: N802 - PySpark's name
        """Wait until the query has read all available rows and the calls for them are complete."""
        calls = self._calls
        super().processAllAvailable()
        if calls is not None:
            calls.catch_up()

    def stop(self) -> None:
        """Stop the query, and wait for the pending calls."""
        calls = self._calls
        super().stop()
        if calls is not None:
            calls.over.wait()

    def exception(self) -> StreamingQueryException | None:
        """Return the error of the query, or otherwise the error of its companion."""
        own = super().exception()
        if own is None and self.companion is not None and self.companion.failure is not None:
            return self.companion.run.exception()
        return own
