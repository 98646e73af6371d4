"""The companion query, which calls the late-row handler for each batch that has late rows."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark import InheritableThread
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _bridge
from eventtide.errors import LateHandlerError
from eventtide.windows._handlers import LateContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from eventtide.windows._handlers import LateHandler

__all__ = ["Companion"]

_log = logging.getLogger("eventtide")
_by_place: dict[str, Companion] = {}


class Companion:
    """A streaming query over the late log that calls the handler of the main query.

    Each of its micro-batches is one batch of the main query, so a completed call is not repeated.
    It ends when the main query has ended and every call is complete. If a call fails, it ends at
    that call and stops the main query.

    Attributes
    ----------
    over : Event
        Set when both queries have ended.
    failure : Exception or None
        The error that ended the companion. None if it ended because the main query ended.
    is_replaced : bool
        Whether a later run of the query has a companion, which makes the remaining calls.
    """

    def __init__(
        self, query: StreamingQuery, late: LateHandler, rows: DataFrame, window: int
    ) -> None:
        """Start the companion of a running query, over the late rows of one of its windows."""
        self.over = threading.Event()
        self.failure: Exception | None = None
        self._query, self._late = query, late
        self._checkpoint = _bridge.of(query).checkpoint_of(query)
        self._caller: int | None = None  # the thread of the current call
        self.is_replaced = False
        self._place = f"{self._checkpoint}/eventtide/handler/{window}"
        self._replace_earlier()
        name = f"late rows of {query.name or query.id}"
        writer = rows.writeStream.foreachBatch(self._take).queryName(name)
        self.run = writer.option("checkpointLocation", self._place).start()
        _by_place[self._place] = self
        self._drains = InheritableThread(target=self._drain, name=f"end of {name}", daemon=True)
        self._drains.start()
        InheritableThread(target=self._watch, name=name, daemon=True).start()

    def _replace_earlier(self) -> None:
        """Wait until the companion of an earlier run has ended; this one continues its calls."""
        earlier = _by_place.get(self._place)
        if earlier is not None:
            earlier.is_replaced = True
            earlier.over.wait()

    @property
    def calls_here(self) -> bool:
        """Whether the current thread is the thread of a call, which must not wait for itself."""
        return self._caller == threading.get_ident()

    def check(self) -> None:
        """Raise the error that ended the companion, if there is one."""
        if self.failure is not None:
            raise self.failure

    def catch_up(self) -> None:
        """Wait for the calls of all committed batches, or raise the error of the companion."""
        with suppress(StreamingQueryException):
            self.run.processAllAvailable()
        if self.run.exception() is not None:
            self.over.wait()
        self.check()

    def _take(self, rows: DataFrame, _: int) -> None:
        if self.is_replaced:
            raise _ReplacedError
        counted = rows.groupBy("_batch_id", "_reason").count().collect()
        for batch_id in {row["_batch_id"] for row in counted}:  # at most one batch
            reasons = {row["_reason"]: row["count"] for row in counted}
            known = MappingProxyType(dict(sorted(reasons.items())))
            self._call(rows, LateContext(self._query, batch_id, known, self._checkpoint))

    def _call(self, rows: DataFrame, context: LateContext) -> None:
        self._caller = threading.get_ident()
        try:
            self._late.handler(rows, context)
        except Exception as error:
            if self._late.on_error == "log":
                text = (
                    "The handler of late rows, %s, failed for batch %d of query %s, which"
                    " continues."
                )
                _log.exception(text, self._late.title, context.batch_id, context.query.id)
            else:
                self.failure = _failed(self._late, context, error)
                raise
        finally:
            self._caller = None

    def _drain(self) -> None:
        """Wait for the end of the query, make the remaining calls, and stop the companion."""
        with suppress(Exception):  # the query itself raises it to its waiters
            StreamingQuery.awaitTermination(self._query)
        with suppress(Exception):  # reported by the thread of _watch
            self.run.processAllAvailable()
            self.run.stop()

    def _watch(self) -> None:
        """Stop the query if the companion fails; set `over` when both have ended."""
        try:
            with _bridge.named_errors():
                self.run.awaitTermination()
        except Exception as error:  # noqa: BLE001 - raised to callers that wait for the query
            if not self.is_replaced:
                self.failure = self.failure or error
                with suppress(Exception):  # the session may have ended
                    StreamingQuery.stop(self._query)
        self._drains.join()
        with suppress(Exception):
            _bridge.of(self._query).release_late(self._query, failed=self.failure is not None)
        _by_place.pop(self._place, None)
        self.over.set()


class _ReplacedError(Exception):
    """Ends a replaced companion before its next call, which its successor makes."""


def _failed(late: LateHandler, context: LateContext, error: Exception) -> LateHandlerError:
    failed = LateHandlerError(
        f"The handler of late rows, {late.title}, failed for batch {context.batch_id} of query"
        f" {context.query.id}, which was stopped: {error!r}. Start the query again to have it"
        " called for that batch again, or only log its errors: on_late(handler, on_error='log')."
    )
    failed.__cause__ = error
    return failed
