"""Runs one engine between two topics of a broker, at one rate after the other."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from latency import Results, Window, beginning, closing, wrong
from latency_load import NANOS, Load, Sent, next_start, send

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet
    from concurrent.futures import Executor

    from latency_engines import Engine, Topics

KEYS = 100
RATES = (1_000, 10_000)
LADDER = tuple(1_000 * rate for rate in (50, 100, 150, 200, 300, 400, 600, 800, 1_000))

SKIPPED = 2  # seconds at the start of each rate
MOST_BEHIND = 1_000.0  # milliseconds, of each result at a rate that an engine carries
MOST_LATE = 0.5  # seconds that the sender may take longer
WAIT = 5.0  # seconds for results after the last row of a rate that may be too high
PATIENCE = 60.0  # the same for the others


@dataclass(frozen=True)
class Effort:
    """Seconds until an engine is warm, of each of the rates, and of each of the ladder."""

    warm: int
    rate: int
    step: int


@dataclass
class Times:
    """Milliseconds until results arrived, at one rate, in the order in which they were due.

    Attributes
    ----------
    row : list of float
        Since their closing rows were sent.
    end : list of float
        Since their windows ended.
    sender : float
        Seconds that the sender took longer than it should.
    """

    row: list[float]
    end: list[float]
    sender: float

    def __str__(self) -> str:
        """As it is printed while others are measured."""
        texts = (f"{self.quantile(percent):.1f}" for percent in (50, 99, 99.9))
        return f"{' / '.join(texts)} ms, sender {self.sender:.2f} s late"

    @property
    def carried(self) -> bool:
        """Whether neither the sender nor any result was far behind."""
        return max(self.row) <= MOST_BEHIND and self.sender <= MOST_LATE

    def quantile(self, percent: float) -> float:
        """Return the time since the closing row that this part of all results took at most."""
        ordered = sorted(self.row)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass
class Measured:
    """An engine at each of the rates and at the highest that it carried, and the right results."""

    engine: Engine
    rates: dict[int, Times] = field(default_factory=dict)
    highest: int = RATES[-1]
    windows: int = 0


class Run:
    """An engine that has started, and a process that sends.

    `check` raises if the engine has ended.
    """

    def __init__(
        self, engine: Engine, topics: Topics, sender: Executor, check: Callable[[], object]
    ) -> None:
        self._engine = engine
        self._topics = topics
        self._sender = sender
        self._check = check
        self._epoch = time.time_ns() - time.monotonic_ns()
        self._results = Results.of(topics.servers, topics.output)
        self._sent = Sent(KEYS)
        self._measured = Measured(engine)

    def measure(self, effort: Effort) -> Measured:
        """Warm up, then send at all rates."""
        self._must(RATES[-1], effort.warm)
        for rate in RATES:
            self._measured.rates[rate] = self._must(rate, effort.rate)
        right = max(self._sent.rows)
        if self._engine.climbs:
            right = self._climb(effort.step) or right
        self._compare(right)
        return self._measured

    def _climb(self, seconds: int) -> int:
        """Find the highest rate; return the last second of it, or 0."""
        last = 0
        for rate in LADDER:
            times = self._at(rate, seconds, WAIT)
            if times is None or not times.carried:
                break
            self._measured.rates[rate] = times
            self._measured.highest = rate
            last = max(self._sent.rows)
        return last

    def _compare(self, until: int) -> None:
        found = wrong(self._sent, self._results.windows, until, final=self._engine.final)
        if found:
            raise RuntimeError(f"{self._engine.name}: {len(found)} windows are wrong: {found[:5]}")
        self._measured.windows = sum(window.second < until for window in self._results.windows)

    def _must(self, rate: int, seconds: int) -> Times:
        times = self._at(rate, seconds, PATIENCE)
        if times is None:
            raise RuntimeError(f"{self._engine.name} has no results in time at {rate} rows/s")
        return times

    def _at(self, rate: int, seconds: int, wait: float) -> Times | None:
        """Send at a rate; None if results do not arrive within some seconds after it."""
        servers, source, epoch = self._topics.servers, self._topics.input, self._epoch
        load = Load(servers, source, KEYS, rate, seconds, epoch, next_start(epoch))
        sending = self._sender.submit(send, load, Sent(KEYS))
        while not sending.done():
            self._results.read()
            self._check()
        sent = sending.result()
        self._sent.rows |= sent.rows
        self._sent.first |= sent.first
        due = beginning(sent)
        if self._engine.final:
            due = closing(sent, by_key=self._engine.by_key)
        if not self._await(due.keys(), wait):
            print(f"  {rate:,} rows/s: results are missing", flush=True)
            return None
        times = self._times(due, sent)
        print(f"  {rate:,} rows/s: {times}", flush=True)
        return times

    def _await(self, due: AbstractSet[Window], wait: float) -> bool:
        until = time.monotonic() + wait
        self._results.parse()
        while not due <= self._results.windows.keys():
            if time.monotonic() > until:
                return False
            self._results.read()
            self._results.parse()
            self._check()
        return True

    def _times(self, due: Mapping[Window, int], sent: Sent) -> Times:
        first = min(sent.rows) + SKIPPED
        late = [(window, at) for window, at in sorted(due.items()) if window.second >= first]
        boundary = 1 if self._engine.final else 0  # the first update follows the start of a window
        ends = ((window.second + boundary) * NANOS - self._epoch for window, _ in late)
        arrived = [self._results.windows[window].first for window, _ in late]
        return Times(
            [(at - closed) / 1e6 for at, (_, closed) in zip(arrived, late, strict=True)],
            [(at - end) / 1e6 for at, end in zip(arrived, ends, strict=True)],
            sent.late,
        )
