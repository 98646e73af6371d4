"""Whether what a window was told goes together; each value by itself was checked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide.durations import in_words, micros
from eventtide.errors import InvalidArgumentError, InvalidDurationError, sentence
from eventtide.windows.zones import read_origin

if TYPE_CHECKING:
    from eventtide.windows.settings import Settings
    from eventtide.windows.shapes import Shape

__all__ = ["check"]


def check(settings: Settings) -> Shape:
    """Refuse settings that contradict each other, or that lack a kind of window or an aggregate.

    Returns
    -------
    Shape
        The kind of window, which every window must have.

    Raises
    ------
    InvalidArgumentError
        With the first that is wrong, and what would mend it.
    """
    shape = settings.shape
    if shape is None:
        allowed = "tumbling(size), sliding(size, every=...) or cumulate(size, step=...)"
        raise InvalidArgumentError(
            sentence("kind", None, "is missing", allowed=allowed, fix=".tumbling('1m')")
        )
    if not settings.agg:
        fix = ".agg(F.count('*').alias('n'))"
        raise _refused(settings, "agg", "is missing", "one aggregate or more", fix)
    _check_calendar(settings, shape)
    _check_offset(settings, shape)
    _check_origin(settings)
    _check_lateness(settings)
    _check_panes(settings)
    _check_late_rows(settings)
    return shape


def _check_calendar(settings: Settings, shape: Shape) -> None:
    """Days have a calendar only in a time zone, months have nothing else."""
    zone = settings.time_zone
    for name, span in shape.spans().items():
        if zone is None and span.unit == "month":
            problem = "is a calendar size, and no time zone says when its days begin"
            allowed, fix = "calendar sizes with a time zone", ".time_zone('Europe/Berlin')"
        elif zone is not None and span.unit == "us":
            problem = f"has a fixed length, and time_zone={zone!r} is for calendar sizes"
            allowed = "whole days, weeks, months or years, as text"
            fix = f"{name}='1 day', or no time_zone"
        else:
            continue
        written = shape.size if name == "size" else shape.piece
        raise InvalidDurationError(sentence(name, written, problem, allowed=allowed, fix=fix))


def _check_offset(settings: Settings, shape: Shape) -> None:
    if settings.offset is None:
        return
    *_, frame = shape.spans().values()
    if micros("offset", settings.offset) >= frame.least_micros:
        problem = "is not inside a frame"
        allowed = f"zero or more, and below {in_words(frame.least_micros)}"
        raise InvalidDurationError(
            sentence("offset", settings.offset, problem, allowed=allowed, fix=".offset('0s')")
        )


def _check_origin(settings: Settings) -> None:
    if settings.origin is None:
        return
    if settings.offset is not None:
        problem = f"says again where windows start, beside offset={settings.offset!r}"
        raise _refused(settings, "origin", problem, "one of the two", "leave offset out")
    origin = read_origin(settings.origin)
    if origin.tzinfo is None and settings.time_zone is None:
        allowed = "a time with its distance from UTC, or any time beside a time_zone"
        fix = f".origin('{origin.isoformat()}Z')"
        raise _refused(settings, "origin", "has no time zone", allowed, fix)


def _check_lateness(settings: Settings) -> None:
    if settings.delay is None or settings.allowed_lateness is None:
        return
    if settings.profile not in {None, "eventtide"}:
        problem = f"stands beside delay={settings.delay!r} under profile={settings.profile!r}"
        allowed = "both under profile='eventtide', one of the two under another"
        raise _refused(settings, "allowed_lateness", problem, allowed, "leave delay out")


def _check_panes(settings: Settings) -> None:
    lateness = settings.allowed_lateness
    if settings.updates and (lateness is None or micros("allowed_lateness", lateness) == 0):
        problem = "has nothing to update: no row may come after a window's result"
        allowed = "updates() with an allowed lateness"
        raise _refused(settings, "updates", problem, allowed, ".allowed_lateness('1m')")
    if settings.discarding and settings.early is None and not settings.updates:
        problem = "has nothing to discard: a window has one result"
        allowed = "discarding() with early(...) or updates()"
        raise _refused(settings, "discarding", problem, allowed, ".early(every='10s')")


def _check_late_rows(settings: Settings) -> None:
    if settings.late_to is not None and settings.late not in {None, "log"}:
        problem = f"is a place for late rows, and late={settings.late!r} keeps none"
        raise _refused(settings, "late_to", problem, "late_to with late='log'", ".late('log')")


def _refused(
    settings: Settings, name: str, problem: str, allowed: str, fix: str
) -> InvalidArgumentError:
    value = getattr(settings, name)
    return InvalidArgumentError(sentence(name, value, problem, allowed=allowed, fix=fix))
