"""The events that all engines get, and the windows over them: count, sum and max for each key.

Event i has the key i * 2654435761 mod K; the other fields are bits of a hash of i. Its value is a
multiple of 0.25 below 1024, so that sums are exact in any order. Its event time is i / rate, put
back by up to two seconds, so that with a lag of two seconds no event is late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import Column

START = 1_600_000_000_000  # the event time of event 0 before its jitter, in ms

# The 64-bit odd numbers that the hashes multiply by, as the signed ones that SQL knows.
GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
MIXER = 0xD6E8FEB86659FD93 - (1 << 64)


@dataclass(frozen=True)
class Windows:
    """Windows of `size` seconds, one every `slide` seconds, `lag` seconds behind the newest."""

    size: int
    slide: int
    lag: float = 2

    def __str__(self) -> str:
        """As a reader says them."""
        if self.size == self.slide:
            return f"tumbling {self.size} s"
        return f"{self.size} s / {self.slide} s"

    def ours(self, events: DataFrame) -> DataFrame:
        """Return the results of et.window: window, key, n, total, most."""
        return self.window(events).agg(*aggregates()).results

    def window(self, events: DataFrame) -> et.WindowBuilder:
        """Return et.window over the events, before it is said what it gives."""
        policy = WatermarkPolicies.with_fixed_lag(f"{self.lag}s")
        window = et.window(events).event_time("ts", policy).key_by("key")
        if self.size == self.slide:
            return window.tumbling(f"{self.size}s")
        return window.sliding(f"{self.size}s", every=f"{self.slide}s")

    def stock(self, events: DataFrame) -> DataFrame:
        """Return the same columns, by Spark's own watermark and windows."""
        timed = events.withWatermark("ts", f"{self.lag} seconds")
        window = F.window("ts", f"{self.size} seconds", f"{self.slide} seconds")
        return timed.groupBy(window, "key").agg(*aggregates())

    def by_processor(self, events: DataFrame) -> DataFrame:
        """Return the same columns, by a processor of Spark's transformWithState, in Scala."""
        timed = events.withWatermark("ts", f"{self.lag} seconds")
        results = baselines().TransformWithStateWindow.apply(
            timed._jdf,  # noqa: SLF001 - the only way to Scala
            self.size * 1000,
            self.slide * 1000,
        )
        return DataFrame(results, events.sparkSession)


def even(keys: int) -> str:
    """Return the key of event `value` of `keys` keys that have as many events each, in SQL."""
    return f"(value * 2654435761L) % {keys}L"


def events(numbers: DataFrame, key: str, rate: int) -> DataFrame:
    """Return ts, key and value of the events that a column `value` numbers.

    `key` is SQL; `rate` is how many events a second of event time has, a multiple of 1000.
    """
    x = numbers.selectExpr("value", f"(value + 1L) * {GOLDEN}L AS x")
    x = x.selectExpr("value", "x ^ shiftrightunsigned(x, 12) AS x")
    x = x.selectExpr("value", "x ^ shiftleft(x, 25) AS x")
    x = x.selectExpr("value", "x ^ shiftrightunsigned(x, 27) AS x")
    jitter = "shiftrightunsigned(shiftrightunsigned(x, 44) * 2000L, 20)"
    return x.selectExpr(
        f"timestamp_millis({START}L + value div {rate // 1000}L - {jitter}) AS ts",
        f"CAST({key} AS int) AS key",
        "CAST(shiftrightunsigned(x, 20) & 4095L AS double) * 0.25D AS value",
    )


def aggregates() -> list[Column]:
    """Return what every window gives."""
    return [
        F.count("*").alias("n"),
        F.sum("value").alias("total"),
        F.max("value").alias("most"),
    ]


def checksums(results: DataFrame) -> DataFrame:
    """Return, for each end of windows in ms, how many results there are and their checksum.

    The checksum is a sum of 32 bits of each result, so that it does not depend on an order.
    """
    x = results.selectExpr("unix_millis(window.end) AS end", "key", "n", "total", "most")
    fields = ("key", "n", "CAST(total * 4D AS bigint)", "CAST(most * 4D AS bigint)")
    mixed = "end div 1000L"
    for field in fields:
        mixed = f"({mixed}) * 1000003L + {field}"
    x = x.selectExpr("end", f"({mixed}) * {GOLDEN}L AS x")
    x = x.selectExpr("end", "x ^ shiftrightunsigned(x, 32) AS x")
    x = x.selectExpr("end", f"shiftrightunsigned(x * {MIXER}L, 32) AS x")
    return x.groupBy("end").agg(F.count("*").alias("results"), F.sum("x").alias("checksum"))


def baselines() -> Any:  # noqa: ANN401 - py4j's
    """Return the package of the jar that dev/bench builds."""
    context: Any = SparkContext._active_spark_context  # noqa: SLF001 - so is the JVM behind it
    return context._jvm.io.eventtide.baselines  # noqa: SLF001
