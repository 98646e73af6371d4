"""A server that is killed and started again: queries go on from their checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.conftest import SERVER
from tests.spark.server import Server

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql.streaming.query import StreamingQuery

SCHEMA = "ts timestamp, device string, n int"


def begin(spark: SparkSession, folder: Path) -> tuple[et.WindowBuilder, StreamingQuery]:
    """Start a query from files to files, with late rows kept."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).csv(f"{folder}/in")
    window = et.window(rows).event_time("ts", et.WatermarkPolicies.with_fixed_lag("5s"))
    window = window.key_by("device").tumbling("10s").agg(F.sum("n").alias("n"))
    writer = window.results.select("window.start", "device", "n").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", f"{folder}/checkpoint")
    return window, window.start(writer.option("path", f"{folder}/out"))


def add(folder: Path, name: str, *lines: str) -> None:
    """Add a file to the input, whole at once."""
    (folder / "in").mkdir(exist_ok=True)
    made = folder / name
    made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    made.rename(folder / "in" / name)


@pytest.mark.smoke
def test_a_query_goes_on_after_its_server_was_killed(tmp_path: Path) -> None:
    """Each row is in its window or in the late log, once."""
    add(tmp_path, "1", "2024-01-01 00:00:01,a,1", "2024-01-01 00:00:02,b,2")
    add(tmp_path, "2", "2024-01-01 00:00:21,a,3")
    first = Server(tmp_path / "server", SERVER)
    session = SparkSession.builder.remote(first.url).create()
    _, query = begin(session, tmp_path)
    query.processAllAvailable()
    earlier = query.id
    first.kill()

    second = Server(tmp_path / "server", SERVER, first.port)
    try:
        session = SparkSession.builder.remote(second.url).create()
        add(tmp_path, "3", "2024-01-01 00:00:03,a,10", "2024-01-01 00:00:22,b,4")
        add(tmp_path, "4", "2024-01-01 00:00:51,a,5")
        window, query = begin(session, tmp_path)
        query.processAllAvailable()
        assert query.id == earlier
        rows = session.read.parquet(f"{tmp_path}/out").orderBy("start", "device").collect()
        assert [(row["device"], row["n"]) for row in rows] == [
            ("a", 1),
            ("b", 2),
            ("a", 3),
            ("b", 4),
        ]
        assert [row["n"] for row in et.read_late(query).collect()] == [10]
        assert [row["n"] for row in et.read_state(query, window).collect()] == [5]
        assert et.read_checkpoint(query).problems == ()
        query.stop()
    finally:
        session.stop()
        second.kill()
