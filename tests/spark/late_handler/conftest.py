"""A stream whose rows are late by turns, and where its windows go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spark.late_handler.calls import Feed
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from tests.spark.late_handler.calls import Writes


@pytest.fixture(autouse=True)
def _quick(spark: SparkSession) -> Iterator[None]:
    """Compile nothing, and leave no query behind."""
    with settings(spark, {**WITHOUT_CODE, "spark.sql.shuffle.partitions": "1"}):
        yield
    left = spark.streams.active
    for query in left:
        query.stop()
    assert left == []


@pytest.fixture
def feed(spark: SparkSession) -> Iterator[Feed]:
    """Return a stream whose first batches make all rows late that follow."""
    feed = Feed(spark)
    feed.add(100, 101)
    yield feed
    feed.close()


@pytest.fixture
def writes(tmp_path: Path) -> Writes:
    """Return what makes a writer with a checkpoint, the same each time."""

    def write(window: WindowBuilder) -> DataStreamWriter:
        writer = window.results.writeStream.format("noop")
        return writer.option("checkpointLocation", str(tmp_path / "checkpoint"))

    return write
