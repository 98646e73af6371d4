"""The closed windows of a query, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _bridge
from eventtide._text.arguments import count
from eventtide.observe._location import located

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from eventtide.observe._location import QueryOrPath

__all__ = ["completeness"]


def completeness(
    query: QueryOrPath, *, window: int = 0, spark: SparkSession | None = None
) -> DataFrame:
    """Return the windows of a query that have closed, and how complete they are.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    window : int
        The position of the window in the query, from 0.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    DataFrame
        A row for each closed window with rows, over all keys: ``window``, ``closed_at`` (the time
        of the batch that closed it), ``batch_id``, ``rows``, ``late`` (rows that have come too late
        for it until now) and ``expected_missing`` (rows that were expected to come too late when it
        closed, by the disorder of the rows before; null if it is not known).

    Raises
    ------
    InvalidArgumentError
        The query has no such window, or its rows are not counted by window: each key has its own
        watermark, or it has triggers, or it is not a tumbling, sliding or cumulative window.
    CheckpointError
        There is no checkpoint, or it belongs to a query without an eventtide watermark.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The result has the windows that committed batches have closed, each once, even while the query
    runs. The checkpoint keeps the last 10 000 of them, or as many as
    ``spark.eventtide.completeness.windows`` says in the session of the query. In real-time mode
    windows are not counted. The same as a stream is
    ``spark.readStream.format("eventtide-completeness").option("checkpoint", path)``.

    Examples
    --------
    >>> import eventtide as et
    >>> closed = et.completeness("/data/checkpoint")  # doctest: +SKIP
    >>> closed.selectExpr("window.end", "rows / (rows + expected_missing)")  # doctest: +SKIP
    """
    session, checkpoint = located(query, spark, "et.completeness('/data/checkpoint')")
    options = {"checkpoint": checkpoint, "window": count("window", window, "0", least=0)}
    return _bridge.of(session).completeness(session, options)
