"""Event times that are fields of structs, wherever an event time is named."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.storm import Count, StormWindow
from eventtide.testing import Script
from eventtide.voltsp import TimeConfig, Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

SCHEMA = "id int, meta struct<ts:timestamp,of:struct<time:timestamp_ntz>>, k string"
LAG = WatermarkPolicies.with_fixed_lag("0s")


def n() -> Column:
    """Return the number of rows."""
    return F.count("*").alias("n")


def row(number: int, second: float | None, key: str = "a") -> tuple[object, ...]:
    """Return a row with that time at both depths."""
    local = None if second is None else datetime.fromisoformat(at(second))
    time = None if local is None else local.replace(tzinfo=timezone.utc)
    return number, (time, (local,)), key


def starts(script: Script) -> list[tuple[int, int]]:
    """Return what came out, as (start in seconds, rows)."""
    return sorted((each["window"].start.second, each["n"]) for each in script.results())


@pytest.mark.parametrize("column", ["meta.ts", "meta.of.time", "`meta`.ts", "META.TS"])
def test_a_window_takes_a_field(spark: SparkSession, column: str) -> None:
    """At any depth; late rows are logged as they came, and a batch has the same windows."""

    def window(events: DataFrame) -> WindowBuilder:
        begun = et.window(events).event_time(column, LAG, substream="k").key_by("k")
        rows = F.collect_list(F.struct("*")).alias("rows")
        return begun.tumbling("10s").agg(n(), F.max("meta.ts").alias("last"), rows)

    with Script(window, SCHEMA) as script:
        script.rows([row(1, 1), row(2, 12), row(3, None)]).rows([row(4, 2), row(5, 25)])
        assert script.result.columns == ["window", "k", "n", "last", "rows"]
        inner = script.result.select(F.explode("rows").alias("row")).select("row.*")
        assert inner.columns == ["id", "meta", "k"]
        assert starts(script) == [(0, 1), (10, 1)]
        late = et.read_late(script.checkpoint)
        assert late.columns[:3] == ["id", "meta", "k"]
        assert {(each.id, each._reason) for each in late.collect()} == {
            (3, "bad_time"),
            (4, "window_closed"),
        }
        script.restart().rows([row(6, 40)])
        assert starts(script) == [(20, 1)]
    rows = spark.createDataFrame([(1, None, "a")], SCHEMA)
    time = F.lit(at(1)).cast("timestamp")
    field = F.struct(
        time.alias("ts"), F.struct(time.cast("timestamp_ntz").alias("time")).alias("of")
    )
    assert window(rows.withColumn("meta", field)).results.select("k", "n").collect() == [("a", 1)]
    assert window(rows).results.isEmpty()


def test_with_watermark_adds_the_field(spark: SparkSession) -> None:
    """As a column of its own, since Spark marks no fields; a name that is taken is refused."""

    def counts(events: DataFrame) -> DataFrame:
        marked = et.with_watermark(events, "meta.ts", LAG, substream="k")
        assert marked.columns == ["id", "meta", "k", "ts"]
        return marked.groupBy(F.window("ts", "10 seconds")).agg(n())

    with Script(counts, SCHEMA) as script:
        script.rows([row(1, 1), row(2, 12)]).rows([row(3, 25)])
        assert starts(script) == [(0, 1), (10, 1)]
    rows = spark.createDataFrame([], SCHEMA)
    assert et.with_watermark(rows, "meta.ts", LAG).columns == ["id", "meta", "k", "ts"]
    with pytest.raises(et.errors.InvalidArgumentError, match="already has a column 'ts'"):
        et.with_watermark(rows.withColumn("ts", F.lit(1)), "meta.ts", LAG)


def test_a_field_that_is_no_time_is_refused(spark: SparkSession) -> None:
    """And one that is not there, by name."""
    rows = spark.createDataFrame([], SCHEMA)
    with pytest.raises(et.errors.ColumnTypeError, match=r"meta\.of'"):
        et.with_watermark(rows, "meta.of", LAG)
    with pytest.raises(et.errors.UnknownColumnError, match=r"meta\.other"):
        et.with_watermark(rows, "meta.other", LAG)
    with pytest.raises(et.errors.UnknownColumnError, match=r"meta\.other"):
        _ = et.window(rows).event_time("meta.other").tumbling("10s").agg(n()).results


def storm(events: DataFrame) -> WindowBuilder:
    """Return a window of Storm's."""
    return StormWindow().with_window(Count(1)).with_timestamp_field("meta.ts").over(events).agg(n())


def volt(events: DataFrame) -> WindowBuilder:
    """Return a window of VoltSP's."""
    window = Windows.tumbling_time_window().with_window_span("10s").with_key_extractor("k")
    timed = window.with_time_config(TimeConfig("meta.ts"))
    return timed.with_aggregate_definition(lambda builder: builder.count("n")).over(events)


def later(events: DataFrame) -> WindowBuilder:
    """Return a window in the time of its keys."""
    begun = et.window(events).event_time("meta.ts", LAG).key_by("k").watermark_scope("key")
    return begun.session("5s").key_idle_timeout("5s").agg(n())


@pytest.mark.parametrize("query", [storm, volt, later])
def test_other_windows_take_a_field(query: Callable[[DataFrame], WindowBuilder]) -> None:
    """Those that take rows one by one, and those of other systems."""
    with Script(query, SCHEMA, clock=at(0)) as script:
        script.rows([row(1, 1)], [row(2, 32)]).rows([row(3, 65)]).clock("+10s")
        assert [each["n"] for each in script.results()][:2] == [1, 1]
