"""Windows that close live: the flights go through a broker, in Spark's real-time mode.

A producer sends each report when its flight lands, in a time that runs faster. Departures are
counted by hour and destination. Each destination has its own watermark, so its next report closes
its windows, and the result leaves at once. A result is printed with the milliseconds from the send
of the report that closed it to its receipt, both by the clock of this process.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING

import eventtide as et
from confluent_kafka import Consumer, Producer, TopicPartition
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from examples.flights.data import HOUR
from examples.flights.measure import AccountsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from examples.flights.data import Flights

__all__ = ["Closed", "Live", "Pace"]

_LAG = timedelta(hours=1)
_PATIENCE = 90.0  # seconds
_SHORTEST = 5  # seconds: Spark allows no shorter batch
_MARGIN = 3  # seconds of a batch after the last report
_WARM = "-"  # of the first rows, which show that the query runs, and are not counted


@dataclass(frozen=True)
class Pace:
    """How fast the replay is.

    Attributes
    ----------
    days : int
        The days of flights.
    seconds : float
        How long they take, all in one batch.
    """

    days: int
    seconds: float


@dataclass(frozen=True)
class Closed:
    """A window as its result was received: the hour's end, and the milliseconds that it took."""

    end: datetime
    dest: str
    rows: int
    millis: float


@dataclass
class _Watermarks:
    """The watermark of a destination after each report that moved it, and when that was sent."""

    reached: list[datetime] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)

    def send(self, scheduled: datetime) -> None:
        if not self.reached or scheduled - _LAG > self.reached[-1]:
            self.reached.append(scheduled - _LAG)
            self.sent.append(time.monotonic())

    def closed(self, end: datetime) -> float:
        """Return when the report was sent that closed a window."""
        return self.sent[bisect_left(self.reached, end)]


class Live:
    """The flights of some days on their way through a broker.

    Parameters
    ----------
    address : str
        The broker, ``HOST:PORT``, with two empty topics of one partition.
    rows, results : str
        These topics.
    flights : Flights
        The reports to send.
    pace : Pace
        How fast.
    """

    def __init__(self, address: str, rows: str, results: str, flights: Flights, pace: Pace) -> None:
        self._address, self._rows, self._results = address, rows, results
        self._flights, self._pace = flights, pace
        self._producer = Producer({"bootstrap.servers": address, "linger.ms": 0})
        self._watermarks: defaultdict[str, _Watermarks] = defaultdict(_Watermarks)
        self._consumer = Consumer({"bootstrap.servers": address, "group.id": "live"})
        self._partition = TopicPartition(results, 0, 0)
        self._consumer.assign([self._partition])
        self._got = self._number = 0  # results, and rows to commit, once that is known
        self.sent = 0
        self.closed: list[Closed] = []

    def run(self, spark: SparkSession, folder: Path, show: Callable[[Closed], None]) -> int:
        """Send all reports, and show each window when its result is received.

        A short batch comes first, in which the JVM gets warm.

        Returns
        -------
        int
            The number of late rows.

        Raises
        ------
        AccountsError
            The rows sent are not the rows in windows plus the late rows.
        """
        with self._running(spark, folder, _SHORTEST) as query:
            for hours in 0, 2:
                self._send(_WARM, self._flights.first + hours * HOUR)
            self._number = 2
            list(self._received(query))
        self._number = 0
        with self._running(spark, folder, self._pace.seconds + _MARGIN) as query:
            results = self._received(query)
            self._send(_WARM, self._flights.first + 4 * HOUR)
            next(results)  # the query runs
            Thread(target=self._replay, daemon=True).start()
            for one in results:
                self.closed.append(one)
                show(one)
        self._consumer.close()
        late = et.read_late(folder).count()
        counted = sum(one.rows for one in self.closed)
        if counted + late != self.sent:
            raise AccountsError(f"{self.sent} rows sent, {counted} in windows, {late} late")
        return late

    @contextmanager
    def _running(
        self, spark: SparkSession, folder: Path, seconds: float
    ) -> Iterator[StreamingQuery]:
        query = self._start(spark, folder, seconds)
        try:
            yield query
        finally:
            query.stop()

    def _start(self, spark: SparkSession, folder: Path, seconds: float) -> StreamingQuery:
        server = {"kafka.bootstrap.servers": self._address}
        lines = spark.readStream.format("kafka").options(**server).option("subscribe", self._rows)
        report = F.from_csv(F.expr("string(value)"), "ts timestamp, dest string").alias("report")
        reports = lines.option("startingOffsets", "earliest").load().select(report)
        policy = WatermarkPolicies.with_fixed_lag(_LAG)
        window = et.window(reports.select("report.*")).event_time("ts", policy).key_by("dest")
        counts = window.watermark_scope("key").tumbling(HOUR).agg(F.count("*").alias("rows"))
        end = F.col("window.end").alias("end")
        value = F.to_json(F.struct(end, "dest", "rows")).alias("value")
        writer = counts.results.select(value).writeStream.format("kafka").options(**server)
        writer = writer.option("topic", self._results).option("checkpointLocation", str(folder))
        trigger = {"realTime": f"{seconds:.0f} seconds"}  # which the stubs of older Sparks lack
        return counts.start(writer.outputMode("update").trigger(**trigger))

    def _received(self, query: StreamingQuery) -> Iterator[Closed]:
        """Yield results until all rows are committed and all results are read."""
        until, is_last = time.monotonic() + _PATIENCE, False
        while not is_last or self._got < self._consumer.get_watermark_offsets(self._partition)[1]:
            message = self._consumer.poll(0.2)
            now = time.monotonic()
            if message is not None and message.error() is None:
                self._got, until = self._got + 1, now + _PATIENCE
                yield self._closed(json.loads(message.value() or b""), now)
            elif not is_last:
                is_last = self._is_committed(query)
                if now > until or not query.isActive:
                    raise RuntimeError(f"no result for long: {query.exception()}")

    def _closed(self, row: dict[str, str], now: float) -> Closed:
        end = datetime.fromisoformat(row["end"].replace("Z", "+00:00"))
        sent = self._watermarks[row["dest"]].closed(end)
        return Closed(end, row["dest"], int(row["rows"]), 1000 * (now - sent))

    def _is_committed(self, query: StreamingQuery) -> bool:
        progress = query.lastProgress
        if progress is None or not self._number:
            return False
        reached = json.loads(progress.sources[0].endOffset or "{}").get(self._rows, {})
        return bool(reached.get("0") == self._number)

    def _replay(self) -> None:
        """Send all reports at their times, then one far ahead for each destination."""
        began, number = time.monotonic(), 0
        scale = self._pace.seconds / (self._flights.last - self._flights.first).total_seconds()
        for report in (one for landed in self._flights.by_hour.values() for one in landed):
            due = began + (report.landed - self._flights.first).total_seconds() * scale
            time.sleep(max(0, due - time.monotonic()))
            self._send(report.dest, report.scheduled)
            number += 1
        end = max(self._flights.by_hour) + 100 * HOUR
        for dest in [dest for dest in self._watermarks if dest != _WARM]:
            self._send(dest, end)
        self._producer.flush(_PATIENCE)
        self.sent, self._number = number, number + len(self._watermarks) + 2

    def _send(self, dest: str, scheduled: datetime) -> None:
        self._watermarks[dest].send(scheduled)
        self._producer.produce(self._rows, f"{scheduled:%Y-%m-%d %H:%M:%S},{dest}".encode())
        self._producer.poll(0)
