"""The start of a query with its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide import _bridge
from eventtide._session_kind import writers
from eventtide._text.arguments import of_type
from eventtide.windows._base import Described
from eventtide.windows._named_query import NamedQuery
from eventtide.windows._starting import check_written

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

__all__ = ["backfill"]

_FIX = "et.backfill(counts, spark.table('events'), counts.results.writeStream.format('delta'))"


def backfill(
    window: Described | DataFrame, history: DataFrame, writer: DataStreamWriter
) -> StreamingQuery:
    """Start a query that reads years of history as one batch, before it reads its stream.

    The query writes the results of all windows that the watermark closes, and ends. Windows that
    are open stay in its checkpoint. Then start the query as usual, with the same checkpoint
    location: it continues with its stream, and adds the stream's rows to the open windows.

    Parameters
    ----------
    window : WindowBuilder or DataFrame
        The window over the stream. For Spark operators over `with_watermark`, the written
        DataFrame.
    history : DataFrame
        A batch with the columns of the stream that the window is over, by name and with the same
        types, in any order. A column that it lacks is computed as the stream computes it, if that
        is possible: a history with the columns ``key`` and ``value`` of Kafka is enough for a
        stream that parses them. A condition of the stream holds for its rows too.
    writer : DataStreamWriter
        A writer over the window's `results`, or over a DataFrame derived from them, with all of
        its options, among them a ``checkpointLocation`` that is new. Its trigger is not used.

    Returns
    -------
    StreamingQuery
        The running query. It ends by itself: `awaitTermination` waits for it, and raises
        eventtide's error classes.

    Raises
    ------
    ArgumentTypeError
        An argument has the wrong type.
    InvalidArgumentError
        The writer does not write the results of this window, or has no checkpoint location. The
        history is a stream, or lacks a column of the stream or of its conditions. The query reads
        several streams, or its watermark is on the ingestion time.
    EventtideError
        Eventtide refuses the query before it starts. Errors that are detected while it runs, such
        as a checkpoint that a stream has used already, are raised by ``awaitTermination``.

    Notes
    -----
    All windows, and all later results, equal those of a batch query over history and stream, except
    for rows of the stream that are late. No row is read twice, if the stream begins where the
    history ends: say so with its own options, such as ``startingOffsets`` of Kafka. No row of the
    history is late.

    The history is batch 0 of the query. If the query is killed, start it again with the same
    history: it reads all of it once more, and writes batch 0 once more, as Spark repeats any batch.
    A start without the history is refused until the history has been read.

    A substream of the history that has no rows in the stream holds back the watermark, as any
    silent substream. `substream_idle_timeout` releases it.

    Examples
    --------
    >>> import eventtide as et
    >>> writer = counts.results.writeStream.format("delta")  # doctest: +SKIP
    >>> writer = writer.option("checkpointLocation", "/checkpoints/counts")  # doctest: +SKIP
    >>> et.backfill(counts, spark.table("events"), writer).awaitTermination()  # doctest: +SKIP
    >>> query = counts.start(writer)  # doctest: +SKIP
    """
    kinds, allowed = (Described, DataFrame), "a window from et.window, or a DataFrame"
    of_type("window", window, kinds, allowed, _FIX)
    of_type("history", history, DataFrame, "a batch DataFrame", _FIX)
    of_type("writer", writer, writers(), "a writer, not yet started", _FIX)
    bridge, _ = check_written(window, writer)
    with _bridge.named_errors():
        return bridge.backfill(writer, NamedQuery, history)
