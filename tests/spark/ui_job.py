"""A program with a query and Spark's UI: it prints the address, and runs until it is killed.

python -m tests.spark.ui_job CHECKPOINT [FOLDER]

With a folder for an event log it ends after some batches. Otherwise a second query has more
substreams than a report lists.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

SOME = 5  # batches
CROWD = 12_000  # substreams; a report lists 10 000
LAG = WatermarkPolicies.with_fixed_lag("1s")
HOSTILE = "</script><img src=x onerror=alert(1)>"


def run(checkpoint: str, logged_to: str | None = None) -> None:
    """Count rows of three substreams, of which one is a minute behind."""
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.ui.port", "0").config("spark.sql.session.timeZone", "UTC")
    if logged_to is not None:
        log = Path(logged_to, "log")
        log.mkdir()
        builder = builder.config("spark.eventLog.enabled", "true")
        builder = builder.config("spark.eventLog.dir", log.as_uri())
    spark = et.configure(builder).getOrCreate()
    numbers = spark.readStream.format("rate").option("rowsPerSecond", 30).load()
    name = F.element_at(
        F.array(*map(F.lit, ["a", "b", HOSTILE])), (F.col("value") % 3 + 1).cast("int")
    )
    behind = F.when(F.col("user") == HOSTILE, F.expr("interval 1 minute"))
    rows = numbers.withColumn("user", name)
    rows = rows.withColumn(
        "ts", F.col("timestamp") - F.coalesce(behind, F.expr("interval 0 second"))
    )
    window = et.window(rows).event_time("ts", LAG, substream="user")
    counts = window.key_by("user").tumbling("1s").agg(F.count("*").alias("n"))
    writer = counts.results.writeStream.format("noop").queryName("visits")
    query = counts.start(writer.option("checkpointLocation", checkpoint).outputMode("append"))
    query.processAllAvailable()
    if logged_to is None:
        many = crowd(spark, f"{checkpoint}/crowd")
        while len(many.recentProgress) < SOME:
            time.sleep(0.1)
    sys.stdout.write(f"{spark.sparkContext.uiWebUrl}\n")
    sys.stdout.flush()
    if logged_to is None:
        query.awaitTermination()
    while len(query.recentProgress) < SOME:
        time.sleep(0.1)
    query.stop()
    spark.stop()


def crowd(spark: SparkSession, checkpoint: str) -> StreamingQuery:
    """Start a query in which each of many substreams has a row in each batch."""
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", CROWD).load()
    name = F.format_string("s%05d", F.col("value") % CROWD)
    rows = numbers.select(F.col("timestamp").alias("ts"), name.alias("user"))
    timed = et.with_watermark(rows, "ts", LAG, substream="user")
    writer = timed.writeStream.format("noop").queryName("with a crowd")
    writer = writer.option("checkpointLocation", checkpoint).trigger(processingTime="2 seconds")
    return writer.start()


if __name__ == "__main__":
    run(*sys.argv[1:])
