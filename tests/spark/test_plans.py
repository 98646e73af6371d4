"""What Spark's analyser and optimizer make of a plan with a watermark of ours in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

LAG_2S = WatermarkPolicies.with_fixed_lag("2s")
EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"


def joined_with_itself(stream: DataFrame, time: str) -> DataFrame:
    """Pair each event with those of its key in the next five seconds: their distances."""
    left, right = stream.alias("l"), stream.alias("r")
    near = f"l.key = r.key and r.{time} between l.{time} and l.{time} + interval 5 seconds"
    apart = F.unix_timestamp(f"r.{time}") - F.unix_timestamp(f"l.{time}")
    return left.join(right, F.expr(near)).select(apart)


@pytest.mark.smoke
def test_a_stream_with_ingestion_times_can_be_joined_with_itself() -> None:
    """Spark gives one side a time column of its own, and both have the batch's time."""

    def query(events: DataFrame) -> DataFrame:
        return joined_with_itself(et.with_ingestion_time(events, into="seen"), "seen")

    with Script(query, EVENTS, clock=at(30)) as script:
        script.rows([(at(1), "a"), (at(1), "b")]).expect([(0,), (0,)])
        script.clock("+2s").rows([(at(1), "a")]).expect([(0,), (2,)], late=0)
        script.clock("+9s").rows([(at(1), "a")]).expect([(0,)], late=0, watermark=at(41))


def test_an_ingestion_time_is_1970_in_a_plan_of_no_batch(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `DataFrame.explain` shows it."""
    et.with_ingestion_time(spark.readStream.format("rate").load(), into="seen").explain()
    assert "1970-01-01 00:00:00 AS seen" in capsys.readouterr().out


def test_a_stream_joined_with_itself_has_one_watermark() -> None:
    """Each side reads the source for itself; the watermark is that of one."""

    def query(events: DataFrame) -> DataFrame:
        return joined_with_itself(et.with_watermark(events, "ts", LAG_2S, substream="key"), "ts")

    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(4), "a")]).expect([(0,), (0,), (3,)], watermark=at(2))
        script.rows([(at(60), "a"), (at(30), "b")]).expect([(0,), (0,)], watermark=at(28))
        substreams = et.progress(script.streaming_query).inputs[0].substreams
    assert [line.name for line in substreams] == ["a", "b"]


@pytest.mark.parametrize(
    ("condition", "watermark"),
    [("key != 'skip'", 8), ("key != 'skip' or ts < '1900-01-01'", 58)],
)
def test_rows_that_a_filter_takes_out_do_not_move_the_watermark(
    condition: str, watermark: int
) -> None:
    """Spark moves a filter below, as it does under its own, unless it needs the event time."""
    for watermarked in (
        lambda events: et.with_watermark(events, "ts", LAG_2S),
        lambda events: events.withWatermark("ts", "2 seconds"),
    ):

        def query(
            events: DataFrame, watermarked: Callable[[DataFrame], DataFrame] = watermarked
        ) -> DataFrame:
            return watermarked(events).filter(condition).select("key")

        with Script(query, EVENTS) as script:
            script.rows([(at(10), "a"), (at(60), "skip")]).expect([("a",)], watermark=at(watermark))


def spellings(events: DataFrame) -> list[str | Column]:
    """Return the same column in all the ways in which one can name it."""
    return ["key", F.col("key"), F.col("KEY"), F.col("named.key"), events["key"], events.key]


@pytest.mark.parametrize("position", range(6))
def test_a_substream_may_be_spelled_otherwise_after_a_restart(
    tmp_path: Path, position: int
) -> None:
    """What it is counts, not how it was written; another one is refused."""
    checkpoint = str(tmp_path)

    def spelled(events: DataFrame) -> DataFrame:
        named = events.alias("named")
        substream = spellings(named)[position]
        return et.with_watermark(named, "ts", LAG_2S, substream=substream).select("key")

    def by_name(events: DataFrame) -> DataFrame:
        return et.with_watermark(events, "ts", LAG_2S, substream="key").select("key")

    def other(events: DataFrame) -> DataFrame:
        return et.with_watermark(events, "ts", LAG_2S, substream=F.upper("key")).select("key")

    with Script(spelled, EVENTS, checkpoint=checkpoint) as script:
        script.rows([(at(10), "a")])
    with Script(by_name, EVENTS, checkpoint=checkpoint) as script:
        script.rows([(at(10), "a")], [(at(20), "a")]).expect(watermark=at(18))
    with pytest.raises(et.errors.CheckpointError, match="upper"):
        Script(other, EVENTS, checkpoint=checkpoint).rows([(at(10), "a")])


def test_continuous_processing_is_refused_by_name(spark: SparkSession) -> None:
    """Before anything is started; the message says which triggers there are."""
    rate = spark.readStream.format("rate").load()
    writer = et.with_watermark(rate, "timestamp", LAG_2S).writeStream.outputMode("update")
    with pytest.raises(et.errors.UnsupportedPlanError, match="processing time"), et.named_errors():
        writer.format("console").trigger(continuous="1 second").start()
    assert not spark.streams.active


@pytest.fixture
def named_sources(spark: SparkSession) -> None:
    """Let Spark ask for a name for every source."""
    spark.conf.set(EVOLUTION, "true")


@pytest.mark.usefixtures("named_sources")
def test_the_clocks_have_names_where_sources_must(spark: SparkSession, tmp_path: Path) -> None:
    """Each after the source beside it, so that they are told apart and found again."""

    def watermarked(name: str) -> DataFrame:
        rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10)
        rate = rate.option("startTimestamp", 1704067200000).name(name)
        return et.with_watermark(rate.load(), "timestamp", LAG_2S)

    for _ in range(2):
        both = watermarked("orders").union(watermarked("payments")).limit(1)
        writer = both.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
        query = writer.trigger(once=True).start()
        query.awaitTermination()
    assert query.lastProgress is not None
    assert query.lastProgress.batchId == 1
