"""A program that runs every shape of window in real-time mode, from one Kafka topic into others.

    python -m tests.spark.real_time_windows BROKER FOLDER

`WINDOWS` names them. The first one is written to the console, too.
"""

from __future__ import annotations

import sys
from random import Random
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.jars import BESIDE_SPARK
from tests.spark.queries import at

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from eventtide.windows._builder import ShapedWindow
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

TOPIC = "visits"
PARTITIONS = 3
SHAPES = ("tumbling", "sliding", "cumulate", "session", "by_count")
SHORT = {"realTime": "5 seconds"}
SCOPES = ("query", "group", "key")
WINDOWS = [f"{shape}-{scope}" for shape in SHAPES for scope in SCOPES]


def results(rows: DataFrame, window: str) -> DataFrame:
    """Return the results of one of `WINDOWS` as text, in the column `value`."""
    shape, scope = window.split("-")
    visit = F.from_csv(F.expr("string(value)"), "ts timestamp, site string, user string")
    visits = rows.select(visit.alias("visit")).select("visit.*")
    timed = et.window(visits).event_time("ts", WatermarkPolicies.max_event_time())
    counted = _shaped(timed.key_by("site", "user"), shape).agg(F.count("*").alias("n"))
    if scope != "query":
        counted = counted.watermark_scope("key" if scope == "key" else ["site"])
        counted = counted.key_idle_timeout("1h")  # sessions want one
    columns = "site", "user", "window.start", "window.end", "n"
    return counted.results.select(F.concat_ws(" ", *columns).alias("value"))


def _shaped(window: WindowBuilder, shape: str) -> ShapedWindow:
    match shape:
        case "tumbling":
            return window.tumbling("10s")
        case "sliding":
            return window.sliding("20s", "10s")
        case "cumulate":
            return window.cumulate("30s", "10s")
        case "session":
            return window.session("5s")
        case _:
            return window.by_count(3)


def visits() -> list[tuple[int, str]]:
    """Return rows and their partitions: those of a site are in one, in the order of their times."""
    random = Random(20)  # noqa: S311 - test data
    users = range(2 * PARTITIONS)
    times = [(second, user) for second in range(90) for user in users if random.random() < 0.3]
    last = [(200, user) for user in users]
    return [
        (user % PARTITIONS, f"{at(second)},site {user % PARTITIONS},user {user}")
        for second, user in times + last
    ]


def run(address: str, folder: str) -> None:
    """Run all of them at once, until this process is killed."""
    spark = _session(folder)
    for window in WINDOWS:
        writer = results(_rows(spark, address), window).writeStream.format("kafka")
        _start(writer.options(**{"kafka.bootstrap.servers": address, "topic": window}))
    console = results(_rows(spark, address), WINDOWS[0]).writeStream.format("console")
    _start(console.option("truncate", "false").option("numRows", 1000))
    spark.streams.awaitAnyTermination()


def _session(folder: str) -> SparkSession:
    tasks = (len(WINDOWS) + 1) * (PARTITIONS + 1)
    builder = (
        SparkSession.builder.master(f"local[{tasks}]")
        .config("spark.jars", ",".join(BESIDE_SPARK))
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.streaming.checkpointLocation", folder)
        .config("spark.ui.enabled", "false")
    )
    return et.configure(builder, real_time=True).getOrCreate()


def _rows(spark: SparkSession, address: str) -> DataFrame:
    reader = spark.readStream.format("kafka").option("subscribe", TOPIC)
    options = {"kafka.bootstrap.servers": address, "startingOffsets": "earliest"}
    return reader.options(**options).load()


def _start(writer: DataStreamWriter) -> None:
    writer.outputMode("update").trigger(**SHORT).start()


if __name__ == "__main__":
    run(*sys.argv[1:])
