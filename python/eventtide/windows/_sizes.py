"""Sizes of windows: durations, and calendar units, whose length is not fixed."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from eventtide._text.durations import DAY, Duration, frame_micros, in_words, iso, signed, units_in
from eventtide.errors import InvalidDurationError, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Size", "Span", "Unit", "read_size"]

Size: TypeAlias = Duration
"""A `Duration`, or calendar text: ``"1 day"``, ``"2 weeks"``, ``"3 months"``, ``"1 year"``."""

Unit: TypeAlias = Literal["us", "day", "month"]
"""A microsecond, a day of 24 hours or of a calendar, or a calendar month."""

_DAYS: Mapping[str, int] = MappingProxyType(
    {"d": 1, "day": 1, "days": 1, "w": 7, "week": 7, "weeks": 7}
)
_MONTHS: Mapping[str, int] = MappingProxyType(
    {"mo": 1, "mon": 1, "month": 1, "months": 1, "y": 12, "yr": 12, "year": 12, "years": 12}
)
_LARGEST = 12 * 9_999  # months: Spark shows the years 1 to 9999


@dataclass(frozen=True)
class Span:
    """The length of a window or of a frame, in its unit.

    Days are not converted to microseconds, because some have 23 or 25 hours in a time zone.
    """

    count: int
    unit: Unit

    @property
    def least_micros(self) -> int:
        """The minimum length in microseconds; exact except for months."""
        return self.count * {"us": 1, "day": DAY, "month": 28 * DAY}[self.unit]

    @property
    def words(self) -> str:
        """The span as text that `read_size` parses."""
        if self.unit == "us":
            return in_words(self.count)
        return f"{self.count} {self.unit}{'s' if self.count > 1 else ''}"

    def iso(self, *, zoned: bool) -> str:
        """Return ISO 8601 text: a period for calendar units, otherwise seconds."""
        if self.unit == "month":
            return f"P{self.count}M"
        return f"P{self.count}D" if zoned and self.unit == "day" else iso(self.least_micros)


def read_size(name: str, value: Size) -> Span:
    """Return the size of a window or a frame.

    Parameters
    ----------
    name : str
        The name of the argument, for the error.
    value : str or timedelta
        A `Duration` of 1 ms or more, or text of months and years. Whole days and weeks as text
        become calendar days if there is a time zone; hours and a ``timedelta`` never do.

    Raises
    ------
    InvalidDurationError
        The value is not a duration or calendar text, mixes months with shorter units, or is too
        long.

    Examples
    --------
    >>> read_size("size", "2 weeks"), read_size("size", "1 year")
    (Span(count=14, unit='day'), Span(count=12, unit='month'))
    """
    sign, text = signed(value) if isinstance(value, str) else (1, "")
    found = units_in(text)
    parts = [(number, unit.lower() if len(unit) > 2 else unit) for number, unit in found]  # noqa: PLR2004 - as in durations
    if any(unit in _MONTHS for _, unit in parts):
        if sign < 0:
            raise _refused(name, value, "is negative")
        return Span(_months(name, value, parts), "month")
    length = frame_micros(name, value)
    if parts and all(unit in _DAYS and number.isdecimal() for number, unit in parts):
        return Span(length // DAY, "day")
    return Span(length, "us")


def _months(name: str, value: Size, parts: list[tuple[str, str]]) -> int:
    sizes = [_MONTHS.get(unit, 0) for _, unit in parts]
    if 0 in sizes:
        raise _refused(name, value, "mixes months, whose length is not fixed, with shorter units")
    if not all(number.isdecimal() for number, _ in parts):
        raise _refused(name, value, "is not a whole number of months")
    if sizes != sorted(set(sizes), reverse=True):
        raise _refused(name, value, "has its units in the wrong order")
    count = sum(int(number) * size for (number, _), size in zip(parts, sizes, strict=True))
    if not 0 < count <= _LARGEST:
        problem = "is longer than Spark's calendar" if count else "is zero"
        raise _refused(name, value, problem)
    return count


def _refused(name: str, value: Size, problem: str) -> InvalidDurationError:
    allowed = "a duration ('1h 30m'), or whole months and years ('1 month', '1 year 6 months')"
    return refused(
        name, value, problem, allowed=allowed, fix=f"{name}='1 month'", error=InvalidDurationError
    )
