"""Windows whose rows are judged by their key, ours and on Spark alone, and events for them.

The results of all sides have window, key, n, total and most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import eventtide as et
import keyed_python
from eventtide import WatermarkPolicies
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import LongType, StructType
from turns import rates
from workload import START, aggregates, baselines, even, events

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide.windows._key_time import IdleClock
    from pyspark.sql import SparkSession

    Results = Callable[[DataFrame], DataFrame]

MINUTE = 60  # seconds of a tumbling window

GAP = 10  # seconds of a session

GROUPS = 4  # of keys that take turns in `bursts`, so that their sessions end

CYCLE_MILLIS = 300_000  # in which all keys come once in `returning`


@dataclass(frozen=True)
class Tumbling:
    """Windows of a minute by the watermark of each key, which is the highest time of its rows.

    Attributes
    ----------
    idle : int
        The seconds without a row after which all windows of a key close; 0 for never.
    clock : {"processing_time", "event_time"}
        What that is measured by; in Python it is the first.
    """

    idle: int = 0
    clock: IdleClock = "processing_time"

    def ours(self, events: DataFrame) -> DataFrame:
        """Return the results of et.window."""
        window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
        window = window.key_by("key").watermark_scope("key").tumbling(f"{MINUTE}s")
        if self.idle:
            window = window.key_idle_timeout(f"{self.idle}s", clock=self.clock)
        return window.agg(*aggregates()).results

    def by_processor(self, events: DataFrame) -> DataFrame:
        """Return the same, by a processor of Spark's transformWithState, in Scala."""
        by_events = self.clock == "event_time"
        timed = events.withWatermark("ts", "0 seconds") if by_events else events
        results = baselines().TransformWithStateKeys.apply(
            timed._jdf,  # noqa: SLF001 - the only way to Scala
            MINUTE * 1000,
            self.idle * 1000,
            by_events,
        )
        return DataFrame(results, events.sparkSession)

    def by_group_state(self, events: DataFrame) -> DataFrame:
        """Return the same, by a function in Python that has the rows of a key."""
        return keyed_python.by_group_state(events, self.idle * 1000)

    def by_pandas_processor(self, events: DataFrame) -> DataFrame:
        """Return the same, by a processor in Python that has pandas."""
        return keyed_python.by_pandas_processor(events, self.idle * 1000)

    def by_row_processor(self, events: DataFrame) -> DataFrame:
        """Return the same, by a processor in Python that has rows."""
        return keyed_python.by_row_processor(events, self.idle * 1000)


@dataclass(frozen=True)
class Counted:
    """Windows of a number of rows of a key."""

    rows: int

    def ours(self, events: DataFrame) -> DataFrame:
        """Return the results of et.window, which wants a watermark though no row is late by it."""
        window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
        return window.key_by("key").by_count(self.rows).agg(*aggregates()).results

    def by_processor(self, events: DataFrame) -> DataFrame:
        """Return the same, by a processor of Spark's transformWithState, in Scala."""
        results = baselines().TransformWithStateCounts.apply(
            events._jdf,  # noqa: SLF001 - the only way to Scala
            self.rows,
        )
        return DataFrame(results, events.sparkSession)


@dataclass(frozen=True)
class Sessions:
    """Sessions by one watermark over all keys, a number of seconds behind the newest row."""

    lag: int = 2

    def ours(self, events: DataFrame) -> DataFrame:
        """Return the results of et.window, by the boundary rules of Spark."""
        policy = WatermarkPolicies.with_fixed_lag(f"{self.lag}s")
        window = et.window(events).event_time("ts", policy).key_by("key").session(f"{GAP}s")
        return window.profile("spark").agg(*aggregates()).results

    def stock(self, events: DataFrame) -> DataFrame:
        """Return the same, by Spark's own watermark and windows."""
        timed = events.withWatermark("ts", f"{self.lag} seconds")
        window = F.session_window("ts", f"{GAP} seconds").alias("window")
        return timed.groupBy(window, "key").agg(*aggregates())


def apart(spark: SparkSession, rows: int, keys: int, rate: int) -> DataFrame:
    """Return even events of keys whose time is up to a minute apart.

    So windows of some keys close in every batch, which is like any other.
    """
    behind = f"pmod(key, {MINUTE}) * 1000000L"
    return events(rates(spark, rows), even(keys), rate).selectExpr(
        f"timestamp_micros(unix_micros(ts) - {behind}) AS ts", "key", "value"
    )


def at_random(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Return events of which each may have any key, so that their counts drift apart."""
    return events(rates(spark, rows), f"pmod(xxhash64(value), {keys}L)", rate=rows)


def alike(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Return even events that have their key's number as value: their order does not matter."""
    numbered = events(rates(spark, rows), even(keys), rate=1_000)
    return numbered.withColumn("value", F.col("key").cast("double"))


def bursts(spark: SparkSession, rows: int, keys: int, rate: int) -> DataFrame:
    """Return events of a quarter of the keys in each batch, in turn."""
    group = keys // GROUPS
    key = f"{even(group)} + {group}L * pmod(value div {rows}L, {GROUPS}L)"
    return events(rates(spark, rows), key, rate)


def once(spark: SparkSession, rows: int, rows_of_key: int) -> DataFrame:
    """Return all rows of a key in one batch and one window, so that nothing but silence closes it.

    However slow the batches are, each window has the same rows.
    """
    return rates(spark, rows).selectExpr(
        f"timestamp_millis({START}L + value div {rows}L * {MINUTE * 1000}L) AS ts",
        f"CAST(value div {rows_of_key}L AS int) AS key",
        "CAST(value & 4095L AS double) * 0.25D AS value",
    )


def returning(spark: SparkSession, keys: int, due: int) -> DataFrame:
    """Return a row of every key in the first batch, and of the next ones in each other.

    Event time goes on by the same step in every batch, and as many keys as have a row fall silent.
    """
    step = CYCLE_MILLIS * due // keys
    fill = f"sequence(value, {keys}L - 1L, {due}L)"
    numbers = rates(spark, due).selectExpr(
        f"explode(if(value < {due}L, {fill}, array(value + {keys - due}L))) AS value"
    )
    return numbers.selectExpr(
        f"timestamp_millis({START}L + value div {due}L * {step}L) AS ts",
        f"CAST(value % {keys}L AS int) AS key",
        "CAST(value & 4095L AS double) * 0.25D AS value",
    )


def checksums(results: DataFrame) -> DataFrame:
    """Return what `answers` compares, of windows of any kind; a number of rows ends as a second."""
    window = results.schema["window"].dataType
    by_number = isinstance(window, StructType) and window["end"].dataType == LongType()
    end = f"{START}L + window.end * 1000L" if by_number else "unix_millis(window.end)"
    x = "shiftrightunsigned(xxhash64(window.start, window.end, key, n, total, most), 32)"
    ends = results.selectExpr(f"{end} AS end", f"{x} AS x")
    return ends.groupBy("end").agg(F.count("*").alias("results"), F.sum("x").alias("checksum"))
