"""The streaming queries that the tests run, and the times they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WatermarkPolicy
    from pyspark.sql import DataFrame

EVENTS = "ts timestamp, key string"


def at(second: float) -> str:
    """Return the time `second` seconds into 2024."""
    minutes, seconds = divmod(second, 60)
    return f"2024-01-01 {int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{seconds:09.6f}"


def counts(policy: WatermarkPolicy, **options: Any) -> Callable[[DataFrame], DataFrame]:
    """Count events by windows of ten seconds under a policy; the result is (start, n)."""

    def query(events: DataFrame) -> DataFrame:
        return windowed(et.with_watermark(events, "ts", policy, **options))

    return query


def stock(delay: str) -> Callable[[DataFrame], DataFrame]:
    """Do the same under Spark's own watermark."""
    return lambda events: windowed(events.withWatermark("ts", delay))


def windowed(events: DataFrame) -> DataFrame:
    """Count by windows of ten seconds: columns start (seconds into the hour) and n."""
    windows = events.groupBy(F.window("ts", "10 seconds")).agg(F.count("*").alias("n"))
    return windows.select((F.unix_timestamp("window.start") % 3600).alias("start"), "n")
