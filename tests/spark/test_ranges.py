"""The times of windows, as a condition on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from eventtide.tables._ranges import within
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIVE = "2025-11-02T05:00:00Z"  # an hour before the clocks of New York go back


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(("first", "last"), [(0, 180), (0, 120), (-60, 60), (10, 20), (60, 120)])
def test_it_has_each_row_of_the_hour_that_comes_twice(
    spark: SparkSession, first: int, last: int
) -> None:
    """Minutes from five o'clock in UTC: two hours have the same local time."""
    at = F.lit(FIVE).cast("timestamp") + F.make_dt_interval(mins=F.col("id").cast("int"))
    minutes = spark.range(-120, 240, 10).select("id", at.alias("ts"))
    bounds = {"start": first, "end": last}
    window = F.struct(
        *(
            F.expr(f"'{FIVE}' :: timestamp + INTERVAL {of} MINUTES").alias(name)
            for name, of in bounds.items()
        )
    )
    found = minutes.where(within(F.col("ts"), spark.range(1).select(window.alias("window"))))
    assert [row.id for row in found.orderBy("id").collect()] == [*range(first, last + 1, 10)]
