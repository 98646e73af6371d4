"""A program with a query and Spark's UI: it prints the address, and runs until it is killed.

python -m tests.spark.ui_job FOLDER
"""

from __future__ import annotations

import sys

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

HOSTILE = "</script><img src=x onerror=alert(1)>"


def run(folder: str) -> None:
    """Count rows of three substreams, of which one is a minute behind."""
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.ui.port", "0").config("spark.sql.session.timeZone", "UTC")
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
    query = counts.start(writer.option("checkpointLocation", folder).outputMode("append"))
    query.processAllAvailable()
    sys.stdout.write(f"{spark.sparkContext.uiWebUrl}\n")
    sys.stdout.flush()
    query.awaitTermination()


if __name__ == "__main__":
    run(*sys.argv[1:])
