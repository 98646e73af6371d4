"""Windows of YAML documents over real rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.errors import InvalidArgumentError
from eventtide.testing import Script
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, site string, amount int"
PAGE = """\
event_time:
  column: ts
  policy: {name: with_fixed_lag, lag: 1s}
key_by: [site]
tumbling: 10s
agg:
  n: count(*)
  most: max(amount) FILTER (WHERE amount < 100)
"""


def shown(results: DataFrame) -> DataFrame:
    """Return results with the start of the window in seconds."""
    return results.select(F.second("window.start"), "site", "n", "most")


@pytest.mark.smoke
def test_a_document_is_a_query() -> None:
    """Its results are those of the aggregates in SQL."""
    window = et.from_yaml(PAGE)
    with Script(lambda events: shown(window.over(events).results), ROWS) as script:
        script.rows([(at(1), "a", 5), (at(2), "a", 500), (at(3), "b", 7)])
        script.rows([(at(30), "a", 1)]).expect(results=[(0, "a", 2, 5), (0, "b", 1, 7)])


def aggregates() -> dict[str, Column]:
    """Return aggregates that SQL has text for; made late, since they need a session."""
    return {
        "count": F.count("*").alias("n"),
        "sum": F.sum("amount").alias("total"),
        "sum of": F.avg(F.col("amount") + 1).alias("more"),
        "star": F.count(F.expr("*")).alias("all rows"),
        "quoted": F.max(F.col("amount")).alias("the most"),
        "filter": F.expr("max(amount) FILTER (WHERE amount < 100)").alias("most"),
        "when": F.sum(F.when(F.col("site") == "it's", 1).otherwise(0)).alias("one"),
        "literal": F.sum(F.lit("1.5").cast("decimal(10,2)")).alias("half"),
        "nested": F.collect_list(F.struct("site", F.col("amount").alias("x"))).alias("all"),
    }


NAMES = ("count", "sum", "sum of", "star", "quoted", "filter", "when", "literal", "nested")


@pytest.mark.parametrize("name", NAMES)
def test_an_aggregate_is_written_as_sql(spark: SparkSession, name: str) -> None:
    """What is read computes the same, under the same name."""
    window = et.window().tumbling("10s").agg(aggregates()[name])
    rows = spark.createDataFrame(
        [(at(1), "it's", 5), (at(2), "b", 500)], "ts string, site string, amount int"
    )
    events = rows.withColumn("ts", F.to_timestamp("ts"))
    read = et.from_yaml(window.to_yaml())
    written, again = (one.event_time("ts").over(events).results for one in (window, read))
    assert again.schema == written.schema
    assert again.collect() == written.collect()


def unwritable() -> dict[str, Column]:
    """Return aggregates that SQL has no text for; made late, since they need a session."""
    return {
        "a function": F.max(F.udf(len, "int")("site")).alias("longest"),
        "no alias": F.sum("amount"),
        "a lambda": F.max(F.udf(lambda one: one, "string")("site")).alias("same"),
    }


@pytest.mark.parametrize("name", ["a function", "a lambda", "no alias"])
@pytest.mark.usefixtures("spark")
def test_an_aggregate_without_sql_is_refused(name: str) -> None:
    """Its text would be read as another function."""
    window = et.window().tumbling("10s").agg(unwritable()[name])
    with pytest.raises(InvalidArgumentError, match="cannot be written as YAML") as raised:
        window.to_yaml()
    assert raised.value.argument == "agg"


def test_sql_that_is_no_aggregate_is_refused_over_rows(spark: SparkSession) -> None:
    """As an aggregate in Python is."""
    window = et.from_yaml("{event_time: ts, tumbling: 10s, agg: {n: amount + 1}}")
    events = spark.createDataFrame([], ROWS)
    with pytest.raises(InvalidArgumentError, match="amount"):
        _ = window.over(events).results
