"""Handlers of late rows that keep what they are given, and a stream that has late rows."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
from eventtide import WatermarkPolicies, _bridge
from eventtide._text.schemas import row_type
from eventtide.testing._values import storable
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventtide import LateContext, WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Writes: TypeAlias = "Callable[[WindowBuilder], DataStreamWriter]"

SOON = 60  # seconds until a wait that should have ended is given up
LATE = "window_closed"


@dataclass
class Calls:
    """A handler that keeps what it was given, and fails for batches with some of the keys."""

    fails_for: str = ""
    made: list[tuple[int, str, dict[str, int]]] = field(default_factory=list)
    contexts: list[LateContext] = field(default_factory=list)

    def __call__(self, rows: DataFrame, context: LateContext) -> None:
        """Take the rows of a batch."""
        [batch] = {row["_batch_id"] for row in rows.collect()}
        assert batch == context.batch_id
        keys = "".join(sorted(row["key"] for row in rows.collect()))
        self.contexts.append(context)
        self.made.append((batch, keys, dict(context.reasons)))
        if set(keys) & set(self.fails_for):
            raise OSError(keys)

    @property
    def keys(self) -> list[str]:
        """The keys of the rows, call by call."""
        return [keys for _, keys, _ in self.made]


@dataclass
class Held(Calls):
    """As `Calls`, but each call waits once it has begun until all may go on."""

    begun: Event = field(default_factory=Event)
    go_on: Event = field(default_factory=Event)

    def __call__(self, rows: DataFrame, context: LateContext) -> None:
        """Take the rows of a batch when it may."""
        self.begun.set()
        assert self.go_on.wait(SOON)
        super().__call__(rows, context)


def tens(events: DataFrame) -> WindowBuilder:
    """Count by windows of ten seconds; the watermark is the highest time."""
    window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("0s"))
    return window.tumbling("10s").agg(F.count("*").alias("n"))


class Feed:
    """A scripted stream, batch by batch: letters are late rows, a number is a row on time."""

    def __init__(self, spark: SparkSession) -> None:
        self._schema = row_type(EVENTS)
        self._source = _bridge.of(spark).script(spark, self._schema)
        self.events = self._source.stream()

    def add(self, *batches: str | int) -> None:
        """Let the stream have batches."""
        for batch in batches:
            rows = (
                [(at(1), key) for key in batch]
                if isinstance(batch, str)
                else [(at(batch), "on time")]
            )
            stored = [storable(row, self._schema) for row in rows]
            self._source.add(stored, partitions=2)

    def close(self) -> None:
        """Let go of the rows."""
        self._source.close()


@contextmanager
def started(window: WindowBuilder, writer: DataStreamWriter) -> Iterator[StreamingQuery]:
    """Run a query until the block ends."""
    query = et.start(window, writer)
    try:
        yield query
    finally:
        query.stop()


def alone(spark: SparkSession, query: StreamingQuery) -> StreamingQuery:
    """Return a query without what its handler makes of it."""
    found = spark.streams.get(query.id)
    assert found is not None
    return found


def log(spark: SparkSession, of: StreamingQuery) -> list[str]:
    """Return the keys of the late log."""
    return sorted(row["key"] for row in et.read_late(of, spark=spark).collect())
