"""Windows in Spark's real-time mode, from Kafka to Kafka, and what cannot run there."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import eventtide as et
import pyspark
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import ROOT, blocks
from tests.spark.queries import at

if TYPE_CHECKING:
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
LATEST = WatermarkPolicies.max_event_time()


def by_key(rows: DataFrame) -> WindowBuilder:
    """Count in windows of ten seconds, in the time of each key."""
    window = et.window(rows).event_time("ts", LATEST).key_by("key").watermark_scope("key")
    return window.tumbling("10s").agg(F.count("*").alias("n"))


@pytest.mark.usefixtures("spark")
def test_the_example_of_the_page(broker: Broker, tmp_path: Path) -> None:
    """Windows leave within the batch; a key that is behind loses nothing by another."""
    broker.create("orders", 1)
    broker.create("counts", 1)
    [example] = blocks(PAGE)
    code = example.code.replace("localhost:9092", broker.address)
    code = code.replace("/data/counts", str(tmp_path))
    query = cast("StreamingQuery", ran(code)["query"])
    try:
        orders = [(0, "a"), (45, "b"), (3, "a"), (11, "a")]
        broker.send("orders", 0, *(f"{at(second)},{key}" for second, key in orders))
        assert broker.await_values("counts", 1) == ["a 00:00 2"]
        broker.send("orders", 0, f"{at(61)},b")
        assert broker.await_values("counts", 2) == ["a 00:00 2", "b 00:40 1"]
        assert query.lastProgress is None
    finally:
        query.stop()


def ran(code: str) -> dict[str, object]:
    """Return what a program has defined."""
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102 - a block of the docs
    return names


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
