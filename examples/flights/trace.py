"""The record of each setting of a replay."""

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
    """One window's count, and the time of the query's clock at its emission."""

    end: datetime
    dest: str
    rows: int
    out: datetime


@dataclass(frozen=True)
class Top:
    """The progress of one substream."""

    name: str
    top: datetime | None
    is_idle: bool


@dataclass(frozen=True)
class Strike:
    """One hour of one query.

    Attributes
    ----------
    clock : datetime
        The time of the clock.
    before, after : datetime
        The watermark before and after the hour's reports; 1970 before the first watermark.
    landed : tuple of Report
        The reports that the query read.
    late : tuple of Report
        The reports that missed a closed window: its end was at or below the watermark. For
        eventtide's windows, after the end of the replay, the reports in the late log.
    tops : tuple of Top
        The substreams afterwards; none for stock Spark.
    """

    clock: datetime
    before: datetime
    after: datetime
    landed: tuple[Report, ...]
    late: tuple[Report, ...]
    tops: tuple[Top, ...]


@dataclass(frozen=True)
class Trace:
    """The hours and results of one setting, and the location of its checkpoint."""

    setting: Setting
    checkpoint: Path
    strikes: list[Strike] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
