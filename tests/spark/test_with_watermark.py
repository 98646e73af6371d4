"""A policy's watermark under each of Spark's own operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts, stock
from tests.thorough import smoked

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

LAG_2S = WatermarkPolicies.with_fixed_lag("2s")
# Two keys, disorder within the lag, one row that is too late.
BATCHES = [
    [(at(1), "a"), (at(4), "b"), (at(3), "a")],
    [(at(13), "a"), (at(12), "b")],
    [(at(26), "a"), (at(14), "b")],
    [(at(5), "late"), (at(38), "a")],
    [(at(60), "b")],
]


@pytest.mark.parametrize("mode", smoked(["append", "update"], of=["append"]))
def test_a_fixed_lag_gives_the_same_rows_as_spark(mode: str) -> None:
    """One substream under a fixed lag is what withWatermark is, row for row."""
    outcomes = []
    for query in (counts(LAG_2S), stock("2 seconds")):
        with Script(query, EVENTS, output_mode=mode) as script:
            steps = []
            for batch in BATCHES:
                script.rows(batch)
                steps.append((sorted(map(tuple, script.results())), script.watermark))
            outcomes.append(steps)
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][-1][1] == "2024-01-01T00:00:58Z"


def deduplicated(events: DataFrame) -> DataFrame:
    """Keep the first event of each key, for as long as the watermark allows."""
    return events.dropDuplicatesWithinWatermark(["key"]).select("key")


def sessions(events: DataFrame) -> DataFrame:
    """Count by session."""
    grouped = events.groupBy(F.session_window("ts", "5 seconds"), "key").count()
    return grouped.select("key", "count")


def chained(events: DataFrame) -> DataFrame:
    """Count windows of windows."""
    small = events.groupBy(F.window("ts", "10 seconds"), "key").count()
    large = small.groupBy(F.window(F.window_time("window"), "20 seconds")).agg(F.sum("count"))
    return large.select(F.unix_timestamp("window.start") % 3600, "sum(count)")


def repartitioned(events: DataFrame) -> DataFrame:
    """Use no state, with adaptive execution on."""
    return events.repartition(2, "key").select("key")


def collected(events: DataFrame) -> DataFrame:
    """Pass through a projection and a filter on both sides of the watermark."""
    return (
        events.filter("key != 'late'")
        .groupBy(F.window("ts", "10 seconds"), "key")
        .count()
        .select("key", "count")
    )


@pytest.mark.parametrize(
    "then",
    smoked([deduplicated, sessions, chained, repartitioned, collected], of=[deduplicated, chained]),
)
def test_spark_operators_work_under_a_policy(then: Callable[[DataFrame], DataFrame]) -> None:
    """Each of Spark's operators gives the rows that it gives under its own watermark."""

    def ours(events: DataFrame) -> DataFrame:
        return then(et.with_watermark(events, "ts", LAG_2S))

    def stock_(events: DataFrame) -> DataFrame:
        return then(events.withWatermark("ts", "2 seconds"))

    outcomes = []
    for query in (ours, stock_):
        with Script(query, EVENTS) as script:
            steps = []
            for batch in BATCHES:
                script.rows(batch)
                steps.append(sorted(map(tuple, script.results())))
            outcomes.append(steps)
    assert outcomes[0] == outcomes[1]
    assert any(outcomes[0])


@pytest.mark.smoke
def test_streams_with_policies_can_be_joined() -> None:
    """Both sides of a join have a policy; the slower one holds the common watermark."""

    def joined(events: DataFrame) -> DataFrame:
        left = et.with_watermark(events.filter("key like 'l%'"), "ts", LAG_2S)
        right = et.with_watermark(events.filter("key like 'r%'"), "ts", LAG_2S)
        left = left.select(F.col("ts").alias("lt"), F.substring("key", 2, 9).alias("lk"))
        right = right.select(F.col("ts").alias("rt"), F.substring("key", 2, 9).alias("rk"))
        near = F.expr("lk = rk and rt between lt and lt + interval 5 seconds")
        return left.join(right, near, "leftOuter").select("lk", "rk")

    with Script(joined, EVENTS) as script:
        script.rows([(at(1), "l1"), (at(3), "r1"), (at(2), "l2")]).expect([("1", "1")])
        script.rows([(at(60), "l3")]).expect([], watermark=at(1))  # the right side holds back
        script.rows([(at(60), "r9")]).expect([("2", None)], watermark=at(58))


def test_a_policy_can_be_joined_with_a_stock_watermark() -> None:
    """Spark combines the two as it combines its own."""

    def joined(events: DataFrame) -> DataFrame:
        ours = et.with_watermark(events, "ts", LAG_2S).select(F.col("ts").alias("lt"), "key")
        stock_ = events.withWatermark("ts", "10 seconds").select(F.col("ts").alias("rt"), "key")
        near = F.expr("key = rk and rt between lt and lt + interval 1 seconds")
        return ours.join(stock_.withColumnRenamed("key", "rk"), near).select("key", "rk")

    with Script(joined, EVENTS) as script:
        script.rows([(at(1), "a")], [(at(30), "b")]).expect([("a", "a"), ("b", "b")])
        script.rows([(at(60), "c")]).expect(watermark=at(50))


@pytest.mark.parametrize("substream", [None, "key"])
@pytest.mark.parametrize("first", ["a", "b"])
def test_a_union_under_one_watermark(first: str, substream: str | None) -> None:
    """One watermark over a union of streams sees them as one, in whichever order."""

    def both(events: DataFrame) -> DataFrame:
        union = events.filter(f"key = '{first}'").union(events.filter(f"key != '{first}'"))
        return counts(WatermarkPolicies.with_fixed_lag("2s"), substream=substream)(union)

    with Script(both, EVENTS) as script:
        script.rows([(at(60), "a"), (at(33), "b")])
        script.expect(watermark=at(58) if substream is None else at(31))
        script.rows([(at(61), "a"), (at(45), "b")])
        script.expect(watermark=at(59) if substream is None else at(43))
        lines = et.progress(script.streaming_query).inputs[0].substreams
    assert sum(line.rows_total for line in lines) == 4


def test_a_batch_dataframe_passes_as_it_is(spark: SparkSession) -> None:
    """As Spark's own does, the watermark vanishes outside streaming."""
    rows = spark.createDataFrame([(1, "a")], "n int, key string").withColumn(
        "ts", F.current_timestamp()
    )
    assert et.with_watermark(rows, "ts", LAG_2S).count() == 1
    stamped = et.with_ingestion_time(rows.drop("ts"), into="seen")
    assert stamped.columns == ["n", "key", "seen"]


def test_columns_stay_what_they_were() -> None:
    """A substream that is an expression adds no column."""
    columns = []

    def query(events: DataFrame) -> DataFrame:
        watermarked = et.with_watermark(events, "ts", LAG_2S, substream=F.upper("key"))
        columns.extend(watermarked.columns)
        return watermarked.select("key")

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a")]).expect([("a",)])
    assert columns == ["ts", "key"]
