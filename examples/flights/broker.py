"""The section for a broker: the reports go through Kafka, a partition for each distance band.

Long flights land hours after short flights that left at the same time, so some partitions are
always behind others. Stock Spark has one watermark for all; here each partition has its own.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import eventtide as et
import pyspark
from eventtide import WatermarkPolicies, _jvm
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from examples.flights import session
from examples.flights.data import BANDS, HOUR

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from examples.flights.data import Flights

__all__ = ["CONNECTOR", "CONNECTORS", "LAG", "Carried", "Topic", "connector", "through_kafka"]

LAG = "1 hour"
_REPORT = "ts timestamp, dest string"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
CONNECTORS = {"4.1": "4.1.3", "4.2": "4.2.0", "4.3": "4.2.0"}  # as in docs/how-to/kafka.md


@dataclass(frozen=True)
class Topic:
    """The destination of the reports: ``HOST:PORT/TOPIC``, a topic with six partitions."""

    broker: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Topic:
        """Read the option of the command line.

        Raises
        ------
        ValueError
            It has another form.
        """
        found = re.fullmatch(r"([^/:]+:\d+)/([\w.-]+)", text)
        if found is None:
            raise ValueError(f"--kafka is {text!r}, but must be HOST:PORT/TOPIC")
        return cls(*found.groups())

    def refuse_rows(self, spark: SparkSession) -> None:
        """Refuse a topic that is too small, or that has rows: all of them would be counted.

        Raises
        ------
        ValueError
            There are rows in it, or one of six partitions cannot be read.
        """
        earliest = {str(partition): -2 for partition in range(len(BANDS))}  # names all partitions
        reader = spark.read.format("kafka").options(**self._reading)
        reader = reader.option("startingOffsets", json.dumps({self.name: earliest}))
        for timeout in "kafka.request.timeout.ms", "kafka.default.api.timeout.ms":
            reader = reader.option(timeout, "10000")
        try:
            is_empty = reader.load().isEmpty()
        except _jvm.JVM_ERRORS as error:
            raise ValueError(
                f"--kafka names the topic {self.name!r} at {self.broker}, of which"
                f" {len(BANDS)} partitions cannot be read:"
                f" {_jvm.text_of(error).splitlines()[0]}"
            ) from error
        if not is_empty:
            raise ValueError(
                f"--kafka names the topic {self.name!r}, which has rows, but must be empty:"
                " name a new topic"
            )

    @property
    def _reading(self) -> dict[str, str]:
        return {
            "kafka.bootstrap.servers": self.broker,
            "subscribe": self.name,
            "startingOffsets": "earliest",
            "kafka.fetch.max.wait.ms": "10",  # otherwise half a second per batch
        }

    def stream(self, spark: SparkSession) -> DataFrame:
        """Return the reports in the topic, from its beginning."""
        rows = spark.readStream.format("kafka").options(**self._reading).load()
        report = F.from_json(F.col("value").cast("string"), _REPORT).alias("report")
        return rows.select(report).select("report.*")

    def send(self, reports: DataFrame) -> None:
        """Append reports, each to the partition of its ``band``."""
        bands = F.array(*map(F.lit, BANDS))
        partition = (F.array_position(bands, F.col("band")) - 1).cast("int").alias("partition")
        value = F.to_json(F.struct("ts", "dest")).alias("value")
        writer = reports.select(value, partition).write.format("kafka")
        writer.option("kafka.bootstrap.servers", self.broker).option("topic", self.name).save()


@dataclass(frozen=True)
class Carried:
    """The rows of one query by their destination.

    Attributes
    ----------
    name : str
        The system whose windows the query uses.
    sent, counted, logged : int
        Rows in the topic, in windows, and in a late log.
    """

    name: str
    sent: int
    counted: int
    logged: int

    @property
    def lost(self) -> int:
        """Rows that are neither in a window nor in a log."""
        return self.sent - self.counted - self.logged


def connector() -> dict[str, str]:
    """Return the setting that loads Spark's Kafka connector, unless the command line has it."""
    if "spark-sql-kafka" in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        return {}
    minor = ".".join(pyspark.__version__.split(".")[:2])
    return {"spark.jars.packages": f"{CONNECTOR}:{CONNECTORS.get(minor, pyspark.__version__)}"}


def through_kafka(
    reports: DataFrame,
    flights: Flights,
    topic: Topic,
    folder: Path,
    watch: Callable[[datetime], None],
) -> list[Carried]:
    """Send the reports hour by hour, and count departures by hour and destination on both sides.

    At the end, a row far ahead in each partition closes the last windows; these rows are not
    counted.

    Parameters
    ----------
    reports : DataFrame
        The flights as `Flights.on_disk` returns them.
    flights : Flights
        The same flights, hour by hour.
    topic : Topic
        An empty topic without other writers.
    folder : Path
        The folder of the checkpoints.
    watch : callable
        A function that is called with each hour.
    """
    spark = reports.sparkSession
    checkpoint = folder / "kafka-ours"
    stock = _query(_stock(topic.stream(spark)), folder / "kafka-stock", flights)
    ours = _query(_ours(topic.stream(spark)).results, checkpoint, flights)
    try:
        with session.state_store(spark, ordered=True):
            for query in stock, ours:
                query.start(available_now=False)
        sent = 0
        for hour, landed in flights.by_hour.items():
            for query in stock, ours:
                query.set_clock_ms((hour - _EPOCH) // timedelta(milliseconds=1))
            if landed:
                topic.send(reports.where(F.col("hour") == hour))
                sent += len(landed)
            for query in stock, ours:
                query.await_idle()
            watch(hour)
        topic.send(_far_ahead(spark, flights))
        for query in stock, ours:
            query.await_idle()
        late = et.read_late(checkpoint).count()
        return [
            Carried("stock Spark", sent, _counted(stock), 0),
            Carried("eventtide", sent, _counted(ours), late),
        ]
    finally:
        for query in stock, ours:
            query.stop()


def _query(result: DataFrame, checkpoint: Path, flights: Flights) -> _jvm.ScriptedQueryHandle:
    start = (flights.first - _EPOCH) // timedelta(milliseconds=1)
    return _jvm.scripted_query(result, "append", str(checkpoint), start)


def _stock(rows: DataFrame) -> DataFrame:
    timed = rows.withWatermark("ts", LAG)
    return timed.groupBy(F.window("ts", LAG), "dest").agg(F.count("*").alias("n"))


def _ours(rows: DataFrame) -> et.WindowBuilder:
    policy = WatermarkPolicies.with_fixed_lag(LAG)
    window = (
        et.window(rows).event_time("ts", policy, substream_idle_timeout="12 hours").key_by("dest")
    )
    return window.tumbling(LAG).agg(F.count("*").alias("n"))


def _far_ahead(spark: SparkSession, flights: Flights) -> DataFrame:
    end = max(flights.by_hour) + 100 * HOUR
    rows = [(end, "-", band) for band in BANDS]
    return spark.createDataFrame(rows, "ts timestamp, dest string, band string")


def _counted(query: _jvm.ScriptedQueryHandle) -> int:
    return sum(row["n"] for row in query.new_results().collect())
