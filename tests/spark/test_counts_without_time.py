"""Windows of a number of rows count every row, also one without a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import KernelScript, Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "ts timestamp, k string, id int"
ROWS = [(at(1), "a", 1), (None, "a", 2), (at(3), "a", 3), (None, "b", 4), (None, "b", 5)]
LAG = WatermarkPolicies.with_fixed_lag("0s")


def pairs(events: DataFrame) -> WindowBuilder:
    """Return windows of two rows of each key."""
    ids = F.sort_array(F.collect_list("id")).alias("ids")
    return et.window(events).event_time("ts", LAG).key_by("k").by_count(2).agg(ids)


@pytest.mark.parametrize("scope", ["query", "key"])
def test_rows_without_a_time_count(spark: SparkSession, scope: str) -> None:
    """In a stream and in a batch, and the books balance; none is late."""

    def window(events: DataFrame) -> WindowBuilder:
        return pairs(events) if scope == "query" else pairs(events).watermark_scope("key")

    with Script(window, SCHEMA) as script:
        script.rows(ROWS[:2], ROWS[2:])
        assert sorted((row.k, row.ids) for row in script.results()) == [
            ("a", [1, 2]),
            ("b", [4, 5]),
        ]
        assert et.read_late(script.checkpoint).isEmpty()
        report = et.progress(script.streaming_query)
        assert (report.on_time, dict(report.late)) == (5, {})
        script.restart().rows([(None, "a", 6)])
        assert [(row.k, row.ids) for row in script.results()] == [("a", [3, 6])]
    texts = spark.createDataFrame(ROWS, "ts string, k string, id int")
    batch = pairs(texts.withColumn("ts", F.to_timestamp("ts"))).results
    assert sorted((row.k, row.ids) for row in batch.collect()) == [
        ("a", [1, 2]),
        ("a", [3]),
        ("b", [4, 5]),
    ]


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("clock", ["processing_time", "event_time"])
def test_a_row_without_a_time_is_a_sign_of_life(clock: str) -> None:
    """By the clock, or at the watermark of all keys; the kernel alone says the same."""

    def window(events: DataFrame) -> WindowBuilder:
        return pairs(events).key_idle_timeout("9s", clock=clock).heartbeat("1s")  # type: ignore[arg-type]

    with KernelScript(window, SCHEMA, clock=at(0)) as script:
        script.rows([(at(1), "a", 1), (None, "b", 2)], [(at(11), "c", 3), (None, "a", 4)])
        script.clock(at(8)).rows([(None, "a", 5), (at(18), "c", 6), (None, "d", 7)])
        script.clock(at(12)).rows([(at(40), "c", 8)]).clock(at(30))
