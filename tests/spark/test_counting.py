"""What tasks report is counted once, however often Spark runs them, and by query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import windowed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

POLICY = WatermarkPolicies.with_fixed_lag("2s")


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Path:
    """Return a folder with three files of ten events each, ten seconds apart."""
    folder = tmp_path / "events"
    for number in range(3):
        rows = spark.range(number * 10, number * 10 + 10).coalesce(1)
        rows.select(F.timestamp_seconds("id").alias("ts"), "id").write.mode("append").json(
            f"{folder}"
        )
    return folder


def watermarked(spark: SparkSession, files: Path) -> DataFrame:
    """Return the files as a stream of two substreams."""
    stream = spark.readStream.schema("ts timestamp, id long").json(str(files))
    return et.with_watermark(stream, "ts", POLICY, substream=F.col("id") % 2)


def run_for_each_batch(
    stream: DataFrame, act: Callable[[DataFrame, int], None], folder: Path
) -> Sequence[et.observe.SubstreamProgress]:
    """Run a query to the end of its files; return what it says about its substreams."""
    writer = stream.writeStream.foreachBatch(act).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    query.awaitTermination()
    return et.progress(query).inputs[0].substreams


def test_a_batch_that_is_read_in_part_is_counted_whole(
    spark: SparkSession, files: Path, tmp_path: Path
) -> None:
    """Whichever comes last: `first` stops after a row."""

    def look_and_count(batch: DataFrame, _: int) -> None:
        batch.first()
        batch.count()
        batch.first()

    substreams = run_for_each_batch(watermarked(spark, files), look_and_count, tmp_path)
    assert sum(line.rows_total for line in substreams) == 30


def test_another_stream_may_be_planned_within_a_batch(
    spark: SparkSession, files: Path, tmp_path: Path
) -> None:
    """Its watermark is none of the running query's."""
    other = watermarked(spark, files)

    def explain_other(batch: DataFrame, _: int) -> None:
        other.explain()
        batch.count()

    substreams = run_for_each_batch(watermarked(spark, files), explain_other, tmp_path)
    assert sum(line.rows_total for line in substreams) == 30


def test_a_batch_that_is_read_twice_is_counted_once(
    spark: SparkSession, files: Path, tmp_path: Path
) -> None:
    """`foreachBatch` may run as many jobs over its frame as it likes."""

    def twice(batch: DataFrame, number: int) -> None:
        counts = f"{batch.count()} {batch.count()}"
        (tmp_path / f"counts-{number}").write_text(counts, encoding="utf-8")

    substreams = run_for_each_batch(watermarked(spark, files), twice, tmp_path)
    total = sum(line.rows_total for line in substreams)
    assert (tmp_path / "counts-0").read_text("utf-8") == f"{total} {total}"


def test_two_queries_from_one_dataframe_do_not_share_state(
    spark: SparkSession, files: Path, tmp_path: Path
) -> None:
    """They share Spark's node ids; live state is by run."""
    counted = windowed(watermarked(spark, files))
    queries = [
        counted.writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / name))
        .trigger(availableNow=True)
        .start()
        for name in ("one", "two")
    ]
    for query in queries:
        query.awaitTermination()
        assert [line.rows_total for line in et.progress(query).inputs[0].substreams] == [15, 15]


def test_a_stream_that_is_joined_with_itself_has_one_watermark(
    spark: SparkSession, files: Path
) -> None:
    """Both sides are one input of the query."""
    events = watermarked(spark, files)
    other = events.select(F.col("ts").alias("later"), F.col("id").alias("other"))
    near = F.expr("id = other and later between ts and ts + interval 1 second")
    query = events.join(other, near).writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination()
    progress = et.progress(query)
    assert len(progress.inputs) == 1
    assert {line.name for line in progress.inputs[0].substreams} == {"0", "1"}
