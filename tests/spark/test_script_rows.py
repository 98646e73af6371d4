"""Rows of the test kit are those that PySpark makes, of any type, in the partitions asked for."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import _jvm
from eventtide._text.schemas import row_type
from eventtide.testing import KernelScript, Script
from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import Row
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOON = datetime(2024, 1, 1, 12, 0, 0, 7, tzinfo=timezone.utc)
VALUES = [
    ("boolean", True),
    ("tinyint", -128),
    ("smallint", 32767),
    ("int", -(2**31)),
    ("bigint", 2**62),
    ("float", 0.5),
    ("double", float("inf")),
    ("decimal(20,2)", Decimal("123456789012345678.90")),
    ("string", "Gezeiten \N{WATER WAVE}"),
    ("binary", bytearray(b"\0\xff")),
    ("date", date(1969, 12, 31)),
    ("timestamp", NOON),
    ("timestamp_ntz", NOON.replace(tzinfo=None)),
    ("interval day to second", timedelta(days=-1, microseconds=3)),
    ("array<int>", [1, None, 3]),
    ("map<string,timestamp>", {"noon": NOON, "none": None}),
    ("struct<a: int, b: struct<c: date>>", (1, (date(2024, 2, 29),))),
    ("array<struct<a: int>>", [(1,), None]),
    ("struct<a: int, b: int>", {"a": 1}),
    ("struct<a: int, b: date>", Row(a=1, b=date(2024, 2, 29))),
    ("string collate UNICODE_CI", "Tide"),
]


@pytest.mark.smoke
@pytest.mark.parametrize(("kind", "value"), VALUES, ids=[kind for kind, _ in VALUES])
def test_a_value_is_what_pyspark_makes_of_it(spark: SparkSession, kind: str, value: object) -> None:
    """In a batch and in a stream, beside a null."""
    schema = row_type(f"v {kind}, n int")
    rows = [(value, 1), (None, 2)]
    wanted = spark.createDataFrame(rows, schema)
    assert len({str(row["v"]) for row in wanted.collect()}) == 2
    ours = _jvm.local_rows(spark, rows, schema)
    assert (ours.schema, ours.collect()) == (wanted.schema, wanted.collect())
    with Script(lambda events: events, schema) as script:
        assert script.rows(rows).results() == wanted.collect()


def numbered(events: DataFrame) -> DataFrame:
    """Tell in which partition a row is."""
    return events.select(F.spark_partition_id().alias("partition"), "n")


@pytest.mark.smoke
def test_rows_are_spread_in_turn_and_each_list_is_a_batch() -> None:
    """Also where there are fewer rows than partitions, or none."""
    with Script(numbered, "n int") as script:
        assert script.rows([(n,) for n in range(3)], [(3,)], [], partitions=2).last_batch == 2
        script.expect([(0, 0), (1, 1), (0, 2), (0, 3)])
        script.rows([(4,), (5,)]).expect([(0, 4), (0, 5)])


@pytest.mark.parametrize("partitions", [0, -1, "two"])
def test_a_number_of_partitions_that_is_none_is_refused(partitions: Any) -> None:
    """Before the source has a row."""
    with Script(numbered, "n int") as script:
        with pytest.raises(et.errors.InvalidArgumentError, match="partitions"):
            script.rows([(1,)], partitions=partitions)
        assert script.last_batch == -1


@pytest.mark.parametrize("rows", [[], [(i,) for i in range(2000)]], ids=["none", "many"])
def test_rows_stay_in_their_order(spark: SparkSession, rows: list[tuple[int]]) -> None:
    """However many there are."""
    found = _jvm.local_rows(spark, rows, row_type("n int")).collect()
    assert [row["n"] for row in found] == [n for (n,) in rows]


@pytest.mark.parametrize(
    ("row", "error"),
    [(("one",), PySparkTypeError), ((2**40,), PySparkValueError), ((None,), PySparkValueError)],
)
def test_a_value_of_another_type_is_refused(
    spark: SparkSession, row: tuple[object], error: type[Exception]
) -> None:
    """As PySpark does, with its column."""
    with pytest.raises(error, match="n"):
        _jvm.local_rows(spark, [row], row_type("n int not null"))


@pytest.mark.usefixtures("new_york")
def test_times_are_in_utc_wherever_the_machine_is() -> None:
    """Those of results, of structs in them and of late rows, at the end of summer time too."""
    lag = et.WatermarkPolicies.with_fixed_lag("0s")

    def hours(events: DataFrame) -> et.WindowBuilder:
        windows = et.window(events).event_time("ts", lag).tumbling("1h")
        return windows.agg(F.max("ts").alias("last"), F.max("local").alias("local"))

    early, late = "2024-11-03 05:30:00", "2024-11-03 06:30:00"  # both are 1:30 in New York
    steps: list[list[Any]] = [
        [(early, early), (late, late)],
        [("2024-11-03 09:00:00", None)],
        [(early, early)],
    ]
    with Script(hours, "ts timestamp, local timestamp_ntz") as script:
        first = {"start": "2024-11-03 05:00:00", "end": "2024-11-03 06:00:00"}
        second = {"start": "2024-11-03 06:00:00", "end": "2024-11-03 07:00:00"}
        script.rows(*steps).expect(
            results=[
                {"window": first, "last": early, "local": early},
                {"window": second, "last": late, "local": late},
            ],
            late=1,
        )
    with KernelScript(hours, "ts timestamp, local timestamp_ntz") as both:
        both.rows(*steps)
