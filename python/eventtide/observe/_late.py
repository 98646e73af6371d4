"""The rows that came too late for their windows, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _jvm
from eventtide._text.arguments import choice, of_type
from eventtide.errors import ArgumentTypeError, InvalidArgumentError, sentence
from eventtide.observe._checkpoints import checkpoint_location

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
    """Return the late rows of a query, as many as there are now.

    .. versionadded:: 0.1

    Parameters
    ----------
    spark : SparkSession
        The session to read in; it need not be the one of the query.
    of : str, Path or StreamingQuery
        The query's checkpoint location, or the query itself, running or stopped.
    window : int, optional
        Which of the query's windows, counted from 0. Not needed where there is one.
    missing : {"fail", "skip"}
        What to do when a part of the log is missing: refuse to read it, with what is missing, or
        read what there is.

    Returns
    -------
    DataFrame
        The columns of the rows, then ``_substream``, ``_key``, ``_event_time``, ``_watermark``,
        ``_late_by``, ``_reason``, ``_windows_missed`` and ``_batch_id``, null where unknown.

    Raises
    ------
    CheckpointError
        There is no late log in the checkpoint, or a part of it is missing: entries of its index, or
        late files, which are looked at when the rows are read.
    InvalidArgumentError
        The query has several windows and none is chosen, or one that is not there; or `missing` is
        neither of the two.
    SetupError
        The session has no eventtide, or not this version of it.

    Notes
    -----
    Only rows of committed batches are there, each once, also while the query runs and after Spark
    has purged its own logs. The same log as a stream is
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
    """Return the late rows of a query as a stream, in the active session; as `read_late`."""
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
