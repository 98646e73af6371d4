"""The second section: the reports stop, and the last window must close.

A handful of rows and a scripted clock. Stock Spark's watermark moves with rows only, so the last
window stays open; `limiting_lag_and_lull` advances with the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies, _jvm
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import StructField, StructType, TimestampType

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Moment", "Side", "lull"]

_SCHEMA = StructType([StructField("ts", TimestampType())])
_TEN = datetime(2013, 1, 7, 10, 0, tzinfo=timezone.utc)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# minutes past ten: the clock, and the event times of the rows that arrive then
_SCRIPT: tuple[tuple[int, tuple[int, ...]], ...] = (
    (3, (1, 2, 3)),
    (8, (5, 8, 7)),
    (14, (12, 14, 11)),
    (18, (17, 18)),
    (23, ()),
    (28, ()),
    (33, ()),
    (180, ()),
)


@dataclass(frozen=True)
class Side:
    """The state of one query: its watermark, None before the first, and its results."""

    watermark: datetime | None
    out: tuple[tuple[datetime, int], ...]


@dataclass(frozen=True)
class Moment:
    """One step: the clock, the number of rows that arrived, and both queries afterwards."""

    clock: datetime
    rows: int
    stock: Side
    ours: Side


def lull(spark: SparkSession, folder: Path) -> list[Moment]:
    """Play the script to both queries: windows of ten minutes, a lag of five, a lull of five."""
    script = _jvm.script(spark, _SCHEMA)
    policy = WatermarkPolicies.limiting_lag_and_lull(lag="5 minutes", max_lull="5 minutes")
    ours = et.with_watermark(script.stream(), "ts", policy.throttle_by_frame("1 minute"))
    stock = script.stream().withWatermark("ts", "5 minutes")
    queries = [
        _jvm.scripted_query(_counts(df), "append", str(folder / name), _millis(_TEN))
        for df, name in ((stock, "stock"), (ours, "ours"))
    ]
    for query in queries:
        query.start(available_now=False)
    moments = []
    try:
        for minute, rows in _SCRIPT:
            clock = _TEN + timedelta(minutes=minute)
            for query in queries:
                query.set_clock_ms(_millis(clock))
            if rows:
                times = [(_TEN + timedelta(minutes=m),) for m in rows]
                script.add(times)
            sides = [_side(query) for query in queries]
            moments.append(Moment(clock, len(rows), *sides))
    finally:
        for query in queries:
            query.stop()
        script.close()
    return moments


def _counts(stream: DataFrame) -> DataFrame:
    counted = stream.groupBy(F.window("ts", "10 minutes")).count()
    return counted.select(F.col("window.start").alias("start"), "count")


def _side(query: _jvm.ScriptedQueryHandle) -> Side:
    query.await_idle()
    rows = query.new_results().collect()
    out = sorted((row["start"].astimezone(timezone.utc), row["count"]) for row in rows)
    watermark = query.watermark_ms()
    return Side(_EPOCH + timedelta(milliseconds=watermark) if watermark else None, tuple(out))


def _millis(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)
