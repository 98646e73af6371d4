"""The late rows of a query, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide import _bridge
from eventtide._session_kind import is_query
from eventtide._text.arguments import choice, count
from eventtide.observe._location import QueryOrPath, located

if TYPE_CHECKING:
    from typing import Literal

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["late_stream", "read_late"]


def read_late(
    query: QueryOrPath,
    *,
    window: int | None = None,
    missing: Literal["fail", "skip"] = "fail",
    spark: SparkSession | None = None,
) -> DataFrame:
    """Return the current late rows of a query as a batch DataFrame.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    window : int, optional
        The index of the query's window, from 0. Not needed if the query has one window.
    missing : {"fail", "skip"}
        The action if a part of the log is missing: raise an error that names the missing part, or
        read the remaining rows.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    DataFrame
        The columns of the rows, then ``_substream``, ``_key``, ``_event_time``, ``_watermark``,
        ``_late_by``, ``_reason``, ``_windows_missed`` and ``_batch_id``, null if unknown.

    Raises
    ------
    CheckpointError
        The checkpoint has no late log, or a part of it is missing: entries of its index, or late
        files, which are checked when the rows are read.
    InvalidArgumentError
        The query has several windows and `window` is None, or the window does not exist. Or
        `missing` is not valid.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The result has the rows of committed batches only, each once, even while the query runs and
    after Spark has purged its logs. The same log as a stream is
    ``spark.readStream.format("eventtide-late").option("checkpoint", path)``.

    Examples
    --------
    >>> import eventtide as et
    >>> et.read_late("/data/checkpoint").groupBy("_reason").count()  # doctest: +SKIP
    """
    choice("missing", missing, ("fail", "skip"))
    session, options = _options(query, window, spark, "et.read_late('/data/checkpoint')")
    more = {} if missing == "fail" else {"missing": missing}
    return _bridge.of(session).read_late(session, options | more)


def late_stream(query: QueryOrPath, *, window: int | None = None) -> DataFrame:
    """Return the late rows of a query as a stream; see `read_late`."""
    session, options = _options(query, window, None, "bolt.stream('late', '/data/checkpoint')")
    return _bridge.of(session).stream_late(session, options)


def _options(
    query: QueryOrPath, window: int | None, spark: SparkSession | None, fix: str
) -> tuple[SparkSession, dict[str, str]]:
    session, checkpoint = located(query, spark, fix)
    if is_query(query):
        _bridge.of(query).await_late_log(query)
    index = {} if window is None else {"window": count("window", window, "0", least=0)}
    return session, {"checkpoint": checkpoint, **index}
