"""The start of a query over a window's results."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide import _bridge
from eventtide._session_kind import is_connect, writers
from eventtide._text.arguments import of_type
from eventtide._worker.by_value import ByValue
from eventtide.errors import refused
from eventtide.windows._base import Described
from eventtide.windows._handled_query import HandledQuery
from eventtide.windows._named_query import NamedQuery

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from eventtide._bridge import Bridge
    from eventtide.errors import InvalidArgumentError
    from eventtide.windows._handlers import LateHandler

__all__ = ["check_written", "start"]

_FIX = "counts.start(counts.results.writeStream.format('console'))"


def start(
    window: Described | DataFrame, writer: DataStreamWriter, *, drain: bool = False
) -> StreamingQuery:
    """Start a query over the results of a window, and the calls of its late-row handler.

    Parameters
    ----------
    window : WindowBuilder or DataFrame
        The window, whose late rows are passed to its handler. For Spark operators over
        `with_watermark`, the written DataFrame.
    writer : DataStreamWriter
        A writer over the window's `results`, or over a DataFrame derived from them, with all of
        its options.
    drain : bool
        Whether the query closes every window after its last row, as at the end of a replay. The
        query must have ``trigger(availableNow=True)``. By default windows that the watermark has
        not reached stay open for the next run.

    Returns
    -------
    StreamingQuery
        The running query. Its `awaitTermination` and `processAllAvailable` raise eventtide's error
        classes without `named_errors`. With `on_late` it ends only when the calls are complete.
        `awaitTermination` and `stop` wait for the calls of all committed batches.
        `processAllAvailable` waits for the calls of the rows that it has read. `isActive` is true
        until the last call is complete.

    Raises
    ------
    ArgumentTypeError
        An argument has the wrong type.
    InvalidArgumentError
        The writer does not write the results of this window, or cannot be drained: it has another
        trigger, or no eventtide watermark.
    EventtideError
        Eventtide refuses the query before it starts. Errors that are detected while it runs, such
        as a checkpoint of another plan, are raised by ``awaitTermination``.

    Notes
    -----
    A companion, which is a separate query over the late log, calls the handler for one committed
    batch after the other. The companion never blocks the query. Its checkpoint is
    ``eventtide/handler`` in the checkpoint of the query. A restart continues with the first batch
    whose call is not complete, so each batch has at least one complete call. There is no time limit
    for a call.

    When a call fails under ``on_error="fail"``, both queries stop: `awaitTermination` and
    `processAllAvailable` raise `LateHandlerError`, whose cause is the handler's exception, and
    `exception` returns the companion's exception. Under ``"log"`` the exception is written to the
    logger ``eventtide``, and the batch counts as handled. An error that prevents reading
    the late log always stops both queries.

    A drained query returns the same results as a batch query over the same rows, except for rows
    that were late or rejected. Sessions end, count windows are emitted even if they are not full,
    and the windows of keys with their own watermarks close too. The query may be killed at any
    time and restarted with ``drain=True``. Once it has ended, no query can continue from its
    checkpoint: a start with ``drain=True`` ends without results if there are no new rows, and any
    other start ends with `CheckpointError`, condition ``CHECKPOINT_DRAINED``.

    Without a handler this is ``writer.start()`` with eventtide's error classes. With a handler,
    ``writer.start()`` is refused, because it does not call the handler.

    Examples
    --------
    >>> import eventtide as et
    >>> query = counts.start(counts.results.writeStream.format("console"))  # doctest: +SKIP
    >>> replay = counts.results.writeStream.format("parquet").trigger(availableNow=True)
    ... # doctest: +SKIP
    >>> counts.start(replay, drain=True).awaitTermination()  # doctest: +SKIP
    """
    kinds, allowed = (Described, DataFrame), "a window from et.window, or a DataFrame"
    of_type("window", window, kinds, allowed, _FIX)
    of_type("writer", writer, writers(), "a writer, not yet started", _FIX)
    of_type("drain", drain, bool, "True or False", f"{_FIX[:-1]}, drain=True)")
    bridge, position = check_written(window, writer)
    handler = None if isinstance(window, DataFrame) else window.settings.on_late
    with _bridge.named_errors():
        if handler is None or position is None:
            return bridge.start(writer, NamedQuery, drain=drain)
        if is_connect(writer):
            ByValue(handler.handler)  # before anything starts: it is sent to a worker later
        query = bridge.start(writer, HandledQuery, followed=True, drain=drain)
        return _with_companion(query, handler, position)


def check_written(
    window: Described | DataFrame, writer: DataStreamWriter
) -> tuple[Bridge, int | None]:
    """Return the bridge of a writer, and the index of the window in its plan, if there is one.

    Raises
    ------
    InvalidArgumentError
        The writer does not write the results of this window.
    """
    if isinstance(window, DataFrame):
        bridge = _bridge.of(window, writer)
        if not bridge.writes(writer, window):
            raise _other(writer, "a writer of this DataFrame, df.writeStream")
        return bridge, None
    with _bridge.named_errors():
        return _bridge.of(window.results, writer), _position(window.results, writer)


def _position(results: DataFrame, writer: DataStreamWriter) -> int:
    """Return the index, as in `read_late`, of the window of these results in a writer's plan."""
    bridge = _bridge.of(results)
    own = bridge.late_nodes(results)[:1]  # the inputs may have windows too
    written = bridge.late_nodes(bridge.written(writer))
    if own[0] not in written:
        raise _other(writer, "a writer over window.results, or over a DataFrame derived from them")
    return written.index(own[0])


def _other(writer: DataStreamWriter, allowed: str) -> InvalidArgumentError:
    problem = "does not write the results of this window"
    return refused("writer", writer, problem, allowed=allowed, fix=_FIX)


def _with_companion(query: HandledQuery, handler: LateHandler, position: int) -> StreamingQuery:
    try:
        query.follow(handler, position)
    except BaseException:
        with suppress(Exception):  # the first error says more
            query.stop()
            _bridge.of(query).release_late(query)
        raise
    return query
