"""Queries go on from their checkpoints: in a server that was killed, in a classic session."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.apis import cases, queries
from tests.spark.conftest import SERVER
from tests.spark.server import PYTHON, ROOT, Server

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


CLASSIC = """
import sys
import eventtide as et
from pyspark.sql import SparkSession
from tests.apis import cases, queries
folder = sys.argv[1]
builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "2")
spark = et.configure(builder.config("spark.sql.session.timeZone", "UTC")).getOrCreate()
rows = spark.readStream.schema(cases.SCHEMA).option("maxFilesPerTrigger", 1).json(folder + "/in")
writer = queries.results("sliding", rows).writeStream.trigger(availableNow=True)
writer = writer.option("checkpointLocation", folder + "/checkpoint")
writer.format("parquet").start(folder + "/out").awaitTermination()
"""


def test_a_checkpoint_goes_on_in_a_classic_session(spark: SparkSession, tmp_path: Path) -> None:
    """With the results and the late rows of a query that was never moved."""
    cases.write_rows(tmp_path / "all")
    (tmp_path / "in").mkdir()
    files = sorted((tmp_path / "all").iterdir())
    rows = spark.readStream.schema(cases.SCHEMA).option("maxFilesPerTrigger", 1)
    results = queries.results("sliding", rows.json(f"{tmp_path}/in"))
    for file in files[:3]:
        file.rename(tmp_path / "in" / file.name)
    writer = results.writeStream.option("checkpointLocation", f"{tmp_path}/checkpoint")
    query = writer.format("parquet").trigger(availableNow=True).start(f"{tmp_path}/out")
    query.awaitTermination()
    for file in files[3:]:
        file.rename(tmp_path / "in" / file.name)
    job = [PYTHON, "-c", CLASSIC, str(tmp_path)]
    variables = {name: text for name, text in os.environ.items() if "SPARK_CONNECT" not in name}
    variables["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(  # noqa: S603 - our own program
        job, check=False, capture_output=True, text=True, env=variables
    )
    assert done.returncode == 0, done.stderr[-2000:]
    expected = cases.RESULTS["sliding"]
    assert cases.texts(spark.read.parquet(f"{tmp_path}/out")) == expected["results"]
    # Each run ends with a batch without rows, so the watermark of a late row may be a later one.
    late = et.read_late(f"{tmp_path}/checkpoint", spark=spark).select("ts", "device", "v")
    columns = late.columns
    wanted = [{name: json.loads(row)[name] for name in columns} for row in expected["late"]]
    assert [json.loads(row) for row in cases.texts(late)] == wanted
