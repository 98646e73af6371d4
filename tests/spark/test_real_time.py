"""Windows in Spark's real-time mode, from Kafka to Kafka, and what cannot run there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import eventtide as et
import pyspark
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.jars import BESIDE_SPARK
from tests.pages import ROOT, blocks
from tests.spark import real_time_windows as windows
from tests.spark.kafka import PATIENCE
from tests.spark.queries import at
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.spark.kafka import Broker

pytestmark = pytest.mark.skipif(
    pyspark.__version__ < "4.3", reason="Spark 4.3: windows need a shuffle in real-time mode"
)

PAGE = ROOT / "docs/how-to/real-time.md"
LONG = {"realTime": "1 hour"}
SESSION = (
    'SparkSession.builder.master("local[3]").config("spark.ui.enabled", "false")'
    f'.config("spark.jars", "{",".join(BESIDE_SPARK)}")'
)
LATEST = WatermarkPolicies.max_event_time()
REAL_TIME = {  # what this mode needs, for two tasks at a time
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.sql.execution.sortBeforeRepartition": "false",
    "spark.sql.shuffle.partitions": "1",
}


def by_key(rows: DataFrame) -> WindowBuilder:
    """Count in windows of ten seconds, in the time of each key."""
    window = et.window(rows).event_time("ts", LATEST).key_by("key").watermark_scope("key")
    return window.tumbling("10s").agg(F.count("*").alias("n"))


@pytest.mark.usefixtures("spark")
def test_the_example_of_the_page(broker: Broker, tmp_path: Path) -> None:
    """Windows leave within the batch; a key that is behind loses nothing by another."""
    broker.create("orders", 1)
    broker.create("counts", 1)
    query = started(example(broker, tmp_path))
    try:
        orders = [(0, "a"), (45, "b"), (3, "a"), (11, "a")]
        broker.send("orders", 0, *(f"{at(second)},{key}" for second, key in orders))
        assert broker.await_values("counts", 1) == ["a 00:00 2"]
        broker.send("orders", 0, f"{at(61)},b")
        assert broker.await_values("counts", 2) == ["a 00:00 2", "b 00:40 1"]
        assert query.lastProgress is None
    finally:
        query.stop()


def test_the_lowest_partition_holds_the_watermark_of_the_query(
    broker: Broker, tmp_path: Path
) -> None:
    """Also before its first row, which is in its backlog when the batch begins.

    The query has its own process: it needs more cores than the session of the tests.
    """
    broker.create("orders2", 2)
    broker.create("counts2", 1)
    code = example(broker, tmp_path / "checkpoint").replace('    .watermark_scope("key")\n', "")
    code = code.replace('"orders"', '"orders2"').replace('"counts"', '"counts2"')
    code = code.replace("SparkSession.builder", SESSION)
    broker.send("orders2", 0, *(f"{at(second)},a" for second in (0, 45, 90)))
    broker.send("orders2", 1, f"{at(1)},a")
    with running(code, tmp_path):
        broker.send("orders2", 1, f"{at(2)},a", f"{at(11)},a")
        assert broker.await_values("counts2", 1) == ["a 00:00 3"]
        broker.send("orders2", 1, f"{at(61)},b")
        assert broker.await_values("counts2", 3) == ["a 00:00 3", "a 00:10 1", "a 00:40 1"]


@pytest.mark.thorough
def test_every_shape_of_window_from_a_topic_of_three_partitions(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    """To Kafka and to the console, what micro-batches give."""
    for topic in windows.TOPIC, *windows.WINDOWS:
        broker.create(topic, windows.PARTITIONS if topic == windows.TOPIC else 1)
    rows = windows.visits()
    half = len(rows) // 2
    broker.send_all(windows.TOPIC, rows[:half])
    run = f"run{broker.address, str(tmp_path / 'checkpoints')}"
    with running(f"from tests.spark.real_time_windows import run; {run}", tmp_path):
        first, *_ = windows.WINDOWS
        broker.await_values(first, 1)
        broker.send_all(windows.TOPIC, rows[half:])
        for window in windows.WINDOWS:
            expected = in_micro_batches(spark, broker, window)
            assert sorted(broker.await_values(window, len(expected))) == expected
            assert sorted(broker.values(window)) == expected
        await_lines(tmp_path / "log", in_micro_batches(spark, broker, first))


def await_lines(file: Path, lines: list[str]) -> None:
    """Wait until a file has all of them."""
    until = time.monotonic() + PATIENCE
    while missing := [line for line in lines if line not in file.read_text("utf-8")]:
        assert time.monotonic() < until, missing
        time.sleep(0.1)


def in_micro_batches(spark: SparkSession, broker: Broker, window: str) -> list[str]:
    """Return the results of a window over the whole topic, in order."""
    results = windows.results(broker.stream(spark, windows.TOPIC), window)
    name = window.replace("-", "_")
    writer = results.writeStream.format("memory").queryName(name).outputMode("append")
    writer.trigger(availableNow=True).start().awaitTermination()
    return sorted(row.value for row in spark.table(name).collect())


def test_a_script_runs_in_this_mode(spark: SparkSession) -> None:
    """Rows of one step come one by one; an idle timeout follows the script's clock."""
    with settings(spark, REAL_TIME):
        schema = "ts timestamp, key string"
        with Script(by_key_idle, schema, real_time=True, session=spark) as script:
            script.rows([(at(0), "a"), (at(11), "a"), (at(3), "a")])
            script.expect(results=[("a", at(0), 1)], late=1)
            script.clock("+29s").expect(results=[])
            script.clock("+2s").expect(results=[("a", at(10), 1)])
            script.stop().waiting([(at(20), "b"), (at(30), "b")]).restart()
            script.expect(results=[("b", at(20), 1)])
            script.restart(drain=True).expect(results=[("b", at(30), 1)], late=0)


def test_a_script_that_is_refused_leaves_the_clock_to_the_next_one(spark: SparkSession) -> None:
    """And of two scripts at a time, the second one is refused by name."""

    def ingested(rows: DataFrame) -> WindowBuilder:
        window = et.window(rows).processing_time().tumbling("10s")
        return window.agg(F.count("*").alias("n"))

    schema = "ts timestamp, key string"
    with settings(spark, REAL_TIME):
        with pytest.raises(et.errors.UnsupportedPlanError, match="ingestion time"):
            Script(ingested, schema, real_time=True, session=spark)
        with Script(by_key_idle, schema, real_time=True, session=spark) as script:
            script.rows([(at(0), "a"), (at(11), "a")]).expect(results=[("a", at(0), 1)])
            with pytest.raises(et.errors.UnsupportedPlanError, match="Another script"):
                Script(by_key_idle, schema, real_time=True, session=spark)


def by_key_idle(rows: DataFrame) -> DataFrame:
    """As `by_key`, with an idle timeout of half a minute."""
    return by_key(rows).key_idle_timeout("30s").results.select("key", "window.start", "n")


@contextmanager
def running(code: str, folder: Path) -> Iterator[None]:
    """Run a program in a process of its own, until the end of the block."""
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", code],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()


def example(broker: Broker, folder: Path) -> str:
    """Return the example of the page, with this broker and a checkpoint in a folder.

    It takes all rows: a query that starts "from now" does so some time after `start` returns.
    """
    [block] = blocks(PAGE)
    code = block.code.replace("localhost:9092", broker.address)
    subscribed = '.option("subscribe", "orders")'
    assert subscribed in code
    code = code.replace(subscribed, subscribed + '.option("startingOffsets", "earliest")')
    return code.replace("/data/counts", str(folder))


def started(code: str) -> StreamingQuery:
    """Run a program up to the line where it waits for its query, which is the last one."""
    starts, waits, _ = code.rpartition("query.awaitTermination()")
    assert waits
    names: dict[str, object] = {}
    exec(starts, names)  # noqa: S102 - a block of the docs
    return cast("StreamingQuery", names["query"])


def test_a_function_in_python_is_refused(spark: SparkSession) -> None:
    """Before the query starts, and not by its first batch."""
    rate = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    named = F.udf(lambda value: f"key {value}", "string")
    window = by_key(rate.withColumn("key", named("value")))
    writer = window.results.writeStream.format("console").outputMode("update")
    with (
        settings(spark, REAL_TIME),
        pytest.raises(et.errors.UnsupportedPlanError, match="functions in Python, such as"),
        et.named_errors(),
    ):
        writer.trigger(**LONG).start()
    assert not spark.streams.active


def test_a_session_without_the_setting_is_told_so(spark: SparkSession) -> None:
    """Before anything is started."""
    rate = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    window = by_key(rate.withColumn("key", F.col("value")))
    writer = window.results.writeStream.format("console").outputMode("update")
    with (
        pytest.raises(et.errors.UnsupportedPlanError, match="allowlistCheck to false"),
        et.named_errors(),
    ):
        writer.trigger(**LONG).start()
    assert not spark.streams.active
