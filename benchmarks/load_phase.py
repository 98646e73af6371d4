"""One rate for some time: what was sent, and what an engine did meanwhile and after it."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from load_windows import SECONDS, Lag, lag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from load_windows import Arrived, Spans
    from process_group import Usage
    from typing_extensions import Self

MOST_BEHIND = 10.0  # seconds, of each result at a rate that an engine holds: the next window's end
MOST_RISE = 2.0  # seconds that the lag may grow
MOST_LATE = 0.5  # seconds that the sender may take longer
MINUTE = 60.0


class Sample(NamedTuple):
    """What an engine took so far, and the rows in its topic that no result covers."""

    at: float
    usage: Usage
    backlog: int


@dataclass(frozen=True)
class Phase:
    """One rate; `first` and `last` are of the first and the last minute, or half, of sending.

    Attributes
    ----------
    first_lag, last_lag : Lag
        From closing rows to results.
    most : float
        Seconds, of the last result of a window.
    rise : float
        Seconds that the line through the lags of all windows rises.
    sender : float
        Seconds that the sender took longer than it should.
    cores : float
        CPU time of the engine in each second.
    first_memory, last_memory : int
        The resident memory of the engine in bytes, the median.
    first_backlog, last_backlog : int
        Rows that no result covered, the most; rows of open windows are among them.
    caught_up : float
        Seconds from the end of sending to the last result.
    """

    rate: int
    rows: int
    first_lag: Lag
    last_lag: Lag
    most: float
    rise: float
    sender: float
    cores: float
    first_memory: int
    last_memory: int
    first_backlog: int
    last_backlog: int
    caught_up: float

    @property
    def sent_rate(self) -> int:
        """Rows per second that were sent: fewer than the rate if the broker did not take more."""
        return round(self.rows / (self.rows / self.rate + max(0.0, self.sender)))

    @property
    def in_time(self) -> bool:
        """Whether neither the sender nor any result was far behind."""
        return self.most <= MOST_BEHIND and self.sender <= MOST_LATE

    @property
    def held(self) -> bool:
        """Whether results also came no later at the end than at the start."""
        return self.in_time and self.rise <= MOST_RISE

    def __str__(self) -> str:
        """As it is printed while others are measured."""
        return (
            f"{self.rate:,} rows/s: lag {self.first_lag}, then {self.last_lag} ms,"
            f" rise {self.rise:.2f} s, most {self.most:.1f} s, sender {self.sender:.2f} s late,"
            f" {self.cores:.2f} cores, {mib(self.first_memory)}, then {mib(self.last_memory)} MiB,"
            f" backlog {self.first_backlog:,}, then {self.last_backlog:,} rows,"
            f" caught up in {self.caught_up:.1f} s"
        )

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Make the fields a phase again."""
        lags = {name: Lag(**fields[name]) for name in ("first_lag", "last_lag")}
        return cls(**{**fields, **lags})


def mib(size: int) -> str:
    """Return bytes as a reader says them."""
    return f"{size / 2**20:,.0f}"


def phase(
    rate: int,
    spans: Spans,
    arrived: Mapping[int, Arrived],
    samples: Sequence[Sample],
    caught_up: float,
) -> Phase:
    """Sum up; the last window of what was sent has just the rows that close the others."""
    closed = [
        (spans.windows[after].at, arrived[number])
        for number, after in itertools.pairwise(sorted(spans.windows))
    ]
    loaded = closed[:-1] or closed  # when the last of them is closed nothing is sent any more
    lags = [lag([each]).p50 / 1000 for each in loaded]
    few = max(1, min(int(MINUTE) // SECONDS, len(loaded) // 2))
    first, last = _ends(samples)
    return Phase(
        rate=rate,
        rows=sum(span.end - span.begin for span in spans.windows.values()),
        first_lag=lag(loaded[:few]),
        last_lag=lag(loaded[-few:]),
        most=max(each.chunks[-1][0] - at for at, each in closed) / 1e9,
        rise=_rise(lags),
        sender=spans.late,
        cores=_cores(samples),
        first_memory=_median(first),
        last_memory=_median(last),
        first_backlog=max(sample.backlog for sample in first),
        last_backlog=max(sample.backlog for sample in last),
        caught_up=caught_up,
    )


def _ends(samples: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Return those of the first and of the last minute, or of the halves."""
    begin, end = samples[0].at, samples[-1].at
    length = min(MINUTE, (end - begin) / 2)
    return _where(samples, lambda at: at <= begin + length), _where(
        samples, lambda at: at >= end - length
    )


def _where(samples: Sequence[Sample], wanted: Callable[[float], bool]) -> list[Sample]:
    return [sample for sample in samples if wanted(sample.at)]


def _median(samples: Sequence[Sample]) -> int:
    return int(statistics.median(sample.usage.resident_bytes for sample in samples))


def _cores(samples: Sequence[Sample]) -> float:
    first, last = samples[0], samples[-1]
    return (last.usage.cpu_seconds - first.usage.cpu_seconds) / (last.at - first.at)


def _rise(lags: list[float]) -> float:
    if len(lags) == 1:
        return 0.0
    slope = np.polyfit(range(len(lags)), lags, 1)[0]
    return float(slope) * len(lags)
