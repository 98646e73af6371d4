"""Why a window is open or has closed, and why a row was late."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import Column, Row
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide import _bridge
from eventtide._text.arguments import count, of_type
from eventtide._text.times import micros_since_epoch
from eventtide.errors import refused
from eventtide.observe._late import read_late
from eventtide.observe._location import located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from eventtide.observe._location import QueryOrPath

__all__ = ["why", "why_late"]

_WINDOW = ("a start and an end, such as the column `window` of a result", "window=row.window")
_OF_LATE = ("_reason", "_batch_id", "_event_time", "_watermark", "_substream", "_key")
_ROW = ("a row of et.read_late(query), or a condition on its columns", "row=\"user = 'a'\"")


def why(
    query: QueryOrPath,
    window: Row | Sequence[datetime | str],
    *,
    index: int = 0,
    spark: SparkSession | None = None,
) -> str:
    """Explain why a window is open, or when it closed and by what.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    window : Row or sequence of two datetime or str
        The start and the end of the window, such as the column `window` of a result. A time without
        a time zone is in the zone of this process, as PySpark returns times. Times of type
        TIMESTAMP_NTZ count as UTC: give them with it, as ``"2026-01-01T00:00:00Z"``. Text is in ISO
        8601.
    index : int
        The position of the window in the query, from 0.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    str
        For a closed window: the batch that moved the watermark to its end, the substream that held
        the watermark until then, and what released it: rows, idleness or the clock. For an open
        one: how far the watermark is from its end, and the text of `blame`.

    Raises
    ------
    InvalidArgumentError
        `window` is not two times, the query has no such window, its windows close by the number of
        their rows, or each key has its own watermark.
    CheckpointError
        There is no checkpoint, or it belongs to a query without an eventtide watermark.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The answer comes from the last batches in the checkpoint, of which Spark's setting
    ``spark.sql.streaming.minBatchesToRetain`` says how many there are.

    Examples
    --------
    >>> import eventtide as et
    >>> et.why(query, ("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"))  # doctest: +SKIP
    "Window [2026-01-01 00:00:00, 2026-01-01 00:10:00) UTC closed at 2026-01-01 00:10:00 UTC. ..."
    """
    bounds = _bounds(window)
    session, checkpoint = located(query, spark, "et.why(query, window)")
    question = {"window": count("index", index, "0", least=0), **bounds}
    return _bridge.of(session).why(session, checkpoint, question)


def _bounds(window: Row | Sequence[datetime | str]) -> dict[str, str]:
    allowed, fix = _WINDOW
    if isinstance(window, str) or not hasattr(window, "__len__") or len(window) != 2:  # noqa: PLR2004
        raise refused("window", window, "is not a window", allowed=allowed, fix=fix)
    return {name: str(_micros(time)) for name, time in zip(("start", "end"), window, strict=True)}


def _micros(time: datetime | str) -> int:
    allowed, fix = _WINDOW
    try:
        if isinstance(time, str):
            time = datetime.fromisoformat(time.strip().replace("Z", "+00:00"))
        return micros_since_epoch(time.astimezone())
    except (AttributeError, OverflowError, TypeError, ValueError):  # also NaT of pandas
        problem = "has a bound that is not a time, or is outside the years 1 to 9999 in UTC"
        raise refused("window", time, problem, allowed=allowed, fix=fix) from None


def why_late(
    query: QueryOrPath,
    row: Row | str | Column,
    *,
    index: int = 0,
    spark: SparkSession | None = None,
) -> str:
    """Explain why a row was late, and which lag would have kept it.

    Parameters
    ----------
    query, index, spark
        As for `why`.
    row : Row, str or Column
        A row of `read_late`, or a condition on its columns, which chooses the last such row.

    Returns
    -------
    str
        When the row came, the batch and the substream that moved the watermark past it, and how
        much longer a lag would have kept it on time. If its key has its own watermark, the key is
        named in place of the batch and the substream. A row that was refused for another reason
        than the watermark has one sentence with the reason.

    Raises
    ------
    InvalidArgumentError
        `row` is not a late row, or no late row fits the condition; otherwise as for `why`.
    CheckpointError, SetupError
        As for `why`.

    Examples
    --------
    >>> import eventtide as et
    >>> et.why_late(query, "user = 'a'")  # doctest: +SKIP
    "The row of 2026-01-01 00:00:10 UTC came in batch 20, 15s behind the watermark ..."
    """
    allowed, fix = _ROW
    of_type("row", row, (Row, str, Column), allowed, fix)
    late = row if isinstance(row, Row) else _last(query, row, index, spark)
    if not {*_OF_LATE} <= {*getattr(late, "__fields__", ())}:
        raise refused("row", late, "is not a row of the late log", allowed=allowed, fix=fix)
    session, checkpoint = located(query, spark, "et.why_late(query, row)")
    question = {"window": count("index", index, "0", least=0), **_asked(late)}
    return _bridge.of(session).why(session, checkpoint, question)


def _last(
    query: QueryOrPath, condition: str | Column, index: int, spark: SparkSession | None
) -> Row:
    rows = read_late(query, window=index, spark=spark).where(condition)
    found = rows.orderBy(F.desc("_batch_id")).first()
    if found is None:
        allowed, fix = _ROW
        problem = "fits no row of the late log"
        raise refused("row", condition, problem, allowed=allowed, fix=fix)
    return found


def _asked(late: Row) -> dict[str, str]:
    times = {name: late[f"_{name}"] for name in ("event_time", "watermark")}
    names = {name: late[f"_{name}"] for name in ("substream", "key")}
    known = {name: _micros(time) if time is not None else 0 for name, time in times.items()}
    asked = {"reason": late["_reason"], "batch": late["_batch_id"], **known}
    asked |= {name: value for name, value in names.items() if value is not None}
    return {name: str(value) for name, value in asked.items()}
