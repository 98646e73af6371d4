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
from tests.spark.plan_text import optimized
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
from pathlib import Path
from pyspark.sql import SparkSession
from tests.spark.connect.test_restart import run
builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "2")
spark = et.configure(builder.config("spark.sql.session.timeZone", "UTC")).getOrCreate()
folder = Path(sys.argv[1])
(folder / "plan").write_text(run(spark, folder), "utf-8")
"""


def run(spark: SparkSession, folder: Path) -> str:
    """Run a query over all available rows, and return its plan."""
    rows = spark.readStream.schema(cases.SCHEMA).option("maxFilesPerTrigger", 1)
    results = queries.results("sliding", rows.json(f"{folder}/in"))
    writer = results.writeStream.option("checkpointLocation", f"{folder}/checkpoint")
    query = writer.format("parquet").trigger(availableNow=True).start(f"{folder}/out")
    query.awaitTermination()
    return optimized(results)


def run_classic(folder: Path) -> str:
    """Do the same in a classic session, which has a process of its own."""
    job = [PYTHON, "-c", CLASSIC, str(folder)]
    variables = {name: text for name, text in os.environ.items() if "SPARK_CONNECT" not in name}
    variables.pop("EVENTTIDE_CONNECT")
    variables["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(  # noqa: S603 - our own program
        job, check=False, capture_output=True, text=True, env=variables
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return (folder / "plan").read_text("utf-8")


@pytest.mark.parametrize("is_client_first", [True, False], ids=["to classic", "from classic"])
def test_a_checkpoint_goes_on_in_a_session_of_the_other_kind(
    spark: SparkSession, tmp_path: Path, *, is_client_first: bool
) -> None:
    """With the plan, the results and the late rows of a query that was never moved."""
    cases.write_rows(tmp_path / "all")
    (tmp_path / "in").mkdir()
    files = sorted((tmp_path / "all").iterdir())
    plans = []
    for part, is_client in (files[:3], is_client_first), (files[3:], not is_client_first):
        for file in part:
            file.rename(tmp_path / "in" / file.name)
        plans.append(run(spark, tmp_path) if is_client else run_classic(tmp_path))
    assert plans[0] == plans[1]
    assert "EventtideWindow" in plans[0]
    expected = cases.RESULTS["sliding"]
    assert cases.texts(spark.read.parquet(f"{tmp_path}/out")) == expected["results"]
    # Each run ends with a batch without rows, so the watermark of a late row may be a later one.
    late = et.read_late(f"{tmp_path}/checkpoint", spark=spark).select("ts", "device", "v")
    columns = late.columns
    wanted = [{name: json.loads(row)[name] for name in columns} for row in expected["late"]]
    assert [json.loads(row) for row in cases.texts(late)] == wanted
