"""A program with a query and Spark's UI: it prints the address, and runs until it is killed.

python -m tests.spark.ui_job CHECKPOINT [FOLDER]

With a folder for an event log it ends after some batches.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

SOME = 5  # batches
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
    window = et.window(rows).event_time(
        "ts", WatermarkPolicies.with_fixed_lag("1s"), substream="user"
    )
    counts = window.key_by("user").tumbling("1s").agg(F.count("*").alias("n"))
    writer = counts.results.writeStream.format("noop").queryName("visits")
    query = counts.start(writer.option("checkpointLocation", checkpoint).outputMode("append"))
    query.processAllAvailable()
    sys.stdout.write(f"{spark.sparkContext.uiWebUrl}\n")
    sys.stdout.flush()
    if logged_to is None:
        query.awaitTermination()
    while len(query.recentProgress) < SOME:
        time.sleep(0.1)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    run(*sys.argv[1:])
