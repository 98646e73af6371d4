"""A query that counts the rows of a topic: latency_spark.py QUERY SERVERS INPUT OUTPUT FOLDER.

It runs until the process is ended. QUERY is a side and a mode, `real-time` or `micro-batch`, as in
`ours:real-time`. Sides are `ours`, with a watermark for each key, `ours-of-query` and `stock`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.jars import BESIDE_SPARK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REAL_TIME = "real-time"


def main(query: str, servers: str, source: str, sink: str, folder: str) -> None:
    """Start the query, and wait."""
    side, mode = query.split(":")
    real_time = mode == REAL_TIME
    spark = _session(folder, real_time=real_time)
    rows = _rows(spark, servers, source)
    counts = _stock(rows) if side == "stock" else _ours(rows, by_key=side == "ours")
    value = F.concat_ws(",", F.unix_millis("window.start"), "key", "n").alias("value")
    writer = (
        counts.select(value)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.linger.ms", 0)
        .option("topic", sink)
        .option("checkpointLocation", f"{folder}/checkpoint")
        .outputMode("update" if real_time else "append")
    )
    if real_time:
        batches = {"realTime": "5 minutes"}
        writer = writer.trigger(**batches)
    writer.start().awaitTermination()


def _session(folder: str, *, real_time: bool) -> SparkSession:
    """Two tasks at a time: one reads the partition of the topic, one has the windows."""
    builder = (
        SparkSession.Builder()
        .master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.jars", ",".join(BESIDE_SPARK))
        .config("spark.local.dir", folder)
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    return et.configure(builder, real_time=real_time).getOrCreate()


def _rows(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    value = F.col("value").cast("string")
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("kafka.fetch.max.wait.ms", 10)  # else some micro-batches wait for half a second
        .load()
        .select(
            F.timestamp_millis(value.substr(1, 13).cast("long")).alias("ts"),
            value.substr(15, 3).cast("int").alias("key"),
        )
    )


def _ours(rows: DataFrame, *, by_key: bool) -> DataFrame:
    window = et.window(rows).event_time("ts", WatermarkPolicies.max_event_time()).key_by("key")
    window = window.watermark_scope("key" if by_key else "global")
    return window.tumbling("1s").agg(F.count("*").alias("n")).results


def _stock(rows: DataFrame) -> DataFrame:
    window = F.window("ts", "1 second")
    timed = rows.withWatermark("ts", "0 seconds")
    return timed.groupBy(window, "key").agg(F.count("*").alias("n"))


if __name__ == "__main__":
    main(*sys.argv[1:])
