"""Examples of pages for a session of Spark Connect and for a pipeline, over a table `events`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import PAGES, ROOT, Block, blocks, files
from tests.spark.pipelines import Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.spark.server import Server

BLOCKS = [block for page in PAGES for block in blocks(page) if block.mark == "connect"]


@pytest.fixture
def _events(spark: SparkSession) -> Iterator[None]:
    """Provide the table, with a minute that is over."""
    spark.catalog.dropTempView("events")  # of other tests, which would hide the table
    rows = [
        ("2024-01-01 12:00:07", "a"),
        ("2024-01-01 12:00:30", "a"),
        ("2024-01-01 12:02:00", "a"),
    ]
    events = spark.createDataFrame(rows, "ts string, device string")
    timed = events.select(F.col("ts").cast("timestamp"), "device")
    timed.coalesce(1).write.mode("overwrite").saveAsTable("events")
    yield
    for table in ("events", "minutes"):
        spark.sql(f"DROP TABLE IF EXISTS {table}")


@pytest.mark.usefixtures("_events")
@pytest.mark.smoke
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_block_runs_in_a_client(block: Block, server: Server) -> None:
    """It makes its own session, whose query reads the table to its end."""
    names: dict[str, Any] = {"SparkSession": SparkSession, "F": F, "et": et}
    names["WatermarkPolicies"] = WatermarkPolicies
    exec(re.sub(r"sc://[\w.]+:15002", server.url, block.code), names)  # noqa: S102 - our own docs
    query = names["query"]
    try:
        query.processAllAvailable()
        assert et.progress(query).on_time == 3
    finally:
        query.stop()


@pytest.mark.usefixtures("_events")
@pytest.mark.smoke
def test_the_flow_of_the_readme_runs(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    """In a project whose table is there already."""
    code = files(ROOT / "README.md", "pipeline")["minutes.py"]
    Project(tmp_path, "default", flows_py=code).run(server)
    assert [tuple(row) for row in spark.table("minutes").select("device", "n").collect()] == [
        ("a", 2)
    ]
