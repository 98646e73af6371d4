"""How users write it, as their type checkers see it. Never run, only checked."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import eventtide as et
import pandas as pd
import pyarrow as pa
from eventtide import WatermarkPolicies, WatermarkPolicy, WindowTrigger
from eventtide.policies import LimitingLagAndLull, MinOf, PunctuationPolicies, WithFixedLag
from eventtide.storm import Count, StormWindow, TupleWindow
from eventtide.voltsp import TimeConfig, VoltSPWindow, WatermarkStrategy, Windows
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.streaming.query import StreamingQuery
from typing_extensions import assert_type


def session() -> SparkSession:
    """Configure a builder and go on with it."""
    return et.configure(SparkSession.builder.appName("tides")).getOrCreate()


def policies() -> list[WatermarkPolicy]:
    """Decorate without losing the policy's own type."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    assert_type(lag, WithFixedLag)
    assert_type(lag.throttle_by_frame("1s"), WithFixedLag)
    lull = WatermarkPolicies.limiting_lag_and_lull(lag="5s", max_lull=timedelta(seconds=30))
    assert_type(lull.throttle_by_min_step("1s").emit_every("1s"), LimitingLagAndLull)
    both = WatermarkPolicies.min_of(lag, PunctuationPolicies.with_fixed_lag("1m"))
    assert_type(both.guard_future("1h", on="late"), MinOf)
    assert_type(both.to_options(), dict[str, str])
    return [lag, lull, both]


def watermarks(events: DataFrame) -> DataFrame:
    """Go on with an ordinary DataFrame."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    assert_type(et.with_watermark(events, "ts", lag), DataFrame)
    et.with_watermark(events, "ts", lag, substream="device", expected=3)
    et.with_watermark(
        events, "ts", lag, substream=F.col("device"), substream_idle_timeout=timedelta(hours=1)
    )
    et.with_watermark(events, "ts", lag, substream=["site", F.col("device")], expected=["a", "b"])
    et.with_ingestion_time(events, policy=WatermarkPolicies.with_ingestion_time().emit_every("1s"))
    et.explain(events)
    et.with_watermark(events, F.col("ts"), lag)
    assert_type(et.watermark("ts", lag), Callable[[DataFrame], DataFrame])
    add = et.watermark(F.col("ts"), lag, substream=["site"], substream_idle_timeout="1m")
    assert_type(events.transform(add), DataFrame)
    return et.with_watermark(events, "ts", lag, on_restart="resume", max_substreams=10)


def voltsp(events: DataFrame) -> et.WindowBuilder:
    """Write a window as VoltSP's page does."""
    window = (
        Windows.session_window()
        .with_key_extractor("user", F.upper("region"))
        .with_time_config_builder(
            lambda builder: (
                builder.with_event_time_extractor("ts")
                .with_watermark_strategy(WatermarkStrategy.MIN_EVENT_TIME)
                .with_idle_timeout(timedelta(minutes=5))
                .with_idle_timeout_clock("event_time")
            )
        )
        .with_aggregate_definition(lambda builder: builder.count().agg(F.max("ts").alias("last")))
        .with_exception_handler(print, on_handler_error="log")
        .with_maximum_duration("1h")
        .with_touching("merge")
        .emit(WindowTrigger.at_window_end)
    )
    window.with_time_config(TimeConfig("ts", "max_event_time", scope=["region"], heartbeat="1s"))
    Windows.sliding_count_window().with_window_span(100).with_slide(10).with_late("count")
    assert_type(window, VoltSPWindow)
    assert_type(window.over(events), et.WindowBuilder)
    assert_type(et.voltsp.from_yaml(Path("window.yaml")), VoltSPWindow)
    assert_type(window.to_yaml(), str)
    assert_type(et.voltsp.from_yaml(window.to_yaml()).over(events), et.WindowBuilder)
    return window.over(events)


def storm(events: DataFrame, clicks: DataFrame) -> et.WindowBuilder:
    """Write a window as a bolt of Storm's."""

    def told(window: TupleWindow[pd.DataFrame]) -> list[dict[str, object]]:
        assert_type(window.start_timestamp, datetime | None)
        assert_type(window.key, dict[str, Any])
        assert_type(window.get(), pd.DataFrame)
        rows = [len(window.get()), len(window.get_new()), len(window.get_expired())]
        return [{"n": n} for n in rows]

    def tabled(window: TupleWindow[pa.Table]) -> pa.Table:
        return window.get_new()

    bolt = (
        StormWindow()
        .with_window(Count(5), timedelta(seconds=10))
        .with_timestamp_field({"orders": "placed", "clicks": "clicked"})
        .with_lag("5s")
        .with_watermark_interval("1s")
        .with_late_tuple_stream("late")
        .with_max_events_in_memory(10_000)
        .over({"orders": events, "clicks": clicks})
        .group_by("user", F.upper("site"), key_ttl="1h")
    )
    assert_type(bolt, StormWindow)
    assert_type(bolt.agg(F.count("*")), et.WindowBuilder)
    assert_type(bolt.stream("late", "/checkpoint"), DataFrame)
    StormWindow.from_config({"topology.bolts.window.length.count": 5})
    bolt.execute(told, "n int")
    return bolt.execute(tabled, "n int", rows="arrow")


def windows(events: DataFrame) -> StreamingQuery:
    """Describe a window, look at it, and start a query over its results."""
    window = et.window(events).event_time("ts", WatermarkPolicies.with_fixed_lag("5s"))
    assert_type(window, et.WindowBuilder)
    assert_type(window.key_by("user", F.upper("region")), et.WindowBuilder)
    shaped: et.WindowBuilder = window.sliding("1m", every=timedelta(seconds=1))
    assert_type(shaped.over(events).results, DataFrame)
    window.tumbling("1 month").time_zone("Europe/Berlin").origin(datetime(2024, 4, 1))  # noqa: DTZ001 - the zone is the window's
    window.cumulate("1 day", step="1h").offset("30m").profile("flink").late_rule("frame_closed")
    window.sliding("1m", "10s").late("count")
    window.cumulate("1 day", "1h")
    window.session("5m", maximum_duration="1h", touching="merge")
    window.session(F.col("gap"), maximum_duration="1h")
    window.by_count(100, every=10)
    window.by_count(100, 10)
    window.event_time(F.col("ts")).key_by(["user", F.upper("region")]).agg([F.count("*")])
    window.watermark_scope("key").watermark_scope(["region", F.col("site")]).key_ttl("1h")
    window.key_idle_timeout("5m", clock="event_time").heartbeat(
        timedelta(seconds=1)
    ).processing_time()
    window.on_late(print, on_error="log").on_late(handle)
    trigger = WindowTrigger.every("10s")
    assert_type(trigger, WindowTrigger)
    assert_type(window.emit(WindowTrigger.at_window_end, trigger, "on_update"), et.WindowBuilder)
    window.emit(WindowTrigger.every_rows(100), WindowTrigger.when(F.col("last")), discarding=True)
    window.emit(late_updates=True)
    counts = (
        window.tumbling("1m")
        .delay("5s")
        .allowed_lateness("1h")
        .emit("at_window_end", late_updates=True)
        .late_to("/data/late")
        .agg(F.count("*").alias("n"), F.sum("amount").alias("total"))
    )
    assert_type(counts.results, DataFrame)
    assert_type(counts.explained(), str)
    assert_type(counts.results.withColumn("share", et.expected_share()), DataFrame)
    et.explain(counts)
    later: et.WindowBuilder = et.window().tumbling("1m").agg(F.count("*"))
    assert_type(later.over(events).start(counts.results.writeStream), StreamingQuery)
    assert_type(et.repair(counts.results, events, counts, source=events), DataFrame)
    writer = counts.results.writeStream.format("console")
    assert_type(et.start(counts, writer), StreamingQuery)
    assert_type(et.backfill(counts, events, writer), StreamingQuery)
    assert_type(counts.start(writer), StreamingQuery)
    return counts.start(writer, drain=True)


def handle(rows: DataFrame, context: et.LateContext) -> None:
    """Take the late rows of a batch."""
    assert_type(context.query, StreamingQuery)
    assert_type(context.reasons, Mapping[str, int])
    rows.write.mode("overwrite").parquet(f"{context.checkpoint}-{context.batch_id}")


def watching(query: StreamingQuery) -> None:
    """Read the progress, typed down to the last number."""
    watermark = et.progress(query)
    assert_type(watermark, et.observe.QueryProgress)
    assert_type(watermark.emitted, datetime | None)
    assert_type(watermark.inputs[0].substreams[0].lag_behind_leader, timedelta | None)
    assert_type(watermark.late, dict[str, int])
    assert_type(et.blame(query), str)
    with et.named_errors():
        query.awaitTermination()


def late(spark: SparkSession, query: StreamingQuery) -> None:
    """Read late rows by checkpoint or by query."""
    assert_type(et.read_late("/data/checkpoint"), DataFrame)
    assert_type(et.read_late(Path("checkpoint"), window=1), DataFrame)
    assert_type(et.read_late(query, missing="skip", spark=spark), DataFrame)
    assert_type(et.clean_late(query, late_to="/late", dry_run=True), list[str])
    assert_type(et.compact_late("/data/checkpoint", spark=spark), et.observe.LateCompaction)
    et.forget_late_reader(query, "a-0")
    assert_type(et.observe.repartition(query, 16), int)


def state(query: StreamingQuery, counts: et.WindowBuilder, spark: SparkSession) -> None:
    """Read a checkpoint and the windows in it, by path or by query."""
    assert_type(et.read_state(query, counts), DataFrame)
    assert_type(et.read_state("/data/checkpoint", counts), DataFrame)
    assert_type(et.read_checkpoint(query, plan=counts), et.observe.CheckpointReport)
    assert_type(et.read_checkpoint(Path("checkpoint"), spark=spark).blame, str | None)


def scripts(counts: et.WindowBuilder, spark: SparkSession) -> et.testing.Script:
    """Use a module that is imported when it is needed."""
    return et.testing.Script(lambda _: counts, "ts timestamp", session=spark)


def refusals(events: DataFrame) -> None:
    """Catch an error, and read its fields."""
    try:
        et.window(events).tumbling("1m")
    except et.errors.InvalidDurationError as error:
        assert_type(error.argument, str | None)
        assert_type(error.value, object)
        assert_type(error.fix, str | None)
    except et.EventtideError as error:
        assert_type(error.condition, str | None)
