"""Checks of combinations of window settings; single values are checked in the builder methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.durations import in_words, micros
from eventtide.errors import InvalidDurationError, refused
from eventtide.windows._result_checks import check_results
from eventtide.windows._shapes import Framed
from eventtide.windows._time_checks import check_time
from eventtide.windows._zones import read_origin

if TYPE_CHECKING:
    from eventtide.windows._settings import Settings
    from eventtide.windows._shapes import Shape

__all__ = ["check", "check_shape"]

_KINDS = (
    "tumbling(size), sliding(size, every=...), cumulate(size, step=...), session(gap) or"
    " by_count(rows)"
)
_OF_SIZES = ("offset", "origin", "time_zone")


def check(settings: Settings) -> Shape:
    """Reject settings that contradict each other or lack a kind of window or an aggregate.

    Returns
    -------
    Shape
        The kind of window, which is required.

    Raises
    ------
    InvalidArgumentError
        The first invalid setting, with a suggested fix.
    """
    shape = check_shape(settings)
    if settings.agg and settings.execution is not None:
        problem = f"cannot be combined with {settings.execution!r}"
        allowed, fix = "agg(...) or execute(...), one of the two", "remove agg"
        raise refused("agg", settings.agg, problem, allowed=allowed, fix=fix)
    if not settings.agg and settings.execution is None:
        allowed, fix = "one aggregate or more", ".agg(F.count('*').alias('n'))"
        raise refused("agg", None, "is missing", allowed=allowed, fix=fix)
    _check_lateness(settings)
    check_time(settings)
    check_results(settings)
    return shape


def check_shape(settings: Settings) -> Shape:
    """Reject a missing kind of window, and sizes and starts that contradict each other.

    Returns
    -------
    Shape
        The kind of window.

    Raises
    ------
    InvalidArgumentError
        The first invalid setting, with a suggested fix.
    """
    shape = settings.shape
    if shape is None:
        raise refused("window", None, "has no kind", allowed=_KINDS, fix=".tumbling('1m')")
    if isinstance(shape, Framed):
        _check_calendar(settings, shape)
        _check_offset(settings, shape)
        _check_origin(settings)
    else:
        _check_unframed(settings, shape)
    return shape


def _check_unframed(settings: Settings, shape: Shape) -> None:
    """Reject settings without meaning: sessions begin with a row, count windows use no time."""
    for name in shape.without:
        value = getattr(settings, name)
        if value not in (None, False, ()):
            problem = f"has no meaning for {shape!r}: such a window {shape.why_without}"
            others = "windows of a size" if name in _OF_SIZES else "another kind of window"
            allowed = f"{name} with {others}"
            raise refused(name, value, problem, allowed=allowed, fix=f"remove {name}")


def _check_calendar(settings: Settings, shape: Framed) -> None:
    """Reject calendar sizes without a time zone, and fixed sizes with one."""
    zone = settings.time_zone
    for name, span in shape.spans().items():
        if zone is None and span.unit == "month":
            problem = "is a calendar size, and no time zone is set"
            allowed, fix = "calendar sizes with a time zone", ".time_zone('Europe/Berlin')"
        elif zone is not None and span.unit == "us":
            problem = f"has a fixed length, and time_zone={zone!r} is for calendar sizes"
            allowed = "whole days, weeks, months or years, as text"
            fix = f"{name}='1 day', or no time_zone"
        else:
            continue
        written = shape.size if name == "size" else shape.piece
        raise refused(name, written, problem, allowed=allowed, fix=fix, error=InvalidDurationError)


def _check_offset(settings: Settings, shape: Framed) -> None:
    if settings.offset is None:
        return
    spans = list(shape.spans().values())
    # The starts of windows repeat after this length.
    whole, period = ("window", spans[0]) if shape.kind == "cumulate" else ("frame", spans[-1])
    if micros("offset", settings.offset) >= period.least_micros:
        problem = f"is not inside a {whole}"
        allowed = f"zero or more, and below {in_words(period.least_micros)}"
        raise refused(
            "offset",
            settings.offset,
            problem,
            allowed=allowed,
            fix=".offset('0s')",
            error=InvalidDurationError,
        )


def _check_origin(settings: Settings) -> None:
    if settings.origin is None:
        return
    if settings.offset is not None:
        problem = f"sets the start of windows, as does offset={settings.offset!r}"
        fix = "remove offset"
        raise refused("origin", settings.origin, problem, allowed="one of the two", fix=fix)
    origin = read_origin(settings.origin)
    if origin.tzinfo is None and settings.time_zone is None:
        allowed = "a time with a UTC offset, or any time with a time_zone"
        fix = f".origin('{origin.isoformat()}Z')"
        raise refused("origin", settings.origin, "has no time zone", allowed=allowed, fix=fix)


def _check_lateness(settings: Settings) -> None:
    lateness = settings.allowed_lateness
    if settings.delay is None or lateness is None:
        return
    if settings.profile not in {None, "eventtide"}:
        problem = (
            f"cannot be combined with delay={settings.delay!r} under profile={settings.profile!r}"
        )
        allowed = "both under profile='eventtide', one of the two under another"
        raise refused("allowed_lateness", lateness, problem, allowed=allowed, fix="remove delay")
