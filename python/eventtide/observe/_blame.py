"""The substream that delays a watermark, and the next window to close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide.observe._progress import answer

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["blame"]


def blame(query: StreamingQuery) -> str:
    """Explain why a query's watermark is delayed, and which window closes next.

    Parameters
    ----------
    query : StreamingQuery
        A query over a DataFrame from `with_watermark`.

    Returns
    -------
    str
        The first sentence names the substream to blame, when it was last seen, and the effect of
        marking it idle. It is the substream with the lowest watermark in the input with the lowest
        watermark. An input of which no row has been read is named alone. An unknown watermark is
        lower than any other. If the clock moves the watermark without rows, no substream is to
        blame. The second sentence names the next window of `window` to close, and the remaining
        time or the watermark at which it closes.

    Raises
    ------
    InvalidArgumentError
        The query has no eventtide watermark.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    A running query logs the first sentence when its watermark has not moved for 100 batches with
    rows and five minutes. ``spark.eventtide.warn.stuckBatches`` and ``.stuckFor`` set these limits.

    Under ``watermark_scope("key")`` each key has its own watermark, and the query's watermark
    closes no windows. The text then names the keys with the lowest watermarks, and the next window
    to close. The state of a key is its state after the last batch. Only keys that were processed
    since the start of the query are considered; its first batch processes all keys.

    Examples
    --------
    >>> import eventtide as et
    >>> et.blame(query)  # doctest: +SKIP
    "'sensor-7' holds the watermark at 2026-01-01 12:00:00 UTC, 14m behind 'sensor-1', last ..."
    """
    said = answer(query, lambda bridge: bridge.blame(query))
    if query.isActive:
        return said
    how = "has stopped" if query.exception() is None else "has failed"
    return f"The query {how}; by its last batch: {said}"
