"""How long after its closing row a window's result arrives, and whether all results are right."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import Consumer, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from confluent_kafka import Message
    from latency_load import Sent
    from typing_extensions import Self


class Window(NamedTuple):
    """A second of event time of one key."""

    second: int
    key: int


@dataclass
class Arrived:
    """The results of a window: how many, the count of the last, when the first one came."""

    first: int
    results: int = 0
    rows: int = 0


@dataclass
class Reader:
    """The messages in a topic of one partition, as they come."""

    consumer: Consumer
    _read: list[tuple[int, list[Message]]] = field(default_factory=list)

    @classmethod
    def of(cls, servers: str, topic: str) -> Self:
        """Begin with the first message."""
        consumer = Consumer(
            {"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False}
        )
        consumer.assign([TopicPartition(topic, 0, 0)])
        return cls(consumer)

    def read(self) -> bool:
        """Wait for messages for a moment, and note when they have come, if any did."""
        message = self.consumer.poll(0.05)
        if message is not None:
            now = time.monotonic_ns()
            self._read.append((now, [message, *self.consumer.consume(1000, 0)]))
        return message is not None


@dataclass
class Results(Reader):
    """The results in a topic, as they come."""

    windows: dict[Window, Arrived] = field(default_factory=dict)

    def parse(self) -> None:
        """Find the windows of what was read: not at once, which would take time from engines.

        A message that is a row, and no result, is counted.
        """
        for now, messages in self._read:
            for message in messages:
                start, key, *rows = (message.value() or b"").split(b",")
                window = Window(int(start) // 1000, int(key))
                arrived = self.windows.setdefault(window, Arrived(now))
                arrived.results += 1
                arrived.rows = int(rows[0]) if rows else arrived.results
        self._read.clear()


def closing(sent: Sent, *, by_key: bool) -> dict[Window, int]:
    """Return when the closing row of each window was sent.

    That is the first row after the window's end: of the same key, or of all.
    """
    found = {}
    seconds = sorted(sent.rows)
    for second, after in itertools.pairwise(seconds):
        first = sent.first[after]
        earliest = min(filter(None, first))
        for key, rows in enumerate(sent.rows[second]):
            if rows and (first[key] or not by_key):
                found[Window(second, key)] = first[key] if by_key else earliest
    return found


def beginning(sent: Sent) -> dict[Window, int]:
    """Return when the first row of each window was sent."""
    return {
        Window(second, key): at
        for second, first in sent.first.items()
        for key, at in enumerate(first)
        if at
    }


def wrong(sent: Sent, arrived: Mapping[Window, Arrived], until: int, *, final: bool) -> list[str]:
    """Return what is wrong with the results of windows before a second.

    Each window must be there with the rows that were sent: as its only result if that is final,
    else as the last one.
    """
    expected = {
        Window(second, key): rows
        for second, counts in sent.rows.items()
        if second < until
        for key, rows in enumerate(counts)
        if rows
    }
    known = {window: each for window, each in arrived.items() if window.second < until}
    return list(_differences(expected, known, final=final))


def _differences(
    expected: Mapping[Window, int], arrived: Mapping[Window, Arrived], *, final: bool
) -> Iterator[str]:
    for window in sorted(expected.keys() | arrived.keys()):
        rows, found = expected.get(window, 0), arrived.get(window)
        if found is None:
            yield f"{window} has no result, but {rows} rows"
        elif found.rows != rows:
            yield f"{window} has {found.rows} rows in its result, but {rows} were sent"
        elif final and found.results != 1:
            yield f"{window} has {found.results} results"
