"""Time zones, and the instant at which a window starts."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from eventtide._text.arguments import of_type
from eventtide.errors import ArgumentTypeError, refused

__all__ = ["instant", "read_origin", "zone_name"]

_ZONE = ("the name of a time zone, as the IANA lists them", ".time_zone('Europe/Berlin')")
_OFFSET = r"(Z|[+-](?:(?:0\d|1[0-7]):[0-5]\d(?::[0-5]\d)?|18:00(?::00)?))"  # as java.time's
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)" + _OFFSET + "?)?",
    re.ASCII,
)
_ORIGIN = ("a datetime, or its ISO 8601 text", ".origin('2024-01-01T00:00:00Z')")


def zone_name(name: object) -> str:
    """Return the name of a time zone after checking that it exists.

    Examples
    --------
    >>> zone_name("Europe/Berlin")
    'Europe/Berlin'
    >>> zone_name("Berlin")
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: time_zone='Berlin' is unknown on this machine. ...
    """
    allowed, fix = _ZONE
    of_type("time_zone", name, str, allowed, fix)
    known = available_timezones()
    if name not in known:
        near = get_close_matches(str(name), known, n=1)
        fix = f".time_zone({near[0]!r})" if near else fix
        problem = "is unknown on this machine"
        raise refused("time_zone", name, problem, allowed=allowed, fix=fix)
    return str(name)


def read_origin(origin: object) -> datetime:
    """Return an origin as a datetime, with or without a time zone.

    Examples
    --------
    >>> read_origin("2024-04-01")
    datetime.datetime(2024, 4, 1, 0, 0)
    """
    allowed, fix = _ORIGIN
    if isinstance(origin, datetime):
        if str(origin) == "NaT":  # of pandas
            raise refused("origin", origin, "is not a time", allowed=allowed, fix=fix)
        return origin
    if not isinstance(origin, str):
        problem = f"has type {type(origin).__name__}"
        raise refused("origin", origin, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    found = _ISO.fullmatch(origin.strip().upper())
    try:
        if found is not None:
            return datetime.fromisoformat(_normal(found))
    except ValueError:  # such as the thirtieth of February
        pass
    raise refused("origin", origin, "cannot be read as a time", allowed=allowed, fix=fix)


def _normal(found: re.Match[str]) -> str:
    """Return a time as Python 3.10 reads it: with six digits of a second, and without a Z."""
    day, clock, offset = found.groups()
    if clock is None:
        return str(day)
    whole, dot, fraction = clock.partition(".")
    zone = "+00:00" if offset == "Z" else offset or ""
    return f"{day}T{whole}{dot}{fraction.ljust(6, '0') if dot else ''}{zone}"


def instant(origin: datetime, zone: str | None) -> str:
    """Return an origin as an instant in UTC; an origin without a time zone is local to `zone`.

    Examples
    --------
    >>> instant(read_origin("2024-04-01"), "Europe/Berlin")
    '2024-03-31T22:00:00Z'
    """
    if origin.tzinfo is None and zone is not None:
        origin = origin.replace(tzinfo=ZoneInfo(zone))
    try:
        return origin.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    except OverflowError:
        allowed, fix = _ORIGIN
        problem = "is outside the years 1 to 9999 in UTC"
        raise refused("origin", str(origin), problem, allowed=allowed, fix=fix) from None
