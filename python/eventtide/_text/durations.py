"""Parsing of durations: text with units, ISO 8601, or a ``timedelta``.

Internally, a duration is a whole number of microseconds, Spark's unit of time. It is passed to the
JVM as ISO 8601 text in seconds, so that equal durations are equal text.
"""

from __future__ import annotations

import re
from datetime import timedelta
from difflib import get_close_matches
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from eventtide.errors import InvalidDurationError, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DAY",
    "LEAST_FRAME",
    "Duration",
    "frame_micros",
    "in_words",
    "iso",
    "micros",
    "rounded_up",
    "signed",
    "spoken",
    "to_iso",
    "units_in",
]

Duration: TypeAlias = str | timedelta
"""A duration: ``"5s"``, ``"1h 30m"``, ``"PT5S"`` or ``timedelta(seconds=5)``."""

DAY = 86_400_000_000
"""Twenty-four hours, in microseconds."""

LEAST_FRAME = 1_000
"""A millisecond, Spark's unit of watermarks, in microseconds."""

_SECOND = 1_000_000
_MILLISECOND = 1_000
_LARGEST = 2**63 - 1  # the largest JVM long, in microseconds: 106 751 991 days

# From large to small; `in_words` writes the first name.
_UNITS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (7 * DAY, ("w", "week", "weeks")),
    (DAY, ("d", "day", "days")),
    (3_600 * _SECOND, ("h", "hr", "hour", "hours")),
    (60 * _SECOND, ("m", "min", "mins", "minute", "minutes")),
    (_SECOND, ("s", "sec", "secs", "second", "seconds")),
    (_MILLISECOND, ("ms", "millisecond", "milliseconds")),
    (1, ("us", "µs", "μs", "microsecond", "microseconds")),  # both signs for micro
)
_MICROS_OF: Mapping[str, int] = MappingProxyType(
    {name: size for size, names in _UNITS for name in names}
)
# From which length on a length is rounded to which unit.
_ROUNDED = (
    (3_600 * _SECOND, 60 * _SECOND),
    (60 * _SECOND, _SECOND),
    (5 * _SECOND, 100 * _MILLISECOND),
    (_SECOND // 2, 10 * _MILLISECOND),
    (_MILLISECOND, _MILLISECOND),
)
_NOT_FIXED = frozenset({"mo", "mon", "month", "months", "y", "yr", "year", "years"})

_TOO_FINE = frozenset({"ns", "nano", "nanos", "nanosecond", "nanoseconds"})
_NOT_WHOLE = "is not a whole number of microseconds"
_NAMES = "w, d, h, m, s, ms or us"
_DURATIONS = (
    f"text with {_NAMES} ('1h 30m', 'interval 5 seconds'), ISO 8601 ('PT5S') or a timedelta"
)

_NUMBER = r"[0-9]{1,20}(?:\.[0-9]{1,20})?"
_PART = re.compile(rf"({_NUMBER})\s*([a-zA-Zµμ]+)\s*")
_PARTS = re.compile(rf"(?:{_PART.pattern})+")
_ISO = re.compile(
    rf"P(?:({_NUMBER})Y)?(?:({_NUMBER})M)?(?:({_NUMBER})W)?(?:({_NUMBER})D)?"
    rf"(?:T(?=[0-9])(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?)?",
    re.IGNORECASE,
)
_ISO_UNITS = ("years", "months", "w", "d", "h", "m", "s")


def micros(name: str, value: Duration, *, positive: bool = False) -> int:
    """Return a duration in microseconds, exactly.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : str or timedelta
        Text with units from large to small: ``w``, ``d``, ``h``, ``m``, ``s``, ``ms``, ``us`` or
        their English names, with decimals if exact. The word ``interval`` may precede it, as in
        Spark. Or ISO 8601 text without years and months, or a ``timedelta``.
    positive : bool
        Whether zero is rejected.

    Returns
    -------
    int
        Zero or more, at most 2**63 - 1.

    Raises
    ------
    InvalidDurationError
        The value is a bare number, or has an unknown unit or a unit without a fixed length (months,
        years). Or it is not exact in microseconds, negative, too long, or zero if `positive`.

    Notes
    -----
    ``m`` is a minute and, after the ``P`` of ISO 8601 and before its ``T``, a month. A bare number
    is rejected because its unit is ambiguous: milliseconds in Jet, seconds in ``timedelta``.

    Examples
    --------
    >>> micros("lag", "250ms"), micros("lag", "1h 30 minutes"), micros("lag", "PT1.5S")
    (250000, 5400000000, 1500000)
    >>> micros("lag", 5)
    Traceback (most recent call last):
    eventtide.errors.InvalidDurationError: lag=5 is a number without a unit. Allowed: ...
    """
    if isinstance(value, timedelta):
        length = _from_timedelta(name, value)
    elif isinstance(value, str):
        length = _from_text(name, value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        problem, fix = "is a number without a unit", _example(name, value)
        raise _error(name, value, problem, f"text with a unit, {_NAMES}, or a timedelta", fix)
    else:
        raise _error(name, value, f"has type {type(value).__name__}", _DURATIONS, f"{name}='5s'")
    if length < 0 or (length == 0 and positive):
        problem, allowed = "is negative" if length else "is zero", "more than zero"
        fix = f"{name}={in_words(min(-length, _LARGEST)) if length else '1s'!r}"
        if not positive:
            allowed = "zero or more"
        raise _error(name, value, problem, allowed, fix)
    if length > _LARGEST:
        problem, allowed = "is longer than the JVM can count", f"up to {_LARGEST // DAY} days"
        raise _error(name, value, problem, allowed, f"{name}='365 days'")
    return length


def to_iso(name: str, value: Duration, *, positive: bool = False) -> str:
    """Return a duration as ISO 8601 text in seconds; equal durations have equal text.

    Parameters
    ----------
    name, value, positive
        As for `micros`.

    Returns
    -------
    str
        ``PT<seconds>S`` with up to six decimals, which ``java.time.Duration.parse`` accepts.

    Raises
    ------
    InvalidDurationError
        As for `micros`.

    Examples
    --------
    >>> to_iso("lag", "1m"), to_iso("lag", timedelta(milliseconds=250)), to_iso("lag", "P1D")
    ('PT60S', 'PT0.25S', 'PT86400S')
    """
    return iso(micros(name, value, positive=positive))


def iso(length: int) -> str:
    """Return microseconds as ISO 8601 text in seconds.

    Examples
    --------
    >>> iso(60_000_000), iso(250_000)
    ('PT60S', 'PT0.25S')
    """
    seconds, rest = divmod(length, _SECOND)
    return f"PT{seconds}{f'.{rest:06}'.rstrip('0') if rest else ''}S"


def frame_micros(name: str, value: Duration) -> int:
    """Return a duration of at least 1 ms, Spark's unit of watermarks, in microseconds.

    Examples
    --------
    >>> frame_micros("size", "1us")
    Traceback (most recent call last):
    eventtide.errors.InvalidDurationError: size='1us' is shorter than Spark's watermarks can ...
    """
    length = micros(name, value, positive=True)
    if length < LEAST_FRAME:
        problem, allowed = "is shorter than Spark's watermarks can represent", "1ms or more"
        raise _error(name, value, problem, allowed, f"{name}='1ms'")
    return length


def signed(text: str) -> tuple[int, str]:
    """Return the sign of a duration text, and the text without it and the word `interval`.

    Examples
    --------
    >>> signed("5s"), signed(" INTERVAL -5 seconds")
    ((1, '5s'), (-1, '5 seconds'))
    """
    text = re.sub(r"^interval\s+", "", text.strip(), flags=re.IGNORECASE)
    return (-1, text[1:]) if text.startswith("-") else (1, text)


def units_in(text: str) -> list[tuple[str, str]]:
    """Return the numbers and units of a duration text, empty if it cannot be parsed.

    Examples
    --------
    >>> units_in("1h 30 min"), units_in("P1Y2M"), units_in("soon")
    ([('1', 'h'), ('30', 'min')], [('1', 'years'), ('2', 'months')], [])
    """
    if found := _ISO.fullmatch(text):
        return [(n, u) for n, u in zip(found.groups(), _ISO_UNITS, strict=True) if n]
    return _PART.findall(text) if _PARTS.fullmatch(text) else []


def in_words(length: int) -> str:
    """Return microseconds as text, which `micros` parses if they are not negative.

    Examples
    --------
    >>> in_words(5_400_000_000), in_words(250_000), in_words(0), in_words(-90_000_000)
    ('1h 30m', '250ms', '0s', '-1m 30s')
    """
    if length < 0:
        return f"-{in_words(-length)}"
    words = []
    for size, (unit, *_) in _UNITS[1:]:  # days are more readable than weeks
        count, length = divmod(length, size)
        if count:
            words.append(f"{count}{unit}")
    return " ".join(words) or "0s"


def rounded_up(length: int) -> int:
    """Return microseconds rounded up to a length with few digits: by 2 % at most.

    Examples
    --------
    >>> in_words(rounded_up(6_815_743)), in_words(rounded_up(14_943_690_751)), rounded_up(12_345)
    ('6s 900ms', '4h 10m', 13000)
    """
    unit = next((unit for least, unit in _ROUNDED if length >= least), 1)
    return -(-length // unit) * unit


def spoken(value: Duration) -> str:
    """Return a checked duration as text of `in_words`.

    Examples
    --------
    >>> spoken("90 minutes"), spoken(timedelta(seconds=5))
    ('1h 30m', '5s')
    """
    return in_words(micros("value", value))


def _from_timedelta(name: str, value: timedelta) -> int:
    if getattr(value, "nanoseconds", 0):  # a pandas Timedelta; `//` would round it silently
        raise _too_fine(name, value, _NOT_WHOLE)
    return value // timedelta(microseconds=1)


def _from_text(name: str, value: str) -> int:
    sign, text = signed(value)
    parts = units_in(text)
    if not parts:
        raise _error(name, value, "cannot be read as a duration", _DURATIONS, f"{name}='5s'")
    return sign * _sum(name, value, parts)


def _sum(name: str, value: str, parts: list[tuple[str, str]]) -> int:
    total, above = Fraction(0), _LARGEST
    for number, unit in parts:
        # Units of one and two letters are case-sensitive, because "M" may mean a month.
        size = _MICROS_OF.get(unit if len(unit) <= 2 else unit.lower())  # noqa: PLR2004
        if unit.lower() in _NOT_FIXED and size is None:
            days = round(float(number) * (365 if unit.lower()[0] == "y" else 30))
            fix = f"{name}='{min(max(days, 1), _LARGEST // DAY)}d'"
            problem = f"has the unit {unit!r}, whose length varies"
            raise _error(name, value, problem, f"units of fixed length, {_NAMES}", fix)
        if unit.lower() in _TOO_FINE:
            raise _too_fine(name, value, f"has the unit {unit!r}, which is too fine")
        if size is None:
            fix = f"{name}={_in_known_units(value, number, unit)!r}"
            raise _error(name, value, f"has the unknown unit {unit!r}", f"the units {_NAMES}", fix)
        if size >= above:
            problem, allowed = "has its units in the wrong order", "from large units to small"
            raise _error(name, value, problem, allowed, f"{name}={_in_order(name, parts)!r}")
        total, above = total + Fraction(number) * size, size
    if total.denominator != 1:
        raise _too_fine(name, value, _NOT_WHOLE)
    return int(total)


def _in_known_units(value: str, number: str, unit: str) -> str:
    """Return a text with the nearest known unit; only the number and this unit if it is invalid."""
    near = (get_close_matches(unit.lower(), _MICROS_OF, n=1) or ["s"])[0]
    text = re.sub(rf"(?<![a-zA-Zµμ]){unit}(?![a-zA-Zµμ])", near, value.strip())
    try:
        micros("value", text)
    except InvalidDurationError:
        return f"{number}{near}"
    return text


def _in_order(name: str, parts: list[tuple[str, str]]) -> str:
    """Return the sum of the parts, with its units from large to small."""
    return in_words(min(sum(micros(name, number + unit) for number, unit in parts), _LARGEST))


def _example(name: str, number: float) -> str:
    """Return a fix that adds a unit to a bare number, or an example if it is not positive."""
    return f"{name}='{number if number > 0 else 5}s'"


def _too_fine(name: str, value: object, problem: str) -> InvalidDurationError:
    return _error(name, value, problem, "whole microseconds, such as 1us", f"{name}='1us'")


def _error(name: str, value: object, problem: str, allowed: str, fix: str) -> InvalidDurationError:
    return refused(name, value, problem, allowed=allowed, fix=fix, error=InvalidDurationError)
