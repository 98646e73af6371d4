"""Marks: watermarks that rows carry in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import InvalidArgumentError, UnknownColumnError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at, windowed
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, key string, mark timestamp"
MARKS = WatermarkPolicies.watermark_from("mark")


def counts(policy: et.WatermarkPolicy, **options: Any) -> Callable[[DataFrame], DataFrame]:
    """Count by windows of ten seconds of Spark's own."""
    return lambda events: windowed(et.with_watermark(events, "ts", policy, **options))


@pytest.mark.smoke
@pytest.mark.parametrize("with_code", ["true", "false"])
def test_the_highest_mark_is_the_watermark(spark: SparkSession, with_code: str) -> None:
    """With and without generated code, after a restart, and never back."""
    code = {"spark.sql.codegen.wholeStage": with_code}
    with settings(spark, code), Script(counts(MARKS), ROWS, session=spark) as script:
        script.rows([(at(7), "a", None), (at(40), "a", None)]).expect(watermark="1970-01-01")
        script.rows([(at(41), "a", at(12)), (at(42), "b", at(9)), (at(8), "a", None)])
        script.expect(watermark=at(12)[:19], results=[(0, 2)])
        script.stop().restart()
        script.rows([(at(1), "a", at(90))]).expect(watermark=at(90)[:19], results=[(40, 3)], late=1)
        script.rows([(at(99), "a", at(5))]).expect(watermark=at(90)[:19])


def test_each_substream_has_its_marks() -> None:
    """The lowest counts; the rows of one without marks hold it back."""
    with Script(counts(MARKS, substream="key"), ROWS) as script:
        script.rows([(at(7), "a", at(30)), (at(7), "b", at(20))]).expect(watermark=at(20)[:19])
        script.rows([(at(31), "b", at(60))]).expect(watermark=at(30)[:19])


def test_rows_without_an_event_time_have_no_mark() -> None:
    """They are refused and counted, and so are their marks; a guard limits the others."""
    guarded = MARKS.guard_future("10s")
    with Script(counts(guarded), ROWS) as script:
        script.rows([(None, "a", at(3)), (at(1), "a", at(2))]).expect(watermark=at(2)[:19])
        script.rows([(at(2), "a", at(500))]).expect(watermark=at(10)[:19])


def test_a_mark_is_a_field_and_is_combined() -> None:
    """With a lag, so that the first of both wins."""

    def query(events: DataFrame) -> DataFrame:
        rows = events.select("ts", F.struct("mark").alias("meta"))
        policy = WatermarkPolicies.max_of(
            WatermarkPolicies.with_fixed_lag("30s"), WatermarkPolicies.watermark_from("meta.mark")
        )
        return windowed(et.with_watermark(rows, "ts", policy))

    with Script(query, ROWS) as script:
        script.rows([(at(40), "a", None)]).expect(watermark=at(10)[:19])
        script.rows([(at(41), "a", at(35))]).expect(watermark=at(35)[:19])


def test_windows_of_our_own_close_by_marks() -> None:
    """Their rows that refuse a mark's watermark are late."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", MARKS).key_by("key").tumbling("10s")
        results = window.agg(F.count("*").alias("n")).results
        return results.select(F.unix_timestamp("window.start") % 3600, "key", "n")

    with Script(query, ROWS) as script:
        script.rows([(at(7), "a", None)], [(at(8), "a", at(10))]).expect(results=[(0, "a", 2)])
        script.rows([(at(9), "a", None)]).expect(results=[], late=1)


def test_what_is_no_mark_is_refused(spark: SparkSession) -> None:
    """Before anything starts."""
    events = spark.readStream.format("rate").load()
    with pytest.raises(UnknownColumnError, match="mark"):
        et.with_watermark(events, "timestamp", MARKS)
    wrong = WatermarkPolicies.watermark_from("value")
    with pytest.raises(InvalidArgumentError, match="must be TIMESTAMP, as the event time is"):
        et.with_watermark(events, "timestamp", wrong)
    two = WatermarkPolicies.min_of(wrong, WatermarkPolicies.watermark_from("timestamp"))
    with pytest.raises(InvalidArgumentError, match="of one column in a watermark"):
        et.with_watermark(events, "timestamp", two)
    window = et.window(events).event_time(
        "timestamp", WatermarkPolicies.watermark_from("timestamp")
    )
    window = window.key_by("value").watermark_scope("key").tumbling("10s")
    with pytest.raises(InvalidArgumentError, match="in tasks, not on the driver only"):
        _ = window.agg(F.count("*").alias("n")).results
