"""Who holds a watermark back, and what closes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _jvm
from eventtide.observe._progress import of_kind, without_watermark

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["blame"]


def blame(query: StreamingQuery) -> str:
    """Say who holds a query's watermark back, since when, what would help, and what closes next.

    .. versionadded:: 0.1

    Parameters
    ----------
    query : StreamingQuery
        A query over a DataFrame from `with_watermark`.

    Returns
    -------
    str
        A sentence with what would happen if the one to blame were marked idle. The one to blame
        is, of the input with the lowest watermark, the substream with the lowest; one whose
        watermark is unknown is lower than any other. Where the clock moves the watermark without
        rows, nobody is to blame. A second sentence says which window of `window` closes next, and
        in how long by the clock, or at which watermark.

    Raises
    ------
    InvalidArgumentError
        The query has no eventtide watermark.
    SetupError
        The session has no eventtide, or not this version of it.

    Notes
    -----
    A running query logs the sentence by itself when its watermark has not moved for 100 batches
    with rows and five minutes, or what ``spark.eventtide.warn.stuckBatches`` and ``.stuckFor`` say.

    Where each key has a watermark of its own, under ``watermark_scope("key")``, that of the query
    closes nothing: the keys with the lowest watermarks are named, and the window that is due next.
    What is said of a key is so after the last batch. Of the keys only those are looked at that had
    a turn since the query was started, in which its first batch gives all a turn.

    Examples
    --------
    >>> import eventtide as et
    >>> et.blame(query)  # doctest: +SKIP
    "'sensor-7' holds the watermark at 2026-01-01 12:00:00 UTC, 14m behind 'sensor-1', since ..."
    """
    said = _jvm.blame(of_kind(query))
    if said is None:
        raise without_watermark(query)
    if query.isActive:
        return said
    how = "has stopped" if query.exception() is None else "has failed"
    return f"The query {how}; by its last batch: {said}"
