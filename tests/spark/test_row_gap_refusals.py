"""Gaps of rows that are refused before a query starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("3s")


@pytest.mark.parametrize("of", ["stream", "batch"])
@pytest.mark.parametrize(
    ("gap", "error", "match"),
    [
        (lambda: F.col("nothing"), et.errors.UnknownColumnError, "GAP_UNRESOLVED.*nothing.*text"),
        (lambda: F.max("text"), et.errors.UnknownColumnError, "GAP_UNRESOLVED.*one value of each"),
        (
            lambda: F.explode(F.array("text")),
            et.errors.UnknownColumnError,
            "GAP_UNRESOLVED.*one value of each",
        ),
        (lambda: F.col("id"), et.errors.ColumnTypeError, "GAP_TYPE.*id has type BIGINT"),
        (lambda: F.lit(None), et.errors.ColumnTypeError, "GAP_TYPE.*VOID"),
        (lambda: F.expr("interval 1 month"), et.errors.ColumnTypeError, "GAP_TYPE.*MONTH"),
        (
            lambda: F.when(F.rand(seed=1) > 0, "5 seconds"),
            et.errors.InvalidArgumentError,
            "GAP_NOT_DETERMINISTIC",
        ),
        (lambda: F.lit("5s"), et.errors.InvalidArgumentError, "GAP_WITHOUT_LENGTH.*'5s'"),
        (
            lambda: F.when(F.col("id") > 1, "5 seconds").otherwise("1 month"),
            et.errors.InvalidArgumentError,
            "GAP_WITHOUT_LENGTH.*'1 month'.*30 days",
        ),
        (
            lambda: F.coalesce("text", F.lit("-1 second")),
            et.errors.InvalidArgumentError,
            "GAP_WITHOUT_LENGTH.*'-1 second'",
        ),
        (
            lambda: F.expr("if(id > 1, interval 0 seconds, interval 5 seconds)"),
            et.errors.InvalidArgumentError,
            "GAP_WITHOUT_LENGTH",
        ),
    ],
)
def test_what_is_no_gap_of_a_row_is_refused(
    spark: SparkSession,
    of: str,
    gap: Callable[[], Column],
    error: type[Exception],
    match: str,
) -> None:
    """Before a query starts; each by its reason."""
    rate = spark.readStream.format("rate").load().toDF("ts", "id")
    rows = rate.withColumn("text", F.col("id").cast("string"))
    if of == "batch":
        rows = spark.createDataFrame([], rows.schema)
    window = et.window(rows).event_time("ts", LAG).session(gap())
    with pytest.raises(error, match=match) as caught:
        _ = window.agg(F.count("*").alias("n")).results
    assert type(caught.value) is error
