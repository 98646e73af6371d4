"""Starting a query over a window's results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from eventtide import _jvm
from eventtide._arguments import of_type
from eventtide.errors import refused
from eventtide.windows.builder import WindowBuilder
from eventtide.windows.companion import follow
from eventtide.windows.handled_query import HandledQuery

if TYPE_CHECKING:
    from eventtide.windows.handlers import LateHandler

__all__ = ["start"]

_FIX = "et.start(counts, counts.results.writeStream.format('console'))"


def start(window: WindowBuilder, writer: DataStreamWriter) -> StreamingQuery:
    """Start a query over the results of a window, and the calls of its handler of late rows.

    .. versionadded:: 0.1

    Parameters
    ----------
    window : WindowBuilder
        The window, whose late rows are taken care of from here on.
    writer : DataStreamWriter
        A writer over its `results`, or over a DataFrame made from them, with all of its options.

    Returns
    -------
    StreamingQuery
        The running query. With `on_late` it is over when the calls are, too: `awaitTermination` and
        `stop` wait for those that what was committed still owes, `processAllAvailable` waits for
        the calls of what it has read, and `isActive` is true until the last.

    Raises
    ------
    ArgumentTypeError
        An argument is something else.
    InvalidArgumentError
        The window has a handler, and the writer writes something else than its results.
    EventtideError
        What eventtide refuses before the query begins. What it finds out when it begins, such as a
        checkpoint of another plan, comes with ``awaitTermination``, by its name in
        `named_errors`.

    Notes
    -----
    The handler is called by a companion, a query of its own over the late log, for one committed
    batch after the other. It never holds the query itself, and its checkpoint is
    ``eventtide/handler`` in that of the query: a restart goes on with the first batch whose call
    has not ended, so each has at least one call that did. Nothing bounds how long a call may take.

    When a call fails under ``on_error="fail"``, both queries stop: `awaitTermination` and
    `processAllAvailable` raise `LateHandlerError`, whose cause is the handler's exception, and
    `exception` has the companion's. Under ``"log"`` the exception stands in the log of this module,
    and the batch counts as handled. What keeps the late log from being read stops both in any case.

    Without a handler this is ``writer.start()`` with errors by their names.

    Examples
    --------
    >>> import eventtide as et
    >>> query = et.start(counts, counts.results.writeStream.format("console"))  # doctest: +SKIP
    """
    of_type("window", window, WindowBuilder, "a window from et.window", _FIX)
    of_type("writer", writer, DataStreamWriter, "a writer, not yet started", _FIX)
    handler = window.settings.on_late
    with _jvm.named_errors():
        return writer.start() if handler is None else _with_companion(window, writer, handler)


def _with_companion(
    window: WindowBuilder, writer: DataStreamWriter, handler: LateHandler
) -> StreamingQuery:
    position = _jvm.late_window(window.results, writer)
    if position is None:
        problem = "does not write the results of this window, whose late rows have a handler"
        allowed = "a writer over window.results, or over what is made of them"
        raise refused("writer", writer, problem, allowed=allowed, fix=_FIX)
    query = _jvm.start_with_late(writer, HandledQuery)
    try:
        follow(window.results.sparkSession, query, handler, position)
    except BaseException:
        StreamingQuery.stop(query)
        raise
    return query
