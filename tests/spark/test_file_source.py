"""Windows over files, whose columns Spark's optimizer gives ids that no query was written with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.storm import Count, StormWindow
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.batch_results import told
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings
from tests.thorough import pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from eventtide.storm import TupleWindow
    from pyspark.sql import DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("5s")
SCHEMA = "ts timestamp, key string, site int, id long"
FILES = 6


def timed(events: DataFrame) -> WindowBuilder:
    """Return a window by key, in the time of the query."""
    return et.window(events).event_time("ts", LAG).key_by("key")


def own_time(events: DataFrame) -> WindowBuilder:
    """Return a window by key in the time of its site."""
    return timed(events).key_by("key", "site").watermark_scope("site")


def ids(window: TupleWindow[Any]) -> dict[str, object]:
    """Tell which rows a window has."""
    return {**window.key, "end": window.end_timestamp, "ids": [int(i) for i in window.get()["id"]]}


def of_rows(events: DataFrame, *keys: str) -> WindowBuilder:
    """Return the rows of windows, by keys or of all."""
    bolt = StormWindow().with_window("20s", "10s").with_timestamp_field("ts").over(events)
    bolt = bolt.group_by(*keys) if keys else bolt
    columns = "".join(f"{key} string, " for key in keys)
    return bolt.execute(ids, f"{columns}end timestamp, ids array<long>").event_time("ts", LAG)


QUERIES: dict[str, Callable[[DataFrame], WindowBuilder]] = {
    "tumbling": lambda df: timed(df).tumbling("10s").agg(F.collect_list("id")),
    "sliding": lambda df: timed(df).sliding("20s", every="10s").agg(F.sum("id"), F.max("site")),
    "early": lambda df: (
        timed(df)
        .tumbling("10s")
        .emit(WindowTrigger.every_rows(2), "at_window_end")
        .agg(F.sum("id"))
    ),
    "by site": lambda df: own_time(df).tumbling("10s").agg(F.sum("id")),
    "sessions": lambda df: own_time(df).session("4s").key_idle_timeout("5m").agg(F.sum("id")),
    "growing": lambda df: timed(df).cumulate("20s", step="10s").agg(F.sum("id"), F.max("site")),
    "counts": lambda df: timed(df).watermark_scope("key").by_count(3).agg(F.sum("id")),
    "last counts": lambda df: timed(df).by_count(4, every=3).agg(F.sum("id")),
    "two in a row": lambda df: (
        et.window(timed(df).tumbling("5s").agg(F.sum("id").alias("id")).results)
        .key_by("key")
        .sliding("20s", every="10s")
        .agg(F.sum("id"))
    ),
    "storm": lambda df: (
        StormWindow()
        .with_window(Count(4), "10s")
        .with_timestamp_field("ts")
        .group_by("key")
        .over(df)
        .agg(F.collect_list("id"))
        .event_time("ts", LAG)
    ),
    "rows by key": lambda df: of_rows(df, "key"),
    "rows of all": of_rows,
}


@pytest.mark.parametrize(("name", "drain"), pairs(QUERIES, [False, True]))
def test_files_one_by_one_give_what_all_give_at_once(
    spark: SparkSession, tmp_path: Path, name: str, *, drain: bool
) -> None:
    """But for windows that are open at the end, unless the query closes them; no row is late."""
    rows = [
        (at(10 * file + 2 * i), "ab"[i % 2], i % 3, 10 * file + i)  # windows close with rows
        for file in range(FILES)
        for i in range(5)
    ]
    made = spark.createDataFrame(rows, "ts string, key string, site int, id long").coalesce(1)
    made = made.selectExpr("CAST(ts AS TIMESTAMP) AS ts", "key", "site", "id").cache()
    for file in range(FILES):
        made.where(f"id DIV 10 = {file}").write.json(str(tmp_path / "files"), mode="append")
    with settings(spark, WITHOUT_CODE):
        files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        window = QUERIES[name](files.json(str(tmp_path / "files")))
        writer = window.results.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer = writer.option("path", str(tmp_path / "results"))
        query = et.start(window, writer, drain=drain)
        query.awaitTermination()
        found = told(spark.read.parquet(str(tmp_path / "results")))
        wanted = told(QUERIES[name](made).results)
    assert len(found) >= FILES
    if name != "early":  # of which a batch gives the last results alone
        assert set(found) <= set(wanted)
        assert not drain or found == wanted
        report = et.progress(query)
        assert sum(report.late.values()) == 0
        if name != "two in a row":  # of which the second takes the results of the first
            assert report.on_time == 5 * FILES
