"""What the watermarks of a running query stand at, and who holds them back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Literal, TypeAlias

from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _jvm
from eventtide._text.arguments import of_type
from eventtide.errors import InvalidArgumentError, sentence

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "InputWatermark",
    "QueryWatermark",
    "SubstreamProgress",
    "parse_progress",
    "progress",
]

InputState: TypeAlias = Literal["active", "idle", "unknown"]
SubstreamState: TypeAlias = Literal["active", "idle", "expected"]
SubstreamReason: TypeAlias = Literal["rows", "backlog", "timeout", "caught up", "never seen"]


@dataclass(frozen=True)
class SubstreamProgress:
    """One substream after the last batch.

    .. versionadded:: 0.1

    Attributes
    ----------
    name : str
        Its values of the substream columns.
    top : datetime or None
        The highest event time it has seen, in UTC; None before its first row.
    watermark : datetime or None
        What its policy says; None while unknown.
    lag_behind_leader : timedelta or None
        How far its top is behind the highest top of the same input.
    state : {"active", "idle", "expected"}
        Whether it counts: an idle one does not, one that is expected and not yet seen does.
    reason : {"rows", "backlog", "timeout", "caught up", "never seen"}
        Why it is in that state: ``"backlog"`` has rows in its Kafka partition that no batch has
        read, ``"caught up"`` is silent though all of its partition was read, ``"timeout"`` is
        silent, and nobody knows why. What a partition has left is as Spark's source said when it
        was last asked, which may be after the batch.
    since : datetime
        Since when, by the clock: its last row, its idle deadline if it is idle, its declaration if
        it has no row yet.
    rows, rows_total : int
        Rows of the last batch, and of all batches.
    """

    name: str
    top: datetime | None
    watermark: datetime | None
    lag_behind_leader: timedelta | None
    state: SubstreamState
    reason: SubstreamReason
    since: datetime
    rows: int
    rows_total: int


@dataclass(frozen=True)
class InputWatermark:
    """One watermark of a query, which has several when it joins streams.

    .. versionadded:: 0.1

    Attributes
    ----------
    position : int
        Its place in the plan.
    policy : str
        Its policy, as text.
    ideal, emitted : datetime or None
        What its policy says, and what has passed its throttles; None while unknown.
    state : {"active", "idle", "unknown"}
        Idle when all of its substreams are.
    substreams : tuple of SubstreamProgress
        In the order in which they were first seen; of more than 10 000 only as many, those that
        count and are furthest behind, and the one that is ahead of all.
    substream_count, max_substreams : int
        How many there are, with those that are expected, and how many there may be.
    limit_reached_in : timedelta or None
        From 80 % of that number on, when there will be as many at the present rate; None below,
        or while they do not become more.
    """

    position: int
    policy: str
    ideal: datetime | None
    emitted: datetime | None
    state: InputState
    substreams: tuple[SubstreamProgress, ...]
    substream_count: int = 0
    max_substreams: int = 0
    limit_reached_in: timedelta | None = None


@dataclass(frozen=True)
class QueryWatermark:
    """The watermark of a query after its last batch.

    .. versionadded:: 0.1

    Attributes
    ----------
    batch_id : int
        The last batch that ended; -1 before the first.
    clock : datetime
        The clock of that batch, in UTC.
    ideal, emitted : datetime or None
        What the policies say together, and what Spark was told; None while unknown.
    holding : bool
        Whether a restart holds the clock until the sources have caught up.
    bad_time, future : int
        Rows that were refused so far: without a usable event time, or by a future guard whose
        action is ``"late"``. Those of a window are in `late`, by these names.
    on_time : int
        Rows that windows of `et.window` have taken so far. Every row of theirs is here, or in
        `late`, or was refused: ``bad_time`` or ``future``. Where several windows read one stream,
        each counts its rows, here and in `late`.
    late : dict of str to int
        Rows that came too late for their windows so far, by reason, as in `read_late`.
    inputs : tuple of InputWatermark
        One for each watermark in the plan.
    clock_steps : int
        How often the machine's clock was set back, by more than a second, below the last batch.
    clock_corrected_by : timedelta
        By how much in all. What was measured before, such as the silence of a substream, was kept
        and went on from the corrected time.
    """

    batch_id: int
    clock: datetime
    ideal: datetime | None
    emitted: datetime | None
    holding: bool
    bad_time: int
    future: int
    on_time: int
    late: dict[str, int]
    inputs: tuple[InputWatermark, ...]
    clock_steps: int = 0
    clock_corrected_by: timedelta = timedelta(0)


def progress(query: StreamingQuery) -> QueryWatermark:
    """Return what the watermarks of a running query stand at, substream by substream.

    .. versionadded:: 0.1

    Parameters
    ----------
    query : StreamingQuery
        A query over a DataFrame from `with_watermark`.

    Returns
    -------
    QueryWatermark
        The state after the last batch.

    Raises
    ------
    InvalidArgumentError
        The query has no eventtide watermark.
    SetupError
        The session has no eventtide, or not this version of it.

    Notes
    -----
    The same numbers are in Spark's own progress, among the metrics of the source
    ``EventtideClock``.

    Examples
    --------
    >>> import eventtide as et
    >>> et.progress(query).inputs[0].substreams[0].lag_behind_leader  # doctest: +SKIP
    datetime.timedelta(seconds=42)
    """
    text = _jvm.progress_json(of_kind(query))
    if text is None:
        raise without_watermark(query)
    return parse_progress(text)


_FIX = "et.progress(et.with_watermark(...).writeStream....start())"


def of_kind(query: StreamingQuery) -> StreamingQuery:
    """Return what was given for a query, if it is one."""
    if not _jvm.is_connect(query):
        of_type("query", query, StreamingQuery, "a StreamingQuery", _FIX)
    return query


def without_watermark(query: StreamingQuery) -> InvalidArgumentError:
    """Return the refusal of a query that is not eventtide's."""
    allowed = "a query over a DataFrame from et.with_watermark"
    problem = "has no eventtide watermark"
    return InvalidArgumentError(sentence("query", query.id, problem, allowed=allowed, fix=_FIX))


def parse_progress(text: str) -> QueryWatermark:
    """Read the progress that the JVM writes.

    Parameters
    ----------
    text : str
        JSON of this shape, every time in microseconds since the epoch, ``null`` for unknown::

            {"batchId": 7, "clock": us, "ideal": us|null, "emitted": us|null,
             "holding": false, "badTime": 0, "future": 0, "onTime": 0,
             "clockSteps": 0, "clockCorrectedBy": us,
             "late": {"frame_closed": {"rows": 0, "rowsTotal": 0}},
             "inputs": [
               {"position": 0, "policy": "text", "ideal": us|null, "emitted": us|null,
                "state": "active|idle|unknown",
                "substreamCount": 1, "maxSubstreams": 100000, "limitReachedIn": us|null,
                "substreams": [
                  {"name": "text", "top": us|null, "watermark": us|null,
                   "state": "active|idle|expected",
                   "reason": "rows|backlog|timeout|caught up|never seen",
                   "since": us, "rows": 0, "rowsTotal": 0}]}]}

        With ``expected=3``, each substream not yet seen has an entry too, named ``"3 of 3"``.

    Returns
    -------
    QueryWatermark
        Times as aware UTC; one outside the years 1 to 9999 becomes the nearest that fits.
        Keys that this version does not know are ignored.
    """
    return progress_of(json.loads(text))


def progress_of(tree: dict[str, Any]) -> QueryWatermark:
    """Return the progress of a tree as `parse_progress` reads it."""
    return QueryWatermark(
        batch_id=tree["batchId"],
        clock=time_of(tree["clock"]),
        ideal=_time_or_none(tree["ideal"]),
        emitted=_time_or_none(tree["emitted"]),
        holding=tree["holding"],
        bad_time=tree["badTime"],
        future=tree["future"],
        on_time=tree["onTime"],
        late={reason: rows["rowsTotal"] for reason, rows in tree["late"].items()},
        inputs=tuple(map(_input, tree["inputs"])),
        clock_steps=tree["clockSteps"],
        clock_corrected_by=timedelta(microseconds=tree["clockCorrectedBy"]),
    )


def _input(tree: dict[str, Any]) -> InputWatermark:
    tops = [s["top"] for s in tree["substreams"] if s["top"] is not None]
    leader = max(tops, default=None)
    limit = tree["limitReachedIn"]
    return InputWatermark(
        position=tree["position"],
        policy=tree["policy"],
        ideal=_time_or_none(tree["ideal"]),
        emitted=_time_or_none(tree["emitted"]),
        state=tree["state"],
        substreams=tuple(_substream(s, leader) for s in tree["substreams"]),
        substream_count=tree["substreamCount"],
        max_substreams=tree["maxSubstreams"],
        limit_reached_in=None if limit is None else timedelta(microseconds=limit),
    )


def _substream(tree: dict[str, Any], leader: int | None) -> SubstreamProgress:
    top = tree["top"]
    behind = None if top is None or leader is None else timedelta(microseconds=leader - top)
    return SubstreamProgress(
        name=tree["name"],
        top=_time_or_none(top),
        watermark=_time_or_none(tree["watermark"]),
        lag_behind_leader=behind,
        state=tree["state"],
        reason=tree["reason"],
        since=time_of(tree["since"]),
        rows=tree["rows"],
        rows_total=tree["rowsTotal"],
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
_LAST = datetime.max.replace(tzinfo=timezone.utc)


def time_of(micros: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _LAST if micros > 0 else _FIRST


def _time_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else time_of(micros)
