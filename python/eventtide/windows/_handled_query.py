"""The query handle of a window with a late-row handler."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from eventtide import _bridge
from eventtide._session_kind import is_connect
from eventtide._worker.by_value import ByValue
from eventtide._worker.late_calls import LateCalls
from eventtide.errors import LateHandlerError
from eventtide.windows._named_query import NamedQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.errors import StreamingQueryException
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from eventtide.windows._handlers import LateHandler

__all__ = ["HandledQuery"]

# The modules that a worker of a server needs.
_OF_WORKERS = ("eventtide.errors", "eventtide._worker.late_calls", __name__)
_RAISED = re.compile(r"^\S*LateHandlerError: (.*)", re.MULTILINE)


class HandledQuery(NamedQuery):
    """A query and its companion as one query: it ends with both, and fails if either fails.

    The companion is a query over the late log that calls the handler. The JVM ties the two:
    ``LateCompanion``. Properties that Spark reports, such as the progress, are the properties of
    the query alone.
    """

    companion: StreamingQuery | None = None
    _caller: int | None = None  # the thread of the current call
    _failure: LateHandlerError | None = None

    def follow(self, late: LateHandler, window: int) -> None:
        """Start the companion, unless the query ended before its late log existed."""
        bridge = _bridge.of(self)
        options = bridge.follow_late(self, window)
        if options is None:
            bridge.release_late(self)
            return
        reader = bridge.session_of(self).readStream.format("eventtide-late").options(**options)
        rows = (reader.name("late_rows") if bridge.has_named_sources(self) else reader).load()
        writer = rows.writeStream.foreachBatch(self._function(late, options["checkpoint"]))
        writer = writer.queryName(f"late rows of {self.name or self.id}")
        companion = writer.option("checkpointLocation", options["companion"]).start()
        try:
            bridge.await_companion(self, companion)
        except BaseException:
            companion.stop()
            raise
        self.companion = companion

    def _function(self, late: LateHandler, checkpoint: str) -> Callable[[DataFrame, int], None]:
        logs, title = late.on_error == "log", late.title
        if is_connect(self):
            query_of = _Found(self.id, self.runId, self.name)
            calls = LateCalls(late.handler, title, logs, checkpoint, query_of)
            return ByValue(calls, *_OF_WORKERS)
        return self._kept(LateCalls(late.handler, title, logs, checkpoint, lambda _: self))

    def _kept(self, calls: LateCalls) -> Callable[[DataFrame, int], None]:
        """Return the calls, which keep their thread and their error for this process."""

        def call(rows: DataFrame, batch: int) -> None:
            self._caller = threading.get_ident()
            try:
                calls(rows, batch)
            except LateHandlerError as failure:
                self._failure = failure
                raise
            finally:
                self._caller = None

        return call

    @property
    def _waits(self) -> bool:
        """Whether this thread waits for the calls; within a call it would wait for itself."""
        return self.companion is not None and self._caller != threading.get_ident()

    def _check(self) -> None:
        """Raise the error that ended the companion, if there is one."""
        if self.companion is None or self.companion.exception() is None:
            return
        try:
            with _bridge.named_errors_of(self):
                self.companion.awaitTermination()
        except Exception as error:
            if self._failure is not None:
                raise self._failure  # noqa: B904 - it has its cause
            if (raised := _raised(error)) is not None:
                raise raised from error
            raise

    @property
    def isActive(self) -> bool:  # noqa: N802 - PySpark's name
        """Whether the query runs, or calls for its committed batches are pending."""
        return super().isActive or (self._waits and not _bridge.of(self).await_calls(self, 0))

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802
        """Wait until the query and its companion have ended, and raise the error of either."""
        if timeout is not None and not timeout > 0:
            return super().awaitTermination(timeout)  # which PySpark refuses
        if self._waits and not _bridge.of(self).await_calls(self, timeout):
            return False
        ended = super().awaitTermination(timeout)
        if self._waits:
            self._check()
        return ended

    def processAllAvailable(self) -> None:  # noqa: N802 - PySpark's name
        """Wait until the query has read all available rows and the calls for them are complete."""
        super().processAllAvailable()
        if self._waits:
            _bridge.of(self).catch_up_calls(self)
            self._check()

    def stop(self) -> None:
        """Stop the query, and wait for the pending calls."""
        super().stop()
        if self._waits:
            _bridge.of(self).await_calls(self, None)

    def exception(self) -> StreamingQueryException | None:
        """Return the error of the query, or otherwise the error of its companion."""
        own = super().exception()
        return own if own is not None or self.companion is None else self.companion.exception()


class _Found:
    """Finds the main query in a worker of a server."""

    def __init__(self, query: str, run: str, name: str | None) -> None:
        self._of = (query, run, name)

    def __getstate__(self) -> tuple[str, str, str | None]:
        """Return the ids and the name of the query."""
        return self._of

    def __setstate__(self, of: tuple[str, str, str | None]) -> None:
        """Keep the session of the query, which is active before a worker has its first batch."""
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - of a server

        self._of, self._session = of, SparkSession.active()

    def __call__(self, _: DataFrame) -> StreamingQuery:
        """Return the query. The session of its rows may be a clone, which does not know it."""
        from pyspark.sql.connect.streaming import query  # noqa: PLC0415 - of a server

        found: StreamingQuery = query.StreamingQuery(self._session, *self._of)  # type: ignore[assignment]
        return found


def _raised(error: Exception) -> LateHandlerError | None:
    """Return the error that a worker of a server has raised, whose text the server keeps."""
    found = _RAISED.findall(str(error))
    return LateHandlerError(found[-1]) if found else None
