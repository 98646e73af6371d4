"""Times as microseconds since the epoch, as in the JVM."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

__all__ = ["micros_since_epoch", "time_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
_LAST = datetime.max.replace(tzinfo=timezone.utc)


def micros_since_epoch(time: datetime) -> int:
    """Return an aware time as microseconds since the epoch.

    Examples
    --------
    >>> micros_since_epoch(datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc))
    1000000
    """
    return (time - _EPOCH) // timedelta(microseconds=1)


def time_of(micros: int) -> datetime:
    """Return the time in UTC, limited to the first and the last time that Python supports.

    Examples
    --------
    >>> time_of(1_000_000).isoformat(), time_of(-(2**63)).year
    ('1970-01-01T00:00:01+00:00', 1)
    """
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _LAST if micros > 0 else _FIRST
