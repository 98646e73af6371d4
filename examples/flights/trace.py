"""What a replay leaves behind of each setting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from examples.flights.data import Report
    from examples.flights.settings import Setting

__all__ = ["Result", "Strike", "Top", "Trace"]


@dataclass(frozen=True)
class Result:
    """One window's count, and what the query's clock showed when it came out."""

    end: datetime
    dest: str
    rows: int
    out: datetime


@dataclass(frozen=True)
class Top:
    """How far one substream has come."""

    name: str
    top: datetime | None
    is_idle: bool


@dataclass(frozen=True)
class Strike:
    """One hour of one query.

    Attributes
    ----------
    clock : datetime
        What the clock showed.
    before, after : datetime
        The watermark that the hour's reports met, and the one they left; 1970 before there is one.
    landed : tuple of Report
        What it read.
    late : tuple of Report
        Those of them that missed a window, which had closed already: its end was at or below the
        watermark. For eventtide's windows, in the end, those that are in the late log.
    tops : tuple of Top
        Its substreams afterwards; none for stock Spark.
    """

    clock: datetime
    before: datetime
    after: datetime
    landed: tuple[Report, ...]
    late: tuple[Report, ...]
    tops: tuple[Top, ...]


@dataclass(frozen=True)
class Trace:
    """What one setting did, and where its checkpoint is."""

    setting: Setting
    checkpoint: Path
    strikes: list[Strike] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
