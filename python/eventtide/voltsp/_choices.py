"""The enumerations, whose members can be given by name as text."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from eventtide.errors import refused

__all__ = ["TimeSource", "WatermarkStrategy", "member"]


class _Choice(Enum):
    def __repr__(self) -> str:
        """Return the expression of the member."""
        return f"{type(self).__name__}.{self.name}"


class WatermarkStrategy(_Choice):
    """The rule by which a watermark follows the rows of a batch.

    A member can also be given by its name as text, case-insensitively.
    """

    MIN_EVENT_TIME = "min_event_time"
    """Moves to the lowest event time of the batch, never back. This is the default."""
    MAX_EVENT_TIME = "max_event_time"
    """Moves to the highest event time of the batch, never back."""


class TimeSource(_Choice):
    """The time that measures idleness: event time or processing time.

    A member can also be given by its name as text, case-insensitively.
    """

    EVENT_TIME = "event_time"
    """The watermark over all keys."""
    PROCESSING_TIME = "processing_time"
    """The wall clock. This is the default."""


_Any = TypeVar("_Any", bound=_Choice)


def member(kind: type[_Any], name: str, value: object) -> _Any:
    """Return a member of an enumeration, given as a member or by its name.

    Examples
    --------
    >>> member(TimeSource, "idle_timeout_clock", "Event_Time")
    TimeSource.EVENT_TIME
    >>> member(TimeSource, "idle_timeout_clock", "sun")
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: idle_timeout_clock='sun' is unknown. Allowed: ...
    """
    if isinstance(value, kind):
        return value
    by_name = {one.name: one for one in kind}
    if isinstance(value, str) and value.upper() in by_name:
        return by_name[value.upper()]
    near = [one for one in by_name if str(value).upper() in one] or list(by_name)
    allowed, fix = ", ".join(map(repr, by_name)), f"{name}={by_name[near[0]]!r}"
    raise refused(name, value, "is unknown", allowed=allowed, fix=fix)
