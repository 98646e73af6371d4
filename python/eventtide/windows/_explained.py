"""The text that describes a window, with a comparison to stock Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.columns import shown
from eventtide._text.durations import spoken
from eventtide.windows._profiles import (
    LATE_ACTIONS,
    LATE_RULES,
    PROFILES,
    SESSION_LATE_RULES,
    SESSION_PROFILES,
)
from eventtide.windows._shapes import Framed
from eventtide.windows._unframed import Counted, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.windows._settings import Settings
    from eventtide.windows._shapes import Shape

__all__ = ["explained"]


def explained(settings: Settings, shape: Shape) -> str:
    """Return a description of settings that passed `check`.

    Parameters
    ----------
    settings : Settings
        The settings of the window.
    shape : Shape
        The kind and the sizes of the window.

    Returns
    -------
    str
        Several lines.
    """
    first, *others = _lines(settings, shape)
    return "\n".join(
        [first, *(f"   {line}" for line in others), f"stock Spark: {_stock(settings, shape)}"]
    )


def _lines(settings: Settings, shape: Shape) -> Iterator[str]:
    yield f"{shape.meaning}{_start(settings)}"
    yield f"event time: {_event_time(settings)}"
    yield f"keys: {_listed(settings.key_by) or 'none, one window for all rows'}"
    yield from _key_time(settings)
    if settings.execution is None:
        yield f"aggregates: {_listed(settings.agg)}"
    else:
        yield f"each with its rows: {settings.execution!r}"
    if isinstance(shape, Counted):
        yield "holds rows in the order of their arrival, closes with its last row"
        yield "no row is late"
    else:
        yield from _boundaries(settings, shape)
    yield f"results: {_results(settings)}"


def _boundaries(settings: Settings, shape: Shape) -> Iterator[str]:
    of_session = isinstance(shape, Session)
    profiles = SESSION_PROFILES if of_session else PROFILES
    late_rules = SESSION_LATE_RULES if of_session else LATE_RULES
    rules = profiles[settings.profile or shape.profile]
    closes = shape.closes or rules.closes
    yield f"holds rows with {rules.bounds}, closes when {closes}{_later(settings)}"
    if settings.row_gap is not None:
        yield "a row without a usable gap is in no session, and is late as bad_gap"
    if settings.processing_time:
        yield "no row is late: the watermark is the clock, and so is the time of a row"
        return
    yield f"a row is late when {late_rules.get(settings.late_rule or rules.late, rules.late)}"
    yield f"late rows {LATE_ACTIONS[settings.late or 'log']}{_place(settings)}"
    if settings.late_retention is not None:
        keep = spoken(settings.late_retention)
        yield f"late rows are kept for {keep}, and until all readers have read them"
    if (handler := settings.on_late) is not None:
        fails = "stop the query" if handler.on_error == "fail" else "are logged"
        yield f"late rows are given to {handler.title}, whose errors {fails}"


def _key_time(settings: Settings) -> Iterator[str]:
    """Yield the watermark scope and the idle settings of keys, if they are set."""
    scope, idle = settings.watermark_scope, settings.key_idle_timeout
    if scope is not None:
        one = _listed(tuple(scope.columns)) or scope.name
        of = "all keys, by the rows of all" if one == "global" else f"each {one}, by its own rows"
        yield f"watermark: one for {of}"
    if settings.max_rows_per_batch is not None:
        rows = settings.max_rows_per_batch
        yield f"the watermark moves after {rows} rows of its key, and after each batch"
    if idle is not None:
        clock = "the clock" if idle.clock == "processing_time" else "the watermark over all keys"
        yield f"an idle key: all of its windows close after {spoken(idle.timeout)} by {clock}"
    if idle is not None or settings.heartbeat is not None:
        yield f"idle keys are checked at least every {spoken(settings.heartbeat or '1m')}"
    if settings.key_ttl is not None:
        yield f"a key without windows is forgotten after {spoken(settings.key_ttl)}"


def _start(settings: Settings) -> str:
    places = {"from": settings.origin, "in": settings.time_zone}
    if settings.offset is not None:
        places["moved by"] = spoken(settings.offset)
    return "".join(f", {word} {place}" for word, place in places.items() if place is not None)


def _event_time(settings: Settings) -> str:
    time = settings.event_time
    if settings.processing_time:
        return "none, each row has the time of the batch that reads it"
    if time is None:
        return "the column that has a watermark"
    return time.column if time.policy is None else f"{time.column}, {time.policy!r}"


def _later(settings: Settings) -> str:
    return "" if settings.delay is None else f", {spoken(settings.delay)} later"


def _place(settings: Settings) -> str:
    return "" if settings.late_to is None else f" in {settings.late_to}"


def _results(settings: Settings) -> str:
    if settings.execution is not None:
        return "the rows that the function returns for each window"
    lateness = settings.allowed_lateness
    later = "" if lateness is None else f" within {spoken(lateness)} after the end"
    if not settings.emit:
        return f"one row a window{f', with the rows{later}' if later else ''}"
    times = [trigger.meaning for trigger in settings.emit]
    times += [f"one more for late rows{later}"] if settings.late_updates else []
    holds = "the rows since the previous result" if settings.discarding else "all rows so far"
    return f"{', '.join(times)}; each of {holds}, with the name of its trigger"


def _listed(columns: tuple[object, ...]) -> str:
    return ", ".join(map(shown, columns))


def _stock(settings: Settings, shape: Shape) -> str:
    if isinstance(shape, Session) and shape.maximum_duration is None:
        told = "has such sessions, by one watermark over all keys; drops late rows and counts them"
        return told if settings.row_gap is None else f"{told}; drops rows without a gap uncounted"
    if not isinstance(shape, Framed) or shape.kind == "cumulate" or settings.time_zone is not None:
        return "has no such window"
    copies = f"copies each row into up to {shape.frames} windows"
    windows = copies if shape.kind == "sliding" else "has the same windows"
    return f"{windows}; drops late rows and only counts them"
