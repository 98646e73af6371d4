"""Who holds a watermark back, in one sentence: computed from the progress alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from eventtide.durations import in_words
from eventtide.query_progress import InputWatermark, QueryWatermark, SubstreamProgress, progress

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["blame", "verdict"]


def blame(query: StreamingQuery) -> str:
    """Say in one sentence who holds a query's watermark back, since when, and what would help.

    .. versionadded:: 0.1

    Parameters
    ----------
    query : StreamingQuery
        A query over a DataFrame from `with_watermark`.

    Returns
    -------
    str
        One sentence, with what would happen if the one to blame were marked idle.

    Raises
    ------
    InvalidArgumentError
        The query has no eventtide watermark.
    SetupError
        The session has no eventtide, or not this version of it.

    Examples
    --------
    >>> import eventtide as et
    >>> et.blame(query)  # doctest: +SKIP
    "'sensor-7' holds the watermark at 2026-01-01 12:00:00 UTC, 14m behind 'sensor-1', since ..."
    """
    said = progress(query)
    if query.isActive:
        return verdict(said)
    how = "has stopped" if query.exception() is None else "has failed"
    return f"The query {how}; by its last batch: {verdict(replace(said, holding=False))}"


def verdict(query: QueryWatermark) -> str:
    """Say who holds the watermark back; see `blame`.

    Parameters
    ----------
    query : QueryWatermark
        From `progress` or `parse_progress`.

    Returns
    -------
    str
        One sentence. The one to blame is, of the input with the lowest watermark, the substream
        with the lowest; one whose watermark is unknown is lower than any other.
    """
    if query.holding:
        return (
            f"The restart holds the watermark{_at(query.emitted)} until the sources have caught up;"
            " with on_restart='resume' the clock would move it at once."
        )
    if not any(source.substreams for source in query.inputs):
        return "Nobody holds the watermark back: no row has been seen yet, so there is none."
    counting = [source for source in query.inputs if _counting(source.substreams)]
    if not counting:
        return f"Nobody holds the watermark back{_at(query.ideal)}: every substream is idle."
    source = min(counting, key=lambda one: _order(one.ideal))
    culprit = min(_counting(source.substreams), key=lambda one: _order(one.watermark))
    if (query.bad_time or query.future) and all(one.top is None for one in source.substreams):
        return (
            f"There is no watermark, since no row could be used: {query.bad_time} had no event time"
            f" that Spark can show, {query.future} were too far ahead of the clock."
        )
    name = repr(culprit.name)
    if len(query.inputs) > 1:
        name += f" of input {source.position}"
    if culprit.reason == "backlog":
        remedy = "its partition has rows that were not read yet, so that it cannot be idle"
    else:
        remedy = _remedy(query.ideal, _without(culprit, source, counting))
    return f"{name} {_accusation(culprit, source)}; {remedy}."


def _accusation(culprit: SubstreamProgress, source: InputWatermark) -> str:
    if culprit.watermark is None:
        seen = "has not been seen" if culprit.state == "expected" else "has no watermark yet"
        return f"{seen} since {_utc(culprit.since)}, so there is no watermark"
    leader = max(source.substreams, key=lambda one: _order(one.top))
    behind = culprit.lag_behind_leader or timedelta()
    who = f", {_length(behind)} behind {leader.name!r}" if behind else ""
    return f"holds the watermark{_at(culprit.watermark)}{who}, last seen at {_utc(culprit.since)}"


def _remedy(now: datetime | None, without: datetime | None) -> str:
    if without is None:
        return "marked idle, there would still be none, since others are unknown too"
    if now is not None and without <= now:
        return "marked idle, the watermark would stay where it is"
    return f"marked idle, the watermark would go to {_utc(without)}"


def _without(
    culprit: SubstreamProgress, source: InputWatermark, counting: Iterable[InputWatermark]
) -> datetime | None:
    """Return the ideal watermark if `culprit` were idle: the lowest of what is left."""
    others = [other for other in _counting(source.substreams) if other is not culprit]
    inputs = [other.ideal for other in counting if other is not source]
    if others:
        return min([*(other.watermark for other in others), *inputs], key=_order)
    if inputs:
        return min(inputs, key=_order)
    # The last one to go idle releases the highest watermark of any substream.
    return max((one.watermark for one in source.substreams), key=_order)


def _counting(substreams: Iterable[SubstreamProgress]) -> list[SubstreamProgress]:
    return [one for one in substreams if one.state != "idle"]


def _order(time: datetime | None) -> tuple[bool, float]:
    """Sort unknown below every time."""
    return (time is not None, time.timestamp() if time is not None else 0.0)


def _length(length: timedelta) -> str:
    return in_words(length // timedelta(microseconds=1))


def _at(time: datetime | None) -> str:
    return "" if time is None else f" at {_utc(time)}"


def _utc(time: datetime) -> str:
    return f"{time.replace(tzinfo=None).isoformat(sep=' ')} UTC"
