"""Checks of arguments that are not durations, each with the same form of error."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from eventtide.errors import ArgumentTypeError, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["choice", "count", "flat", "of_type"]

_LARGEST_COUNT = 2**31 - 1  # a Java int


def of_type(
    name: str, value: object, kind: type | tuple[type, ...], allowed: str, fix: str
) -> None:
    """Reject a value of another type, and empty text.

    Examples
    --------
    >>> of_type("event_time", 7, str, "a column name", "event_time='ts'")
    Traceback (most recent call last):
    eventtide.errors.ArgumentTypeError: event_time=7 has type int. Allowed: a column name. Try: ...
    """
    if not isinstance(value, kind):
        problem = f"has type {type(value).__name__}"
        raise refused(name, value, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    if isinstance(value, str) and not value:
        raise refused(name, value, "is empty", allowed=allowed, fix=fix)


def count(
    name: str, value: object, fix: str = "3", most: int = _LARGEST_COUNT, *, least: int = 1
) -> str:
    """Return a whole number as text for the JVM; `fix` is an example for the error.

    Examples
    --------
    >>> count("samples", 16)
    '16'
    """
    allowed = f"a whole number from {least} to {most}"
    if not isinstance(value, int) or isinstance(value, bool):
        problem = f"has type {type(value).__name__}"
        raise refused(
            name, value, problem, allowed=allowed, fix=f"{name}={fix}", error=ArgumentTypeError
        )
    if not least <= value <= most:
        raise refused(name, value, "is out of range", allowed=allowed, fix=f"{name}={fix}")
    return str(value)


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return a value that is one of the choices; the error for any other value has the nearest.

    Examples
    --------
    >>> choice("on", "lat", ("clamp", "late"))
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: on='lat' is unknown. ... Try: on='late'.
    """
    if not isinstance(value, str) or value not in choices:
        nearest, *_ = get_close_matches(str(value).lower(), choices, n=1) or choices
        allowed, fix = ", ".join(map(repr, choices)), f"{name}={nearest!r}"
        raise refused(name, value, "is unknown", allowed=allowed, fix=fix)
    return value


def flat(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the positional arguments of a call, also if they were given as one list or tuple.

    Examples
    --------
    >>> flat(("site", "device")), flat((["site", "device"],))
    (('site', 'device'), ('site', 'device'))
    """
    only = values[0] if len(values) == 1 else None
    return tuple(only) if isinstance(only, (list, tuple)) else values
