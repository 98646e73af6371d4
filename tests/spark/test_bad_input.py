"""Bad input gets a named error, before anything is started or written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import windowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame, SparkSession

POLICY = WatermarkPolicies.with_fixed_lag("2s")


@pytest.fixture
def rate(spark: SparkSession) -> DataFrame:
    """Return a stream of timestamp and value."""
    return spark.readStream.format("rate").load()


def twice(rate: DataFrame) -> DataFrame:
    """Put a policy above a policy."""
    return et.with_watermark(et.with_watermark(rate, "timestamp", POLICY), "timestamp", POLICY)


def above_stock(rate: DataFrame) -> DataFrame:
    """Put a policy above Spark's own watermark."""
    return et.with_watermark(rate.withWatermark("timestamp", "1 second"), "timestamp", POLICY)


def above_windows(rate: DataFrame) -> DataFrame:
    """Put a policy above a stateful operator that has a watermark below."""
    counted = windowed(
        et.with_watermark(rate, "timestamp", POLICY).withColumnRenamed("timestamp", "ts")
    )
    return et.with_watermark(
        counted.withColumn("again", F.timestamp_seconds("start")), "again", POLICY
    )


@pytest.mark.parametrize("query", [twice, above_stock, above_windows])
def test_a_second_watermark_is_refused(
    rate: DataFrame, query: Callable[[DataFrame], DataFrame]
) -> None:
    """Spark would keep the query's watermark at 0 for ever, silently."""
    with pytest.raises(
        et.errors.DuplicateWatermarkError, match="already has a watermark on column"
    ):
        query(rate)


def test_a_stock_watermark_above_a_policy_is_refused_at_the_start(rate: DataFrame) -> None:
    """Before anything is written; the DataFrame itself is Spark's business."""
    stacked = et.with_watermark(rate, "timestamp", POLICY).withWatermark("timestamp", "1 second")
    with pytest.raises(et.errors.DuplicateWatermarkError), et.named_errors():
        stacked.writeStream.format("noop").start().processAllAvailable()


@pytest.mark.parametrize(
    ("column", "error"),
    [("time", et.errors.UnknownColumnError), ("value", et.errors.ColumnTypeError)],
)
def test_the_event_time_is_a_timestamp_column(
    rate: DataFrame, column: str, error: type[Exception]
) -> None:
    """The message names what there is."""
    with pytest.raises(error, match=column):
        et.with_watermark(rate, column, POLICY)


def test_a_time_of_another_type_is_answered_with_its_conversion(rate: DataFrame) -> None:
    """With the type and the column in it."""
    texts = rate.withColumn("raw", F.col("timestamp").cast("string"))
    with pytest.raises(et.errors.ColumnTypeError) as raised:
        et.with_watermark(texts, "raw", POLICY)
    assert raised.value.problem == (
        "The event time column 'raw' has type STRING; TIMESTAMP and TIMESTAMP_NTZ are allowed."
    )
    assert "to_timestamp(raw)" in str(raised.value.fix)


@pytest.mark.parametrize(
    "column",
    [
        lambda: "my ts",
        lambda: "`my ts`",
        lambda: F.col("my ts"),
        lambda: F.col("`my ts`"),
        lambda: F.col("`MY ts`"),
        lambda: F.expr("`my ts`"),
    ],
)
def test_a_name_may_be_quoted(rate: DataFrame, column: Callable[[], str | Column]) -> None:
    """As text or as a Column, of a watermark and of a window, which may get its rows later."""
    rows = rate.withColumnRenamed("timestamp", "my ts")
    assert et.with_watermark(rows, column(), POLICY).columns == ["my ts", "value"]
    for window in (et.window(rows), et.window()):
        timed = window.event_time(column(), POLICY).tumbling("1m").agg(F.count("*").alias("n"))
        assert timed.over(rows).results.columns == ["window", "n"]


def test_a_literal_is_no_column(rate: DataFrame) -> None:
    """It has the same text, in quotes."""
    with pytest.raises(et.errors.InvalidArgumentError, match=r"is a literal.*event_time='times"):
        et.window(rate).event_time(F.lit("timestamp"), POLICY)
    with pytest.raises(et.errors.UnknownColumnError, match="is not a column"):
        et.window().event_time(F.lit("timestamp"), POLICY).over(rate)


def test_an_unknown_substream_is_refused(rate: DataFrame) -> None:
    """As a name and inside an expression."""
    with pytest.raises(et.errors.UnknownColumnError, match="device"):
        et.with_watermark(rate, "timestamp", POLICY, substream="device")
    with pytest.raises(et.errors.UnknownColumnError, match="device"):
        et.with_watermark(rate, "timestamp", POLICY, substream=F.upper("device"))


def test_storm_needs_declared_streams(rate: DataFrame) -> None:
    """Without them a stream that was never seen could not hold the others back."""
    with pytest.raises(et.errors.InvalidArgumentError, match="option 'expected'"):
        et.with_watermark(rate, "timestamp", WatermarkPolicies.storm("5s"), substream="value")


def test_a_frame_below_a_millisecond_is_refused(rate: DataFrame) -> None:
    """Spark's watermark has whole milliseconds."""
    with pytest.raises(et.errors.InvalidDurationError, match="1ms"):
        et.with_watermark(rate, "timestamp", POLICY.throttle_by_frame("500us"))


def test_an_ingestion_time_does_not_hide_a_column(rate: DataFrame) -> None:
    """Another name is asked for."""
    with pytest.raises(et.errors.InvalidArgumentError, match="into="):
        et.with_ingestion_time(rate, into="value")
