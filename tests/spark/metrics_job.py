"""A job that asks its own driver for its metrics, as Prometheus does: four scrapes to stdout.

At its end it gives the driver reason for warnings, which are in its log on stderr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.request import urlopen

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVENTS = "ts timestamp, key string"
SETTINGS = {
    "spark.ui.port": "0",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.metricsEnabled": "true",
    "spark.eventtide.warn.stuckBatches": "3",
    "spark.eventtide.warn.stuckFor": "0s",
    "spark.metrics.conf.*.sink.prometheusServlet.class": (
        "org.apache.spark.metrics.sink.PrometheusServlet"
    ),
    "spark.metrics.conf.*.sink.prometheusServlet.path": "/metrics/prometheus",
}


def main() -> None:
    """Before the first row, after rows, after a substream fell idle, and after the end."""
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = et.configure(builder).getOrCreate()
    with Script(windowed, EVENTS) as script:
        scrape(spark)
        script.rows(rows((1, "a"), (3, "a"), (25, "b"), (24, "a"), (26, "c")))
        script.rows([*rows((2, "a")), (None, "c")]).clock("+10s")
        scrape(spark)
        script.clock("+61s").rows(rows((48, "c")))
        scrape(spark)
        script.rows(*[rows((1, "a"))] * 6)  # too late, and nothing else comes
    scrape(spark)
    spark.stop()


def windowed(events: DataFrame) -> DataFrame:
    """Count by key over ten seconds."""
    lag = WatermarkPolicies.with_fixed_lag("0s")
    window = et.window(events).event_time("ts", lag, substream="key", substream_idle_timeout="1m")
    return window.key_by("key").tumbling("10s").agg(F.count("*").alias("n")).results


def rows(*events: tuple[int, str]) -> list[tuple[str, str]]:
    """Return rows at so many seconds into 2024."""
    return [(f"2024-01-01 00:00:{second:02d}", key) for second, key in events]


def scrape(spark: SparkSession) -> None:
    """Print what the servlet says."""
    with urlopen(f"{spark.sparkContext.uiWebUrl}/metrics/prometheus") as answer:  # noqa: S310
        print(answer.read().decode(), end="--\n")  # noqa: T201


if __name__ == "__main__":
    main()
