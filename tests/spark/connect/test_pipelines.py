"""Flows of Spark Declarative Pipelines with watermarks and windows, run by `spark-pipelines`."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from pyspark.sql import SparkSession

from tests.pages import ROOT, blocks
from tests.spark.conftest import SERVER
from tests.spark.pipelines import Project
from tests.spark.server import Server

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
import eventtide as et
from eventtide import WatermarkPolicies
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.getActiveSession()
LAG = WatermarkPolicies.with_fixed_lag("10s")


@dp.table
def events():
    rows = spark.readStream.schema("ts timestamp, device string, v int")
    return rows.option("maxFilesPerTrigger", 1).json("{source}")


def read_events():
    return spark.readStream.option("maxFilesPerTrigger", 1).table("events")
"""
FLOWS = (
    SOURCE
    + """

def timed(rows):
    return et.with_watermark(rows, "ts", LAG, substream="device")


def counted(rows):
    counts = rows.groupBy(F.window("ts", "10 seconds"), "device").agg(F.count("*").alias("n"))
    return counts.select(F.col("window.start").alias("start"), "device", "n")


@dp.table
def spark_windows():
    return counted(timed(read_events()))


@dp.temporary_view
def timed_events():
    return timed(read_events())


@dp.table
def over_a_view():
    return counted(spark.readStream.table("timed_events"))


@dp.table
def windows():
    window = et.window(read_events()).event_time("ts", LAG, substream="device")
    window = window.key_by("device").tumbling("10s").agg(F.count("*").alias("n"))
    return window.results.select(F.col("window.start").alias("start"), "device", "n")


dp.create_streaming_table("appended")


@dp.append_flow(target="appended")
def of_windows():
    window = et.window(read_events()).event_time("ts", LAG, substream="device")
    window = window.key_by("device").tumbling("10s").agg(F.count("*").alias("n"))
    return window.results.select(F.col("window.start").alias("start"), "device", "n")
"""
)
FINAL = """
@dp.materialized_view
def final():
    window = et.window(spark.read.table("events")).event_time("ts").key_by("device")
    counts = window.tumbling("10s").agg(F.count("*").alias("n")).results
    return counts.select(F.col("window.start").alias("start"), "device", "n")
"""
REFUSED = {
    "UNKNOWN_COLUMN": """
    return et.with_watermark(read_events(), "time", LAG)
""",
    "HANDLER_NOT_CALLED": """
    window = et.window(read_events()).event_time("ts", LAG).tumbling("10s").on_late(print)
    return window.agg(F.count("*").alias("n")).results.select("window.start", "n")
""",
    "cannot call execute(...)": """
    from eventtide.storm import StormWindow
    bolt = StormWindow().with_tumbling_window("10s").with_timestamp_field("ts")
    return bolt.over(read_events()).execute(print, "n long").results
""",
    "cannot read several streams": """
    from eventtide.storm import StormWindow
    bolt = StormWindow().with_tumbling_window("10s").with_timestamp_field("ts")
    return bolt.over({"a": read_events(), "b": read_events()}).agg(F.count("*")).results
""",
    "EVENT_TIME_TYPE": """
    from eventtide.storm import StormWindow
    bolt = StormWindow().with_tumbling_window("10s").with_timestamp_field("v")
    return bolt.over(read_events()).agg(F.count("*").alias("n")).results
""",
}
SQL = """
CREATE STREAMING TABLE sql_windows AS
SELECT window.start AS start, device, n
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), 'ts', with_fixed_lag('10s'), substream => 'device',
  key_by => 'device', size => '10s', agg => 'count(*) AS n');
"""
# The statement of a page, over a table with its columns.
PAGE = """
@dp.table
def raw_events():
    return spark.readStream.table("events")
"""
[MINUTES] = [block.code for block in blocks(ROOT / "docs/reference/sql.md", "sql") if block.mark]

WINDOWS = ("windows", "appended", "sql_windows")
TABLES = ("spark_windows", "over_a_view", *WINDOWS)
FLOW_OF = {"appended": "of_windows"}


def add(folder: Path, name: str, *rows: tuple[int, str]) -> None:
    """Add a file with rows: seconds of a minute, and devices."""
    folder.mkdir(exist_ok=True)
    lines = [
        json.dumps({"ts": f"2024-01-01 00:{at // 60:02d}:{at % 60:02d}", "device": of, "v": 1})
        for at, of in rows
    ]
    made = folder.parent / name
    made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    number = len(list(folder.iterdir()))
    os.utime(made, (number, number))  # a stream reads files by their times
    made.rename(folder / name)


def counts(spark: SparkSession, table: str) -> list[tuple[int, str, int]]:
    """Return the counts of a table: start in seconds, device, number."""
    spark.catalog.refreshTable(table)  # a session keeps the list of its files
    rows = spark.table(table).selectExpr("unix_timestamp(start) % 3600 AS at", "device", "n")
    return sorted((row["at"], row["device"], row["n"]) for row in rows.collect())


@pytest.mark.smoke
def test_flows_views_and_sql_have_the_same_windows(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    """A first run, one with more rows, of which one is late, and a full refresh."""
    source = tmp_path / "in"
    add(source, "1.json", (1, "a"), (2, "b"))
    add(source, "2.json", (41, "a"), (42, "b"))
    flows = FLOWS.format(source=source) + PAGE
    project = Project(
        tmp_path / "tide", "tide_flows", flows_py=flows, q_sql=SQL, page_sql=f"{MINUTES};"
    )
    spark.sql("CREATE DATABASE IF NOT EXISTS tide_flows")
    assert "COMPLETED" in project.run(server, "dry-run")
    assert not (tmp_path / "tide" / "storage" / "_checkpoints").exists()

    project.run(server)
    first = [(0, "a", 1), (0, "b", 1)]
    assert {table: counts(spark, f"tide_flows.{table}") for table in TABLES} == dict.fromkeys(
        TABLES, first
    )

    add(source, "3.json", (3, "a"), (102, "a"), (103, "b"))
    project.run(server)
    second = [*first, (40, "a", 1), (40, "b", 1)]
    for table in TABLES:
        assert counts(spark, f"tide_flows.{table}") == second, table
    assert counts(spark, "tide_flows.minutes") == [(0, "a", 3), (0, "b", 2)]
    for table in WINDOWS:
        checkpoint = project.checkpoint(table, FLOW_OF.get(table, table))
        assert et.read_late(checkpoint, spark=spark).count() == 1
        report = et.read_checkpoint(checkpoint, spark=spark)
        assert report.problems == ()

    project.run(server, "run", "--full-refresh-all")
    refreshed = [(0, "a", 2), *second[1:]]  # one batch has all rows, so none is late
    for table in TABLES:
        assert counts(spark, f"tide_flows.{table}") == refreshed, table
    assert et.read_late(project.checkpoint("windows", run=1), spark=spark).count() == 0


def test_a_pipeline_that_is_killed_goes_on(tmp_path: Path) -> None:
    """Each row is in a window or in the late log, once, after a kill in the middle of a run."""
    source = tmp_path / "in"
    rows = {n: [(n * 20 + i, "abc"[i % 3]) for i in range(9)] for n in range(6)}
    late = (1, "a")
    for n, batch in rows.items():
        add(source, f"{n:02d}.json", *batch, *([late] if n == 4 else []))
    add(source, "end.json", *((600, device) for device in "abc"))
    files = len(list(source.iterdir()))
    project = Project(tmp_path / "tide", "default", flows_py=FLOWS.format(source=source), q_sql=SQL)
    metastore = f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true"
    settings = SERVER | {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
    }
    with Server(tmp_path / "server", settings) as first:
        commits = killed_after(2, project, first)
    assert 2 <= commits < files

    with Server(tmp_path / "server", settings, first.port) as second:
        project.run(second)
        session = SparkSession.builder.remote(second.url).create()
        whole = Counter((at // 10 * 10, key) for batch in rows.values() for at, key in batch)
        for table in set(TABLES) - set(WINDOWS):  # Spark's windows have no late log
            assert found_in(session, table) == whole, table
        for table in WINDOWS:
            checkpoint = project.checkpoint(table, FLOW_OF.get(table, table))
            log = et.read_late(checkpoint, spark=session)
            log = log.selectExpr("unix_timestamp(ts) % 3600 AS at", "device")
            kept = [tuple(row) for row in log.collect()]
            # The flow in SQL reads many files at once, so the row may be on time there.
            assert kept == [late] or (table == "sql_windows" and not kept), table
            places = Counter((at // 10 * 10, key) for at, key in kept)
            assert found_in(session, table) + places == whole + Counter([(0, "a")]), table
        session.stop()


def found_in(spark: SparkSession, table: str) -> Counter[tuple[int, str]]:
    """Return how many rows each window of a table has; no window is there twice."""
    found = counts(spark, table)
    places = {(at, device): n for at, device, n in found}
    assert len(places) == len(found), table
    return Counter(places)


def killed_after(batches: int, project: Project, server: Server) -> int:
    """Kill a run and its server after these batches of a flow; return how many it has written."""
    run = project.start(server)
    written = project.folder / project.checkpoint("windows") / "commits"
    end = time.monotonic() + 200
    while len(list(written.glob("[0-9]*"))) < batches:
        assert run.poll() is None, run.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.05)
    server.kill()
    run.kill()
    run.communicate()
    return len(list(written.glob("[0-9]*")))


def test_a_view_over_a_batch_has_the_final_windows(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    """In a materialized view."""
    source = tmp_path / "in"
    add(source, "1.json", (1, "a"), (2, "b"))
    add(source, "2.json", (41, "a"), (3, "b"))
    spark.sql("CREATE DATABASE IF NOT EXISTS tide_batch")
    flows = (SOURCE + FINAL).format(source=source)
    Project(tmp_path / "tide", "tide_batch", flows_py=flows).run(server)
    assert counts(spark, "tide_batch.final") == [(0, "a", 1), (0, "b", 2), (40, "a", 1)]


@pytest.mark.parametrize("message", REFUSED)
def test_a_flow_is_refused_by_name(
    message: str, spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    """Where a window would have to start the query, and where it needs types of columns."""
    source = tmp_path / "in"
    add(source, "1.json", (1, "a"))
    flows = SOURCE.format(source=source) + "\n\n@dp.table\ndef refused():" + REFUSED[message]
    spark.sql("CREATE DATABASE IF NOT EXISTS tide_refused")
    run = Project(tmp_path / "tide", "tide_refused", flows_py=flows).start(server)
    said, _ = run.communicate(timeout=300)
    assert run.returncode != 0
    assert message in said
