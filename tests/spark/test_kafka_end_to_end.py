"""From Kafka to Kafka: what stock Spark loses, what eventtide keeps, and who has what twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.checkpoints import files, set_back
from tests.spark.queries import at

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.kafka import Broker

LAG = "10s"
BEHIND = 40  # seconds: how far the slow partition is behind the fast one
STEPS = 16
EVENT = "ts timestamp, key string, n int"


def events(spark: SparkSession, broker: Broker, topic: str, **options: int) -> DataFrame:
    """Return the events of a topic."""
    rows = broker.stream(spark, topic, **options)
    return rows.select(F.from_csv(F.col("value").cast("string"), EVENT).alias("e")).select("e.*")


def event(second: int, key: str, n: int = 1) -> str:
    """Return an event as Kafka has it."""
    return f"{at(second)},{key},{n}"


def windowed(rows: DataFrame) -> WindowBuilder:
    """Count by key in windows of ten seconds."""
    policy = WatermarkPolicies.with_fixed_lag(LAG)
    window = et.window(rows).event_time("ts", policy, substream_idle_timeout="1m").key_by("key")
    return window.tumbling("10s").agg(F.count("*").alias("n"))


def stock(rows: DataFrame) -> DataFrame:
    """Count the same as a user of Spark does."""
    timed = rows.withWatermark("ts", "10 seconds")
    return timed.groupBy(F.window("ts", "10 seconds"), "key").agg(F.count("*").alias("n"))


def test_a_lagging_and_a_silent_partition(spark: SparkSession, broker: Broker) -> None:
    """Stock Spark drops all that the lagging one has sent; here each row is in a window."""
    broker.create("events", 3)
    counted = {}
    with (
        Script(lambda _: stock(events(spark, broker, "events")), "x int", clock=at(0)) as theirs,
        Script(lambda _: windowed(events(spark, broker, "events")), "x int", clock=at(0)) as ours,
    ):
        broker.send("events", 2, event(0, "silent"))
        for step in range(STEPS):
            rows = [(0, event(BEHIND + 5 * step, "fast")), (1, event(5 * step, "slow"))]
            broker.send_all("events", rows)
            theirs.clock("+5s")
            ours.clock("+5s")
        for script, name in (theirs, "stock"), (ours, "ours"):
            rows_ = script.results()
            counted[name] = {key: sum(r["n"] for r in rows_ if r["key"] == key) for key in KEYS}
        late = et.read_late(ours.streaming_query).count()
    closed = (5 * (STEPS - 1) - 10) // 10 * 10 // 5  # rows of the slow one below its watermark
    assert counted["ours"] == {"fast": closed - BEHIND // 5, "slow": closed, "silent": 1}
    assert late == 0
    assert counted["stock"]["slow"] <= 3
    assert counted["stock"]["fast"] >= counted["ours"]["fast"]  # which has closed no less


KEYS = "fast", "slow", "silent"


def test_a_consumer_that_goes_by_panes_has_each_result_once(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    """Spark's Kafka sink is at least once: a batch that is run again sends its results again."""
    for topic in "numbers", "results":
        broker.create(topic, 1)
    sent = [event(second, "ab"[second % 2], second) for second in range(60)]
    broker.send("numbers", 0, *sent)

    def run() -> None:
        rows = events(spark, broker, "numbers", maxOffsetsPerTrigger=10)
        window = et.window(rows).event_time("ts", WatermarkPolicies.with_fixed_lag("0s"))
        window = window.key_by("key").tumbling("20s")
        window = window.emit("at_window_end", WindowTrigger.every_rows(3)).agg(
            F.sum("n").alias("total")
        )
        lines = window.results.select(F.to_json(F.struct("*")).alias("value"))
        writer = lines.writeStream.format("kafka").trigger(availableNow=True)
        writer = writer.option("kafka.bootstrap.servers", broker.address)
        writer = writer.option("topic", "results")
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        et.start(window, writer).awaitTermination()

    run()
    checkpoint = tmp_path / "checkpoint"
    set_back(checkpoint, max(files(checkpoint, "commits").values()), ())  # before the last commit
    run()

    reader = spark.read.format("kafka").option("subscribe", "results")
    lines = reader.option("kafka.bootstrap.servers", broker.address).load()
    schema = (
        "window struct<start: timestamp, end: timestamp>, key string, total long,"
        " pane_index int, is_last boolean"
    )
    results = lines.select(F.from_json(F.col("value").cast("string"), schema).alias("r"))
    results = results.select("r.*")
    panes = results.dropDuplicates(["window", "key", "pane_index"])
    assert results.count() > panes.count() == lines.select("value").distinct().count()
    assert panes.where("pane_index > 0").count() > 4  # early ones are sent again alike, too
    finals = panes.where("is_last").select("window.start", "key", "total")
    found = {(str(row["start"])[17:], row["key"]): row["total"] for row in finals.collect()}
    wanted = {
        (f"{start:02d}", key): sum(s for s in range(start, start + 20) if "ab"[s % 2] == key)
        for start in (0, 20)
        for key in "ab"
    }
    assert found == wanted
