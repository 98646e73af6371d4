"""The disorder of an input's rows, as the JVM reports it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from eventtide._text.durations import in_words
from eventtide._text.shares import percent

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Disorder", "Drift", "Steps", "disorder_of"]

Steps: TypeAlias = tuple[tuple[timedelta, int], ...]
"""Rows in steps of disorder: the highest disorder of a step, and its rows."""

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Drift:
    """A change of disorder to half or twice: the lag for a share of late rows, now and before.

    Attributes
    ----------
    share : float
        The share of rows that is late with these lags.
    last_hour, week : timedelta
        The lag in the last hour, and in the week before it.
    """

    share: float
    last_hour: timedelta
    week: timedelta

    def __str__(self) -> str:
        """Return the change as a sentence."""
        now, before = (in_words(lag // _MICROSECOND) for lag in (self.last_hour, self.week))
        change = "risen" if self.last_hour > self.week else "fallen"
        return (
            f"Disorder has {change}: for {percent(self.share)} late rows, the last hour needs a "
            f"lag of {now}, the week before {before}."
        )


@dataclass(frozen=True)
class Disorder:
    """How far the rows of an input are behind the time that the query had reached.

    Attributes
    ----------
    recent, last_hour, week : tuple of (timedelta, int)
        Rows in steps of disorder: the highest disorder of a step, and its rows. ``recent`` has
        about the last ``spark.eventtide.lagCurve.rows``; ``last_hour`` those of the present hour
        and of the one before, ``week`` those of about a week before these.
    drift : Drift or None
        The change from the week to the last hour; None if it is small.
    """

    recent: Steps
    last_hour: Steps
    week: Steps
    drift: Drift | None = None


def disorder_of(tree: dict[str, Any]) -> Disorder:
    """Return the disorder of a parsed JSON tree; times are in microseconds.

    Examples
    --------
    >>> disorder_of({"recent": [[0, 7], [15, 2]], "lastHour": [], "week": []}).recent
    ((datetime.timedelta(0), 7), (datetime.timedelta(microseconds=15), 2))
    """
    drift = tree.get("drift")
    return Disorder(
        _steps(tree["recent"]),
        _steps(tree["lastHour"]),
        _steps(tree["week"]),
        drift and Drift(drift["share"], _length(drift["lastHour"]), _length(drift["week"])),
    )


def _steps(pairs: list[tuple[int, int]]) -> Steps:
    return tuple((_length(disorder), rows) for disorder, rows in pairs)


def _length(micros: int) -> timedelta:
    try:
        return timedelta(microseconds=micros)
    except OverflowError:
        return timedelta.max
