"""Starting a query over a window's results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from eventtide import _jvm
from eventtide._text.arguments import of_type
from eventtide.errors import refused
from eventtide.windows._builder import WindowBuilder
from eventtide.windows._handled_query import HandledQuery
from eventtide.windows._named_query import NamedQuery

if TYPE_CHECKING:
    from eventtide.errors import InvalidArgumentError
    from eventtide.windows._handlers import LateHandler

__all__ = ["start"]

_FIX = "et.start(counts, counts.results.writeStream.format('console'))"


def start(
    window: WindowBuilder | DataFrame, writer: DataStreamWriter, *, drain: bool = False
) -> StreamingQuery:
    """Start a query over the results of a window, and the calls of its handler of late rows.

    .. versionadded:: 0.1

    Parameters
    ----------
    window : WindowBuilder or DataFrame
        The window, whose late rows are taken care of from here on; for Spark's own operators over
        `with_watermark`, the DataFrame that is written.
    writer : DataStreamWriter
        A writer over its `results`, or over a DataFrame made from them, with all of its options.
    drain : bool
        Whether the query, which has to have ``trigger(availableNow=True)``, closes every window
        after its last row, as at the end of a replay. By default windows that the watermark has not
        reached stay open for the next run.

    Returns
    -------
    StreamingQuery
        The running query, which raises what ends it by its name: `awaitTermination` and
        `processAllAvailable` need no `named_errors`. With `on_late` it is over when the calls are,
        too: `awaitTermination` and `stop` wait for those that what was committed still owes,
        `processAllAvailable` waits for the calls of what it has read, and `isActive` is true until
        the last.

    Raises
    ------
    ArgumentTypeError
        An argument is something else.
    InvalidArgumentError
        The writer writes something else than the results of this window, or cannot be drained: it
        has another trigger, or no eventtide watermark.
    EventtideError
        What eventtide refuses before the query begins. What it finds out when it begins, such as a
        checkpoint of another plan, comes with ``awaitTermination``.

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

    A query that is drained gives what a batch query over the same rows gives, but for rows that
    were late or refused: sessions end, count windows are given as far as they are filled, and keys
    that have watermarks of their own close too. It may be killed at any time and started again with
    ``drain=True``. Once it is over, no query goes on from its checkpoint: a start with
    ``drain=True`` ends without results if there are no new rows, and any other ends with
    `CheckpointError`, condition ``CHECKPOINT_DRAINED``.

    Without a handler this is ``writer.start()`` with errors by their names. With one,
    ``writer.start()`` is refused, since it calls no handler.

    Examples
    --------
    >>> import eventtide as et
    >>> query = et.start(counts, counts.results.writeStream.format("console"))  # doctest: +SKIP
    >>> replay = counts.results.writeStream.format("parquet").trigger(availableNow=True)
    ... # doctest: +SKIP
    >>> et.start(counts, replay, drain=True).awaitTermination()  # doctest: +SKIP
    """
    kinds, allowed = (WindowBuilder, DataFrame), "a window from et.window, or a DataFrame"
    of_type("window", window, kinds, allowed, _FIX)
    of_type("writer", writer, DataStreamWriter, "a writer, not yet started", _FIX)
    of_type("drain", drain, bool, "True or False", f"{_FIX[:-1]}, drain=True)")
    if isinstance(window, DataFrame):
        if not _jvm.writes(writer, window):
            raise _other(writer, "a writer of this DataFrame, df.writeStream")
        with _jvm.named_errors():
            return _jvm.start(writer, NamedQuery, drain=drain)
    handler = window.settings.on_late
    with _jvm.named_errors():
        position = _jvm.late_window(window.results, writer)
        if position is None:
            raise _other(writer, "a writer over window.results, or over what is made of them")
        if handler is None:
            return _jvm.start(writer, NamedQuery, drain=drain)
        query = _jvm.start(writer, HandledQuery, followed=True, drain=drain)
        return _with_companion(window, query, handler, position)


def _other(writer: DataStreamWriter, allowed: str) -> InvalidArgumentError:
    problem = "does not write the results of this window"
    return refused("writer", writer, problem, allowed=allowed, fix=_FIX)


def _with_companion(
    window: WindowBuilder, query: HandledQuery, handler: LateHandler, position: int
) -> StreamingQuery:
    try:
        query.follow(window.results.sparkSession, handler, position)
    except BaseException:
        StreamingQuery.stop(query)
        raise
    return query
