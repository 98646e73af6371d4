"""Sends rows to a topic at a steady rate, and remembers what was sent.

The value of a row is its event time in milliseconds, a comma, and its key. Rows of a millisecond
are sent together, and their event time is when that happens. Keys take turns.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field

from confluent_kafka import Producer

KEYS = 100
NANOS = 1_000_000_000
TICK = 1_000_000  # nanoseconds
PATIENCE = 60.0  # seconds

_TEXTS = [b"%d" % key for key in range(KEYS)]


@dataclass(frozen=True)
class Load:
    """Rows a second into a topic of one partition, for a number of whole seconds.

    `epoch` is the time of day in nanoseconds at which the monotonic clock was 0: all processes of a
    machine have the same monotonic clock.
    """

    servers: str
    topic: str
    rate: int
    seconds: int
    epoch: int


@dataclass
class Sent:
    """What was sent, for each second of event time.

    Attributes
    ----------
    rows : dict of list of int
        The rows of each key.
    first : dict of list of int
        When the first of them was sent, in nanoseconds of the monotonic clock; 0 for none.
    late : float
        Seconds that sending took longer than it should.
    """

    rows: dict[int, list[int]] = field(default_factory=dict)
    first: dict[int, list[int]] = field(default_factory=dict)
    late: float = 0.0

    def add(self, second: int, numbers: range, now: int) -> None:
        """Count rows that are sent together."""
        rows = self.rows.setdefault(second, [0] * KEYS)
        first = self.first.setdefault(second, [0] * KEYS)
        for number in numbers:
            key = number % KEYS
            if not rows[key]:
                first[key] = now
            rows[key] += 1


def send(load: Load) -> Sent:
    """Send from the next whole second on."""
    producer = Producer(
        {
            "bootstrap.servers": load.servers,
            "linger.ms": 0,
            "log_level": 0,  # a broker that has just started says that it is busy
            "enable.idempotence": True,  # keeps the order
            "queue.buffering.max.messages": 10_000_000,
            "queue.buffering.max.kbytes": 2_000_000,
        }
    )
    producer.list_topics(load.topic, PATIENCE)  # connects
    sent = Sent()
    gc.disable()  # a collection would delay rows
    start = _next_second(load.epoch)
    total, done = load.rate * load.seconds, 0
    while done < total:
        now = time.monotonic_ns()
        due = min(total, (now - start) * load.rate // NANOS + 1)
        if due > done:
            rows = range(done, due)
            _produce(producer, load, rows, now)
            sent.add((load.epoch + now) // NANOS, rows, now)
            done = due
        producer.poll(0)
        time.sleep(max(0, TICK - time.monotonic_ns() % TICK) / NANOS)
    sent.late = max(0, time.monotonic_ns() - start) / NANOS - load.seconds
    if producer.flush(PATIENCE) > 0:
        raise RuntimeError("the broker did not take all rows")
    gc.enable()
    return sent


def _next_second(epoch: int) -> int:
    """Wait for the next second, and return when it begins."""
    now = time.monotonic_ns()
    start = now + NANOS - (epoch + now) % NANOS
    time.sleep((start - now) / NANOS)
    return start


def _produce(producer: Producer, load: Load, rows: range, now: int) -> None:
    head = b"%d," % ((load.epoch + now) // 1_000_000)
    values = [{"value": head + _TEXTS[row % KEYS]} for row in rows]
    if producer.produce_batch(load.topic, values, partition=0) != len(values):
        raise RuntimeError("the queue of the producer is full")
