"""Subqueries in what a window computes: they answer as in Spark's own `groupBy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

SCHEMA = "ts timestamp, k string, v long"
ROWS = [(at(1), "a", 1), (at(2), "b", 2), (at(3), "a", 3), (at(12), "a", 4)]
FOUR = "(select max(id) from range(5))"
SMALL = "v in (select id from range(3))"
OF_KEY = "(select max(id) from range(5) where id = v)"

AGGREGATES = {
    "beside": f"sum(v) + {FOUR}",
    "within": f"sum(v + {FOUR})",
    "filter": f"count(*) filter (where v < {FOUR} - 1)",
    "in": f"count(if({SMALL}, 1, null))",
    "correlated": f"sum({OF_KEY})",
    "with objects": f"sort_array(collect_list(v * {FOUR}))",
    "twice": f"max(v + {FOUR}) - {FOUR}",
}


def policy_window(events: DataFrame) -> WindowBuilder:
    """Begin a window of ten seconds."""
    policy = WatermarkPolicies.with_fixed_lag("0s")
    return et.window(events).event_time("ts", policy).tumbling("10s")


def sparks(events: DataFrame, keys: list[Column], aggregates: list[Column]) -> list[Any]:
    """Return what Spark's own aggregation has."""
    grouped = events.groupBy(F.window("ts", "10 seconds"), *keys)
    return sorted(grouped.agg(*aggregates).collect())


def batch(spark: SparkSession) -> DataFrame:
    """Return all rows as a batch."""
    texts = spark.createDataFrame(ROWS, "ts string, k string, v long")
    return texts.withColumn("ts", F.to_timestamp("ts"))


@pytest.mark.parametrize("by_row", [False, True], ids=["by frame", "by row"])
def test_subqueries_answer_as_in_spark(spark: SparkSession, *, by_row: bool) -> None:
    """In a stream and in a batch; rows that come late have the key that others have."""
    keys = [F.expr(f"k || {FOUR}").alias("kk"), F.expr(SMALL).alias("small")]
    values = [F.expr(text).alias(name) for name, text in AGGREGATES.items()]

    def window(events: DataFrame) -> WindowBuilder:
        made = policy_window(events).key_by(*keys).agg(*values)
        return made.watermark_scope("key") if by_row else made

    wanted = sparks(batch(spark), keys, values)
    assert sorted(window(batch(spark)).results.collect()) == wanted
    with Script(window, SCHEMA) as script:
        ends = [(at(50), row[1], row[2]) for row in ROWS]
        results = script.rows(ROWS[:2], ROWS[2:], ends).results()
        assert sorted(script.rows(ends[:0]).results() + results) == wanted
        script.rows([(at(4), "a", 1)])
        late = et.read_late(script.checkpoint).select("_key", "k", "v")
        assert [tuple(row) for row in late.collect()] == [("a4/true", "a", 1)]


@pytest.mark.usefixtures("spark")
def test_a_condition_has_subqueries() -> None:
    """Over results, and within the aggregates that it is about."""

    def window(events: DataFrame) -> WindowBuilder:
        values = F.expr(f"sum(v + {FOUR})").alias("n"), F.count("*").alias("rows")
        return (
            policy_window(events)
            .agg(*values)
            .emit(WindowTrigger.when(f"n > {FOUR} + 3"), "at_window_end")
        )

    with Script(window, SCHEMA) as script:
        script.rows(ROWS[:1], ROWS[1:2])
        panes = [(row["n"], row["rows"], row["trigger"]) for row in script.results()]
        assert panes == [(11, 2, "when")]


@pytest.mark.usefixtures("spark")
def test_a_substream_and_a_time_have_subqueries() -> None:
    """As columns of their own."""
    policy = WatermarkPolicies.with_fixed_lag("0s")

    def window(events: DataFrame) -> WindowBuilder:
        timed = events.withColumn("later", F.expr(f"ts + make_dt_interval(0, 0, 0, {FOUR})"))
        substream = F.expr(f"concat(k, {FOUR})")
        begun = et.window(timed).event_time("later", policy, substream=substream)
        return begun.tumbling("10s").agg(F.count("*").alias("n"))

    with Script(window, SCHEMA) as script:
        script.rows(ROWS, [(at(30), "b", 1), (at(30), "a", 1)])
        assert sorted((row["window"].start.second, row["n"]) for row in script.results()) == [
            (0, 3),
            (10, 1),
        ]
        (read,) = et.progress(script.streaming_query).inputs
        named = {each.name for each in read.substreams}
        assert named == {"a4", "b4"}


def test_a_restart_and_the_state_have_subqueries(spark: SparkSession) -> None:
    """The plan of the checkpoint is known again; what is open shows the value of now."""

    def window(events: DataFrame) -> WindowBuilder:
        values = F.expr(AGGREGATES["twice"]).alias("a"), F.expr(AGGREGATES["beside"]).alias("b")
        return policy_window(events).key_by(F.expr(f"{FOUR} + v % 2").alias("k")).agg(*values)

    with Script(window, SCHEMA) as script:
        script.rows(ROWS[:3]).stop()
        held = et.read_state(script.checkpoint, window(batch(spark)))
        assert sorted((row.k, row.a, row.b) for row in held.collect()) == [(4, 2, 6), (5, 3, 8)]
        script.restart().rows(ROWS[3:])
        assert sorted((row.k, row.a, row.b) for row in script.results()) == [(4, 2, 6), (5, 3, 8)]
