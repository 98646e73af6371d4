"""Starting a query over a window's results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.streaming.readwriter import DataStreamWriter

from eventtide import _jvm
from eventtide._arguments import of_type
from eventtide.windows.builder import WindowBuilder

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["start"]


def start(window: WindowBuilder, writer: DataStreamWriter) -> StreamingQuery:
    """Start a query over the results of a window.

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
        The running query.

    Raises
    ------
    ArgumentTypeError
        An argument is something else.
    EventtideError
        What eventtide refuses before the query begins. What it finds out when it begins, such as a
        checkpoint of another plan, comes with ``awaitTermination``, by its name in
        `named_errors`.

    Notes
    -----
    Today this is ``writer.start()`` with errors by their names. It is the place where a companion
    of the query starts, as soon as a window can have a handler for its late rows; a program that
    starts its queries here will not have to change.

    Examples
    --------
    >>> import eventtide as et
    >>> query = et.start(counts, counts.results.writeStream.format("console"))  # doctest: +SKIP
    """
    fix = "et.start(counts, counts.results.writeStream.format('console'))"
    of_type("window", window, WindowBuilder, "a window from et.window", fix)
    of_type("writer", writer, DataStreamWriter, "a writer, not yet started", fix)
    with _jvm.named_errors():
        return writer.start()
