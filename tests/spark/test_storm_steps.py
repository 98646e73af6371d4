"""Each watermark of Storm's windows makes rows late, whether it closes a window or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.storm import Count, StormWindow
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "ts timestamp, id int"
INSTANT = "2024-06-01 00:00:00"  # Storm's timer emits at whole seconds
BETWEEN = "2024-06-01 00:00:00.5"

TENS, THREES = ("10s", "10s"), (Count(3), Count(3))
SHAPES = pytest.mark.parametrize(
    ("extents", "second"),
    [(TENS, 8), (TENS, 10), (THREES, 8)],
    ids=["within a window", "at the end of one", "of a number of rows"],
)


def bolt(extents: tuple[str | Count, str | Count]) -> Callable[[DataFrame], WindowBuilder]:
    """Return what puts a bolt with this length and slide over events."""
    window = StormWindow().with_window(*extents).with_timestamp_field("ts")
    return lambda events: window.over(events).agg(F.collect_list("id").alias("ids"))


def late(spark: SparkSession, script: Script) -> list[int]:
    """Return the ids of rows in the late log."""
    return [row.id for row in et.read_late(script.checkpoint, spark=spark).collect()]


@SHAPES
def test_a_watermark_by_the_timer_that_closes_nothing_makes_rows_late(
    spark: SparkSession, extents: tuple[str | Count, str | Count], second: int
) -> None:
    """One batch is run for it, and one row before it is late, as in Storm; none is by the first."""
    with Script(bolt(extents), COLUMNS, clock=BETWEEN) as script:
        script.rows([(at(second), 1)])
        before = script.last_batch
        script.clock("+1s")
        assert script.last_batch == before + 1
        script.rows([(at(second - 0.5), 2), (at(second), 3)])
        assert script.results() == []
        assert late(spark, script) == [2]


@SHAPES
def test_a_watermark_by_rows_that_closes_nothing_makes_rows_late(
    spark: SparkSession, extents: tuple[str | Count, str | Count], second: int
) -> None:
    """At an instant of the timer it is emitted with the rows, and one more batch is run for it."""
    with Script(bolt(extents), COLUMNS, clock=INSTANT) as script:
        script.rows([(at(second - 2), 1)]).clock("+1s")
        before = script.last_batch
        script.rows([(at(second), 2)])
        assert script.last_batch == before + 2
        script.rows([(at(second - 0.5), 3)])
        assert script.results() == []
        assert late(spark, script) == [3]
