"""Runs one engine between two topics of a broker: up to the highest rate, at it, and above it."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from latency_load import NANOS, Load, next_start, send
from load_phase import MOST_BEHIND, Phase, Sample, phase
from load_windows import KEYS, SECONDS, Counts, Span, Spans, complete, window_end, wrong
from process_group import usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from pathlib import Path

    from latency_engines import Engine, Topics

WARM_UPS = 6  # until the lowest rate is held
ABOVE = 1.5  # times the highest rate

AHEAD = 2.0  # seconds for the sender to connect
PAUSE = 2.0  # seconds between two looks at what the engine takes
PATIENCE = 300.0  # seconds for the results of all rows


@dataclass(frozen=True)
class Effort:
    """Rates from low to high, and seconds, which are multiples of a window's length.

    Attributes
    ----------
    warm : int
        At the lowest rate, once or more, until it is held.
    step : int
        At each of the others, to find the highest.
    hold, above : int
        At the highest, and above it.
    """

    ladder: tuple[int, ...]
    warm: int
    step: int
    hold: int
    above: int


@dataclass(frozen=True)
class Measured:
    """The highest rate that an engine held, and what happened above it."""

    held: Phase
    above: Phase
    results: int
    rows_lost: int


class Run:
    """An engine that has started, and a process that sends.

    `check` returns the group of the engine's processes, and raises if it has ended.
    """

    def __init__(
        self, engine: Engine, topics: Topics, sender: Executor, check: Callable[[], int]
    ) -> None:
        self._engine = engine
        self._topics = topics
        self._sender = sender
        self._check = check
        self._epoch = time.time_ns() - time.monotonic_ns()
        self._counts = Counts.of(topics.servers, topics.output)
        self._sent: dict[int, Span] = {}
        self._samples: list[Sample] = []

    def measure(self, effort: Effort, folder: Path) -> Measured:
        """Warm up, climb, hold, and go above; the folder is for a file that stops the sender."""
        stop = folder / "stop"
        with closing(self._counts.consumer):
            self._hold(effort.ladder[:1] * WARM_UPS, effort.warm, stop)
            rates = self._climb(effort, stop)
            held = self._hold(rates, effort.hold, stop)
            above = self._at(int(held.rate * ABOVE), effort.above)
            return Measured(held, above, *self._compare())

    def _climb(self, effort: Effort, stop: Path) -> tuple[int, ...]:
        """Return the rates below the first one at which results are too far behind."""
        for index, rate in enumerate(effort.ladder):
            if index > 0 and not self._at(rate, effort.step, stop).in_time:
                return effort.ladder[:index]
        return effort.ladder

    def _hold(self, rates: tuple[int, ...], seconds: int, stop: Path) -> Phase:
        """Hold the highest rate, or the next one below it; return the first that is held.

        Results come in batches, so a lag can rise by chance: then the rate has another try.
        """
        for rate in reversed(rates):
            held = self._at(rate, seconds, stop)
            if held.in_time and not held.held:
                held = self._at(rate, seconds, stop)
            if held.held:
                return held
        raise RuntimeError(f"{self._engine.name} does not hold {rates[0]:,} rows/s")

    def _at(self, rate: int, seconds: int, stop: Path | None = None) -> Phase:
        """Send at a rate, until results are too far behind if there is a file to stop it."""
        if stop:
            stop.unlink(missing_ok=True)
        start = next_start(self._epoch, SECONDS, AHEAD)
        servers, topic = self._topics.servers, self._topics.input
        load = Load(servers, topic, KEYS, rate, seconds, self._epoch, start, SECONDS, stop)
        sending = self._sender.submit(send, load, Spans())
        self._samples.clear()
        while not sending.done():
            self._read()
            if stop and self._behind(start) > MOST_BEHIND:
                stop.touch()
            if time.monotonic_ns() >= start:
                self._sample()
        spans = sending.result()
        self._sent |= spans.windows
        caught_up = self._catch_up()
        found = phase(rate, spans, self._counts.windows, self._samples, caught_up)
        print(f"  {found}", flush=True)
        return found

    def _read(self) -> None:
        self._check()
        if not self._counts.read():
            self._counts.parse()

    def _behind(self, start: int) -> float:
        """Return how many seconds ago the first window from a time on ended without all results."""
        number = (self._epoch + start) // NANOS // SECONDS
        arrived = self._counts.windows
        while number in arrived and arrived[number].number >= KEYS:
            number += 1
        return (time.monotonic_ns() - window_end(number, self._epoch)) / 1e9

    def _sample(self) -> None:
        """Look at what the engine takes, from time to time."""
        now = time.monotonic()
        if not self._samples or now >= self._samples[-1].at + PAUSE:
            end = self._end()
            if end is not None:
                backlog = end - self._counts.rows
                self._samples.append(Sample(now, usage(self._check()), backlog))

    def _end(self) -> int | None:
        """Return the number of rows in the topic; None while a new topic has no leader."""
        partition = TopicPartition(self._topics.input, 0)
        try:
            _, end = self._counts.consumer.get_watermark_offsets(partition, PATIENCE)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION:
                raise
            return None
        return int(end)

    def _catch_up(self) -> float:
        """Wait for all results; return how long it took."""
        began = time.monotonic()
        while not complete(self._closed(), self._counts.windows):
            if time.monotonic() > began + PATIENCE:
                self._compare()
            self._read()
        return time.monotonic() - began

    def _closed(self) -> dict[int, Span]:
        last = max(self._sent)
        return {number: span for number, span in self._sent.items() if number != last}

    def _compare(self) -> tuple[int, int]:
        """Raise if a result is wrong; return the number of results and of lost rows."""
        closed, name = self._closed(), self._engine.name
        found = wrong(closed, self._counts.windows)
        if found:
            raise RuntimeError(f"{name}: {len(found)} windows are wrong: {found[:5]}")
        results = sum(span.results for span in closed.values())
        return results, sum(span.end - span.begin for span in closed.values()) - self._counts.rows
