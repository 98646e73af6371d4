"""The windows of bench_load.py: the rows that were sent, and the results that have come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from latency import Reader
from latency_load import NANOS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

KEYS = 100_000
SECONDS = 10  # of a window


@dataclass
class Span:
    """The numbers of the rows of a window, up to `end`, and when the first of them was sent."""

    begin: int
    end: int
    at: int

    @property
    def results(self) -> int:
        """How many keys have rows."""
        return min(KEYS, self.end - self.begin)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of rows of each key: keys take turns."""
        whole, rest = divmod(self.end - self.begin, KEYS)
        counts = np.full(KEYS, whole)
        counts[(self.begin + np.arange(rest)) % KEYS] += 1
        return counts


@dataclass
class Spans:
    """What was sent, for each window; `late` as in `latency_load.Sent`."""

    windows: dict[int, Span] = field(default_factory=dict)
    late: float = 0.0

    def add(self, second: int, numbers: range, now: int) -> None:
        """Note rows that are sent together."""
        span = self.windows.setdefault(second // SECONDS, Span(numbers.start, numbers.start, now))
        span.end = numbers.stop


@dataclass
class Arrived:
    """The results of a window.

    Attributes
    ----------
    rows, results : array of int
        The counts in the results of each key, added up, and how many results it has.
    number : int
        How many results there are.
    chunks : list of tuple of int
        When they came, in nanoseconds of the monotonic clock, and how many.
    """

    rows: NDArray[np.int32] = field(default_factory=lambda: np.zeros(KEYS, np.int32))
    results: NDArray[np.int32] = field(default_factory=lambda: np.zeros(KEYS, np.int32))
    number: int = 0
    chunks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, keys: NDArray[np.int64], rows: NDArray[np.int64], now: int) -> None:
        """Add results that came together."""
        np.add.at(self.rows, keys, rows)
        np.add.at(self.results, keys, 1)
        self.number += len(keys)
        self.chunks.append((now, len(keys)))


@dataclass
class Counts(Reader):
    """The results in a topic, as they come, by window; `rows` are those in all results."""

    windows: dict[int, Arrived] = field(default_factory=dict)
    rows: int = 0

    def parse(self) -> None:
        """Count what was read: not at once, which would delay results that come after it."""
        for now, messages in self._read:
            values = b",".join(message.value() or b"" for message in messages)
            fields = np.fromstring(values, np.int64, sep=",").reshape(-1, 3)
            starts, keys, rows = fields.T
            for start in np.unique(starts):
                own = starts == start
                window = self.windows.setdefault(int(start) // (1000 * SECONDS), Arrived())
                window.add(keys[own], rows[own], now)
            self.rows += int(rows.sum())
        self._read.clear()


def complete(closed: Mapping[int, Span], arrived: Mapping[int, Arrived]) -> bool:
    """Return whether each window has a result of each key, at least by their number."""
    return all(
        number in arrived and arrived[number].number >= span.results
        for number, span in closed.items()
    )


def wrong(closed: Mapping[int, Span], arrived: Mapping[int, Arrived]) -> list[str]:
    """Return what is wrong: each window must have one result of each key, with all rows."""
    found = []
    for number in sorted(closed.keys() | arrived.keys()):
        counts = closed[number].counts() if number in closed else np.zeros(KEYS, np.int64)
        has = arrived.get(number) or Arrived()
        keys = np.flatnonzero((has.rows != counts) | (has.results != (counts > 0)))
        if len(keys):
            lost = int(counts.sum() - has.rows.sum())
            found.append(f"window {number}: {len(keys):,} keys are wrong, {lost:,} rows are lost")
    return found


@dataclass(frozen=True)
class Lag:
    """Milliseconds from the closing row of a window to results, most of them and nearly all."""

    p50: float
    p99: float

    def __str__(self) -> str:
        """As a reader says it."""
        return f"{self.p50:,.0f} / {self.p99:,.0f}"


def lag(windows: Iterable[tuple[int, Arrived]]) -> Lag:
    """Return the lag of windows, each with the time at which its closing row was sent."""
    chunks = sorted(
        ((now - closed) / 1e6, number)
        for closed, arrived in windows
        for now, number in arrived.chunks
    )
    millis = np.repeat([each for each, _ in chunks], [number for _, number in chunks])
    p50, p99 = np.quantile(millis, [0.5, 0.99])
    return Lag(float(p50), float(p99))


def window_end(number: int, epoch: int) -> int:
    """Return when a window ends, in nanoseconds of the monotonic clock."""
    return (number + 1) * SECONDS * NANOS - epoch
