"""The progress of the watermarks of a running query."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from eventtide import _bridge
from eventtide._session_kind import queries
from eventtide._text.arguments import of_type
from eventtide._text.tables import Tabular
from eventtide._text.times import time_of
from eventtide.errors import refused
from eventtide.observe._disorder import Disorder, disorder_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pyspark.sql.streaming.query import StreamingQuery


__all__ = [
    "InputProgress",
    "QueryProgress",
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

    Attributes
    ----------
    name : str
        The values of the substream columns.
    top : datetime or None
        The highest event time of the substream, in UTC; None before its first row.
    watermark : datetime or None
        The watermark that its policy computes; None while unknown.
    lag_behind_leader : timedelta or None
        The distance of `top` behind the highest `top` of the same input.
    state : {"active", "idle", "expected"}
        Whether the substream delays the watermark: an idle substream does not, an expected
        substream without a row does.
    reason : {"rows", "backlog", "timeout", "caught up", "never seen"}
        The reason for the state. ``"backlog"``: the Kafka partition has rows that no batch has
        read. ``"caught up"``: the substream has no rows although its whole partition was read.
        ``"timeout"``: the substream has no rows, for an unknown reason. The backlog is from the
        last report of Spark's source, which may be later than the batch.
    since : datetime
        The processing time at which the state began: of its last row, of its idle deadline if it is
        idle, or of its declaration if it has no row yet.
    rows, rows_total : int
        The number of rows of the last batch, and of all batches.
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
class InputProgress:
    """One watermark of a query; a query that joins streams has several.

    Attributes
    ----------
    position : int
        The position in the plan.
    name : str or None
        The name from ``name=`` of `with_watermark`; None if there is none.
    policy : str
        The policy, as text.
    ideal, emitted : datetime or None
        The watermark of the policy before and after its throttles; None while unknown.
    state : {"active", "idle", "unknown"}
        ``"idle"`` if all substreams are idle.
    substreams : tuple of SubstreamProgress
        The substreams in the order of their first rows, at most 10 000. If there are more, these
        are the substreams with the lowest watermarks, and the leader.
    substream_count, max_substreams : int
        The number of substreams, including expected substreams, and its limit.
    limit_reached_in : timedelta or None
        The estimated time until the limit is reached at the present rate, from 80 % of the limit
        on. None below 80 %, or if the number does not grow.
    disorder : Disorder or None
        How far its rows are behind; None if it is not counted, or before the first row. See
        `lag_curve`.
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
    name: str | None = None
    disorder: Disorder | None = None


@dataclass(frozen=True)
class QueryProgress(Tabular):
    """The watermark of a query after its last batch; it prints as tables.

    Attributes
    ----------
    batch_id : int
        The last completed batch; -1 before the first.
    clock : datetime
        The processing time of that batch, in UTC.
    ideal, emitted : datetime or None
        The combined watermark of the policies, and the watermark that Spark uses; None while
        unknown.
    holding : bool
        Whether clock-driven watermarks are held after a restart until the sources have caught up.
    bad_time, future : int
        The total number of rejected rows: without a usable event time, or rejected by a future
        guard with the action ``"late"``. Rejected rows of a window are in `late`, by these names.
    on_time : int
        The total number of rows that windows of `et.window` have accepted. Every input row of a
        window is counted here, in `late`, or as rejected: ``bad_time`` or ``future``. If several
        windows read one stream, each counts its rows, here and in `late`.
    late : dict of str to int
        The total number of late rows, by reason, as in `read_late`.
    inputs : tuple of InputProgress
        One for each watermark in the plan.
    clock_steps : int
        The number of times that the machine's clock was set back by more than a second, to before
        the last batch.
    clock_corrected_by : timedelta
        The sum of these corrections. Durations that were being measured, such as the idle time of a
        substream, were kept and continued from the corrected time.
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
    inputs: tuple[InputProgress, ...]
    clock_steps: int = 0
    clock_corrected_by: timedelta = timedelta(0)


def progress(query: StreamingQuery) -> QueryProgress:
    """Return the watermarks of a running query and of their substreams.

    Parameters
    ----------
    query : StreamingQuery
        A query over a DataFrame from `with_watermark`.

    Returns
    -------
    QueryProgress
        The state after the last batch.

    Raises
    ------
    InvalidArgumentError
        The query has no eventtide watermark.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    The same numbers are in Spark's progress, in the metrics of the source ``EventtideClock``.

    Examples
    --------
    >>> import eventtide as et
    >>> et.progress(query).inputs[0].substreams[0].lag_behind_leader  # doctest: +SKIP
    datetime.timedelta(seconds=42)
    """
    return parse_progress(answer(query, lambda bridge: bridge.progress_json(query)))


_FIX = "query = et.with_watermark(df, 'ts', policy).writeStream.format('console').start()"


def answer(query: StreamingQuery, ask: Callable[[_bridge.Bridge], str | None]) -> str:
    """Return the JVM's answer about a query, which must have an eventtide watermark."""
    of_type("query", query, queries(), "a StreamingQuery", _FIX)
    text = ask(_bridge.of(query))
    if text is None:
        allowed = "a query over a DataFrame from et.with_watermark"
        problem = "has no eventtide watermark"
        raise refused("query", query.id, problem, allowed=allowed, fix=_FIX)
    return text


def parse_progress(text: str) -> QueryProgress:
    """Parse the progress that the JVM writes.

    Parameters
    ----------
    text : str
        JSON of this form, every time in microseconds since the epoch, ``null`` for unknown::

            {"batchId": 7, "clock": us, "ideal": us|null, "emitted": us|null,
             "holding": false, "badTime": 0, "future": 0, "onTime": 0,
             "clockSteps": 0, "clockCorrectedBy": us,
             "late": {"frame_closed": 0},
             "inputs": [
               {"position": 0, "name": "text"|null, "policy": "text",
                "ideal": us|null, "emitted": us|null,
                "state": "active|idle|unknown",
                "substreamCount": 1, "maxSubstreams": 100000, "limitReachedIn": us|null,
                "disorder": {"recent": [[us, rows]], "lastHour": [[us, rows]],
                             "week": [[us, rows]],
                             "drift": {"share": 0.01, "lastHour": us, "week": us}},
                "substreams": [
                  {"name": "text", "top": us|null, "watermark": us|null,
                   "state": "active|idle|expected",
                   "reason": "rows|backlog|timeout|caught up|never seen",
                   "since": us, "rows": 0, "rowsTotal": 0}]}]}

        The disorder is absent if it is not known, and the drift if it is small. With
        ``expected=3``, each substream without a row also has an entry, named ``"3 of 3"``.

    Returns
    -------
    QueryProgress
        Times are aware, in UTC. Times outside the years 1 to 9999 are clamped. Unknown keys are
        ignored.
    """
    return progress_of(json.loads(text))


def progress_of(tree: dict[str, Any]) -> QueryProgress:
    """Return the progress of a parsed JSON tree; see `parse_progress`."""
    return QueryProgress(
        batch_id=tree["batchId"],
        clock=time_of(tree["clock"]),
        ideal=_time_or_none(tree["ideal"]),
        emitted=_time_or_none(tree["emitted"]),
        holding=tree["holding"],
        bad_time=tree["badTime"],
        future=tree["future"],
        on_time=tree["onTime"],
        late=tree["late"],
        inputs=tuple(map(_input, tree["inputs"])),
        clock_steps=tree["clockSteps"],
        clock_corrected_by=timedelta(microseconds=tree["clockCorrectedBy"]),
    )


def _input(tree: dict[str, Any]) -> InputProgress:
    tops = [s["top"] for s in tree["substreams"] if s["top"] is not None]
    leader = max(tops, default=None)
    limit = tree["limitReachedIn"]
    return InputProgress(
        position=tree["position"],
        policy=tree["policy"],
        ideal=_time_or_none(tree["ideal"]),
        emitted=_time_or_none(tree["emitted"]),
        state=tree["state"],
        substreams=tuple(_substream(s, leader) for s in tree["substreams"]),
        substream_count=tree["substreamCount"],
        max_substreams=tree["maxSubstreams"],
        limit_reached_in=None if limit is None else timedelta(microseconds=limit),
        name=tree["name"],
        disorder=disorder_of(tree["disorder"]) if "disorder" in tree else None,
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


def _time_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else time_of(micros)
