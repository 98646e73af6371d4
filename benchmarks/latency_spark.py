"""A query that counts the rows of a topic, for each key and window, until the process is ended.

Its arguments are QUERY SECONDS SERVERS INPUT OUTPUT FOLDER [SETTING=VALUE ...]. QUERY is a side and
a mode, `real-time` or `micro-batch`, as in `ours:real-time`. Sides are `ours`, with a watermark for
each key, `ours-of-query` and `stock`. SECONDS are the length of a window.
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


def main(arguments: list[str]) -> None:
    """Start the query, and wait."""
    query, seconds, servers, source, sink, folder, *settings = arguments
    side, mode = query.split(":")
    real_time = mode == REAL_TIME
    spark = _session(folder, settings, real_time=real_time)
    counts = _counts(_rows(spark, servers, source), side, seconds)
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


def _session(folder: str, settings: list[str], *, real_time: bool) -> SparkSession:
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
    for setting in settings:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
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
            value.substr(15, 5).cast("int").alias("key"),
        )
    )


def _counts(rows: DataFrame, side: str, seconds: str) -> DataFrame:
    n = F.count("*").alias("n")
    if side == "stock":
        timed = rows.withWatermark("ts", "0 seconds")
        return timed.groupBy(F.window("ts", f"{seconds} seconds"), "key").agg(n)
    window = et.window(rows).event_time("ts", WatermarkPolicies.max_event_time()).key_by("key")
    window = window.watermark_scope("key" if side == "ours" else "global")
    return window.tumbling(f"{seconds}s").agg(n).results


if __name__ == "__main__":
    main(sys.argv[1:])
