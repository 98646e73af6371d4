"""Rows that cannot count: without a usable time, or from the future. None crashes a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NO_LAG = WatermarkPolicies.with_fixed_lag("0s")


@pytest.mark.smoke
def test_rows_without_a_usable_time_are_counted_not_read() -> None:
    """Null, and times that no calendar has: rows in = rows in windows + rows refused."""

    def query(events: DataFrame) -> DataFrame:
        odd = F.when(F.col("key") == "far", F.timestamp_micros(F.lit(2**62))).otherwise(F.col("ts"))
        return counts(NO_LAG)(events.withColumn("ts", odd))

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (None, "b"), (at(2), "far"), (at(12), "c")])
        script.expect([(0, 1)], watermark=at(12))
        assert et.progress(script.streaming_query).bad_time == 2


def test_only_bad_times_leave_the_watermark_unknown() -> None:
    """A batch of nothing but nulls is a batch without rows."""
    with Script(counts(NO_LAG), EVENTS) as script:
        script.rows([(None, "a"), (None, "b")]).expect([], watermark="1970-01-01")
        assert et.progress(script.streaming_query).bad_time == 2


def test_refused_rows_are_counted_over_a_restart_and_while_the_clock_is_held() -> None:
    """They waited while the query was down: a batch that does not move anything counts them."""
    policy = NO_LAG.guard_future("1m", on="late")
    with Script(counts(policy), EVENTS, clock=at(0)) as script:
        script.rows([(None, "a"), (None, "b"), ("2031-01-01 00:00:00", "c")]).stop()
        script.waiting([(None, "d")], [("2031-01-01 00:00:00", "e")]).restart()
        progress = et.progress(script.streaming_query)
    assert (progress.bad_time, progress.future) == (3, 2)


def test_rows_before_1970_do_not_move_sparks_watermark() -> None:
    """Spark's watermark is never below zero: a documented limit."""
    with Script(counts(NO_LAG), EVENTS) as script:
        script.rows([("1960-01-01 00:00:00", "a")]).expect([], watermark="1970-01-01")
        script.rows([(at(1), "b")]).expect(watermark=at(1))


@pytest.mark.parametrize(
    ("on", "watermark", "n", "future"),
    [("clamp", at(60), 2, 0), ("late", at(5), 1, 1)],
)
def test_a_row_from_the_future_is_clamped_or_refused(
    on: Literal["clamp", "late"], watermark: str, n: int, future: int
) -> None:
    """At most a minute ahead of the batch's clock."""
    policy = NO_LAG.guard_future("1m", on=on)
    with Script(
        lambda events: et.with_watermark(events, "ts", policy).select("key"), EVENTS, clock=at(0)
    ) as script:
        script.rows([(at(5), "a"), ("2031-01-01 00:00:00", "b")]).expect(watermark=watermark)
        progress = et.progress(script.streaming_query)
        assert progress.future == future
        assert progress.inputs[0].substreams[0].rows_total == n


def test_a_row_from_the_future_can_fail_the_query() -> None:
    """The message names the time and the limit."""
    policy = NO_LAG.guard_future("1m", on="fail")
    with (
        Script(counts(policy), EVENTS, clock=at(0)) as script,
        pytest.raises(et.errors.RefusedDataError, match="2031-01-01T00:00:00Z"),
    ):
        script.rows([("2031-01-01 00:00:00", "b")])


def test_timestamps_without_a_zone_are_accepted() -> None:
    """TIMESTAMP_NTZ, which Spark's own watermark refuses."""

    def query(events: DataFrame) -> DataFrame:
        return counts(NO_LAG)(events.withColumn("ts", F.col("ts").cast("timestamp_ntz")))

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(12), "b")]).expect([(0, 1)], watermark=at(12))
