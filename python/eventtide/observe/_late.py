"""The late rows of a query, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _jvm
from eventtide._text.arguments import choice, of_type
from eventtide.errors import ArgumentTypeError, InvalidArgumentError, sentence
from eventtide.observe._location import checkpoint_location

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from pyspark.sql import DataFrame

__all__ = ["late_stream", "read_late"]


def read_late(
    spark: SparkSession,
    of: str | Path | StreamingQuery,
    *,
    window: int | None = None,
    missing: Literal["fail", "skip"] = "fail",
) -> DataFrame:
    """Return the current late rows of a query as a batch DataFrame.

    .. versionadded:: 0.1

    Parameters
    ----------
    spark : SparkSession
        The session for reading; it may differ from the session of the query.
    of : str, Path or StreamingQuery
        The query's checkpoint location, or the query itself, running or stopped.
    window : int, optional
        The index of the query's window, from 0. Not needed if the query has one window.
    missing : {"fail", "skip"}
        The action if a part of the log is missing: raise an error that names the missing part, or
        read the remaining rows.

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
    >>> et.read_late(spark, "/data/checkpoint").groupBy("_reason").count()  # doctest: +SKIP
    """
    fix = "et.read_late(spark, '/data/checkpoint')"
    if not _jvm.is_connect(spark):
        of_type("spark", spark, SparkSession, "a SparkSession", fix)
    choice("missing", missing, ("fail", "skip"))
    options = _options(of, window, fix)
    return _jvm.read_late(spark, options if missing == "fail" else {**options, "missing": missing})


def late_stream(of: str | Path | StreamingQuery, *, window: int | None = None) -> DataFrame:
    """Return the late rows of a query as a stream in the active session; see `read_late`."""
    options = _options(of, window, "bolt.stream('late', '/data/checkpoint')")
    return _jvm.stream_late(SparkSession.active(), options)


def _options(of: str | Path | StreamingQuery, window: int | None, fix: str) -> dict[str, str]:
    options = {"checkpoint": checkpoint_location(of, fix)}
    if isinstance(of, StreamingQuery):
        _jvm.await_late_log(of)
    return options if window is None else {**options, "window": _position(window)}


def _position(window: int) -> str:
    allowed = "a whole number of zero or more"
    if not isinstance(window, int) or isinstance(window, bool):
        problem = f"has type {type(window).__name__}"
        raise ArgumentTypeError(
            sentence("window", window, problem, allowed=allowed, fix="window=0")
        )
    if window < 0:
        raise InvalidArgumentError(
            sentence("window", window, "is out of range", allowed=allowed, fix="window=0")
        )
    return str(window)
