"""Sends rows to a topic at a steady rate, and remembers what was sent.

The value of a row is its event time in milliseconds, a comma, and its key. Rows of a millisecond
are sent together, and their event time is when that happens. Keys take turns: a row's number,
modulo the number of keys, is its key.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from confluent_kafka import Producer

if TYPE_CHECKING:
    from pathlib import Path

NANOS = 1_000_000_000
TICK = 1_000_000  # nanoseconds
PATIENCE = 60.0  # seconds
MOST_QUEUED = 2_000_000  # rows that the broker has not taken


@dataclass(frozen=True)
class Load:
    """Rows a second into a topic of one partition, for a number of whole seconds.

    Attributes
    ----------
    epoch : int
        The time of day in nanoseconds at which the monotonic clock was 0: all processes of a
        machine have the same monotonic clock.
    start : int
        When the first row is sent, in nanoseconds of that clock.
    window : int
        The seconds of a window, if a row more closes the last one.
    stop : Path, optional
        Sending ends early when this file exists.
    """

    servers: str
    topic: str
    keys: int
    rate: int
    seconds: int
    epoch: int
    start: int
    window: int = 0
    stop: Path | None = None


class Record(Protocol):
    """What remembers the rows; `late` are the seconds that sending took longer than it should."""

    late: float

    def add(self, second: int, numbers: range, now: int) -> None:
        """Note rows that are sent together, in a second of event time."""


R = TypeVar("R", bound=Record)


@dataclass
class Sent:
    """What was sent, for each second of event time.

    Attributes
    ----------
    keys : int
        The number of keys.
    rows : dict of list of int
        The rows of each key.
    first : dict of list of int
        When the first of them was sent, in nanoseconds of the monotonic clock; 0 for none.
    late : float
        Seconds that sending took longer than it should.
    """

    keys: int
    rows: dict[int, list[int]] = field(default_factory=dict)
    first: dict[int, list[int]] = field(default_factory=dict)
    late: float = 0.0

    def add(self, second: int, numbers: range, now: int) -> None:
        """Count rows that are sent together."""
        rows = self.rows.setdefault(second, [0] * self.keys)
        first = self.first.setdefault(second, [0] * self.keys)
        for number in numbers:
            key = number % self.keys
            if not rows[key]:
                first[key] = now
            rows[key] += 1


def next_start(epoch: int, seconds: int = 1, ahead: float = 0.1) -> int:
    """Return the first multiple of some seconds that is far enough ahead, as a monotonic time."""
    return _multiple(epoch, seconds, time.monotonic_ns() + int(ahead * NANOS))


def _multiple(epoch: int, seconds: int, earliest: int) -> int:
    """Return the first multiple of some seconds from a monotonic time on."""
    return earliest + -(epoch + earliest) % (seconds * NANOS)


def send(load: Load, sent: R) -> R:
    """Send from the start of the load on; return the record of it."""
    sender = _Sender(load, sent)
    gc.disable()  # a collection would delay rows
    sender.steadily()
    if load.window:
        sender.close()
    sender.flush()
    gc.enable()
    return sent


class _Sender:
    """A producer, and how many rows it has sent."""

    def __init__(self, load: Load, sent: Record) -> None:
        self._load = load
        self._sent = sent
        self._done = 0
        self._last = 0  # when a row was sent
        self._texts = [b"%d" % key for key in range(load.keys)]
        self._producer = Producer(
            {
                "bootstrap.servers": load.servers,
                "linger.ms": 0,
                "log_level": 0,  # a broker that has just started says that it is busy
                "enable.idempotence": True,  # keeps the order
                "queue.buffering.max.messages": 10_000_000,
                "queue.buffering.max.kbytes": 2_000_000,
            }
        )
        self._producer.list_topics(load.topic, PATIENCE)  # connects

    def steadily(self) -> None:
        """Send at the rate, as far as the broker takes the rows."""
        load = self._load
        total = load.rate * load.seconds
        _sleep_until(load.start)
        while self._done < total and not (load.stop and load.stop.exists()):
            now = time.monotonic_ns()
            due = min(total, (now - load.start) * load.rate // NANOS + 1)
            self._until(min(due, self._done + MOST_QUEUED - len(self._producer)), now)
            self._producer.poll(0)
            time.sleep(max(0, TICK - time.monotonic_ns() % TICK) / NANOS)
        self._sent.late = max(0, time.monotonic_ns() - load.start) / NANOS - load.seconds

    def close(self) -> None:
        """Send a row in the next window, unless some rows were so late that they are in it."""
        load = self._load
        if self._last < load.start + load.seconds * NANOS:
            _sleep_until(_multiple(load.epoch, load.window, self._last))
            self._until(self._done + 1, time.monotonic_ns())

    def flush(self) -> None:
        """Wait until the broker has all rows."""
        if self._producer.flush(PATIENCE) > 0:
            raise RuntimeError("the broker did not take all rows")

    def _until(self, due: int, now: int) -> None:
        if due > self._done:
            rows = range(self._done, due)
            self._produce(rows, now)
            self._sent.add((self._load.epoch + now) // NANOS, rows, now)
            self._done, self._last = due, now

    def _produce(self, rows: range, now: int) -> None:
        load, texts = self._load, self._texts
        head = b"%d," % ((load.epoch + now) // 1_000_000)
        values = [{"value": head + texts[row % load.keys]} for row in rows]
        if self._producer.produce_batch(load.topic, values, partition=0) != len(values):
            raise RuntimeError("the queue of the producer is full")


def _sleep_until(start: int) -> None:
    time.sleep(max(0, start - time.monotonic_ns()) / NANOS)
