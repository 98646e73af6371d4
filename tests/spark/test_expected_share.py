"""The expected share of rows, as a column of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.testing import Script
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

EVENTS = "ts timestamp, user string"
LAG = WatermarkPolicies.with_fixed_lag("0s")


def tens(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds."""
    timed = et.window(events).event_time("ts", LAG).key_by("user")
    return timed.tumbling("10s").agg(F.count("*").alias("n"))


def shared(events: DataFrame) -> DataFrame:
    """Return the second at which each window starts, its rows and its share."""
    results = tens(events).results.withColumn("share", et.expected_share())
    return results.select(F.second("window.start").alias("start"), "n", "share")


def test_the_share_is_that_of_the_rows_before(tmp_path: Path) -> None:
    """Half of the rows are five seconds behind: a quarter of a window is missing at its end."""
    with Script(shared, EVENTS, checkpoint=str(tmp_path)) as script:
        script.rows([(at(5), "a")])
        for second in range(10, 20):
            script.rows([(at(second), "a"), (at(second - 5), "a")])
        script.rows([(at(20), "a")]).rows([(at(30), "a")]).rows([(at(40), "a")])
        results = {row["start"]: row["share"] for row in script.results()}
    assert set(results) == {0, 10, 20, 30}
    assert results[0] is None or results[0] > 0.9  # of the first rows only
    assert 0.75 < results[10] < 1
    assert results[10] <= results[20] <= results[30] < 1  # with more and more rows in order


def test_a_restart_gives_the_same(tmp_path: Path) -> None:
    """The disorder is in the ledger."""

    def run(name: str, *, restarts: bool) -> list[float | None]:
        with Script(shared, EVENTS, checkpoint=str(tmp_path / name)) as script:
            for second in range(10, 60, 5):
                script.rows([(at(second), "a"), (at(second - 7), "a")])
                if restarts:
                    script.restart()
            return [row["share"] for row in script.results()]

    assert run("one", restarts=False) == run("many", restarts=True)


def test_the_column_says_what_completeness_says(tmp_path: Path) -> None:
    """Also when the clock releases a substream that was behind."""

    def query(events: DataFrame) -> DataFrame:
        timed = et.window(events).event_time(
            "ts", LAG, substream="user", substream_idle_timeout="30s"
        )
        counts = timed.tumbling("10s").agg(F.count("*").alias("n"))
        return counts.results.withColumn("share", et.expected_share())

    with Script(query, EVENTS, checkpoint=str(tmp_path)) as script:
        for second in range(10, 60, 5):
            rows = [(at(second), "a"), (at(second - 7), "a"), (at(second / 2), "b")]
            script.rows(rows)
        script.clock("+20s").rows([(at(65), "a")]).clock("+15s").rows([(at(66), "a")])
        script.clock("+1s").rows([(at(67), "a")])
        found = {row["window"].end: row["share"] for row in script.results()}
        told = et.completeness(script.streaming_query).collect()
    known = {row["window"].end: row for row in told if row["expected_missing"] is not None}
    assert len(known) > 4
    for end, row in known.items():
        share = row["rows"] / (row["rows"] + row["expected_missing"])
        assert found[end] == pytest.approx(share)


def test_a_drained_query_lacks_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """After its last row, each window has all of its rows."""
    with Script(shared, EVENTS, session=spark, checkpoint=str(tmp_path)) as script:
        for second in range(10, 20):
            script.rows([(at(second), "a"), (at(second - 4), "a")])
        script.restart(drain=True)
        assert script.results()[-1]["share"] == 1.0


def test_a_batch_has_all_rows(spark: SparkSession) -> None:
    """Its share is one, also in SQL."""
    rows = spark.createDataFrame([(at(1), "a")], "ts string, user string")
    results = tens(rows.withColumn("ts", F.col("ts").cast("timestamp"))).results
    assert results.select(et.expected_share(F.col("window"))).collect() == [(1.0,)]
    results.createOrReplaceTempView("results_of_ten")
    [row] = spark.sql("SELECT eventtide_expected_share(window) FROM results_of_ten").collect()
    assert row[0] == 1.0


@pytest.mark.parametrize(
    "share",
    [
        lambda w: w.session("5s").agg(F.count("*")).results.select(et.expected_share()),
        lambda w: (
            w.watermark_scope("key")
            .tumbling("5s")
            .agg(F.count("*"))
            .results.select(et.expected_share())
        ),
        lambda w: (
            w.tumbling("5s").emit("on_update").agg(F.count("*")).results.select(et.expected_share())
        ),
        lambda w: (
            w.tumbling("5s")
            .agg(F.count("*"))
            .results.select(F.struct("window.start", "window.end").alias("w"))
            .select(et.expected_share("w"))
        ),
    ],
)
def test_windows_without_a_share_are_refused(
    spark: SparkSession, share: Callable[[WindowBuilder], DataFrame]
) -> None:
    """When the query starts, with the column."""
    rate = spark.readStream.format("rate").load().withColumn("user", F.lit("a"))
    results = share(et.window(rate).event_time("timestamp", LAG).key_by("user"))
    with pytest.raises(InvalidArgumentError, match="EXPECTED_SHARE_WINDOW"), et.named_errors():
        results.writeStream.format("noop").start()


def test_what_is_no_window_is_refused(spark: SparkSession) -> None:
    """By its type, at once."""
    with pytest.raises(ArgumentTypeError, match="expected_share"):
        et.expected_share(5)  # type: ignore[arg-type]
    with pytest.raises(PySparkException, match="a window column is needed"):
        _ = spark.range(1).select(et.expected_share("id")).schema
    with pytest.raises(InvalidArgumentError, match="has 2 arguments"), et.named_errors():
        spark.sql("SELECT eventtide_expected_share(1, 2)").collect()
