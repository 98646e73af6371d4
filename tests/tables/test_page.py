"""Runs the blocks of the how-to pages with tables: windows, late rows, and their repair."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.tables import _merge
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import ROOT, blocks
from tests.spark.batch_results import told
from tests.tables.conftest import each_table, iceberg_catalog, some_table

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.tables import Table

Times: TypeAlias = list[str]

DELTA, ICEBERG, LATE = [
    b.code for b in blocks(ROOT / "docs/how-to/delta-and-iceberg.md") if b.mark == "spark-4.1"
]
MERGE, MERGE_SESSIONS = [
    b.code for b in blocks(ROOT / "docs/how-to/repair-nightly.md") if b.mark == "spark-4.1"
]
COMPLETE, *UNTIL = [
    b.code for b in blocks(ROOT / "docs/how-to/completeness.md") if b.mark == "spark-4.1"
]
[HEAL] = [b.code for b in blocks(ROOT / "docs/how-to/heal-a-table.md") if b.mark == "spark-4.1"]
STATEMENTS: dict[Table, tuple[str, str]] = {
    "delta": (DELTA, LATE.replace('.toTable("lake.late")', '.format("delta").start("/data/late")')),
    "iceberg": (ICEBERG, LATE),
}

# Each is a batch; the last row of the first closes the first minute, and so on.
BATCHES: list[Times] = [
    ["12:00:01", "12:00:02", "12:01:30"],
    ["12:00:03", "12:02:30"],
    ["12:00:04"],
]


@each_table
def test_windows_and_late_rows_are_tables(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """A stream that goes on brings the late rows that are new, and those alone."""
    spark.conf.set("spark.sql.catalog.lake.warehouse", f"{tmp_path}/lake")
    (tmp_path / "events").mkdir()
    for number, times in enumerate(BATCHES):
        add(tmp_path / "events" / f"{number}.json", times)
        for statements in STATEMENTS[table]:
            run(statements, spark, tmp_path)
        late = et.read_late(tmp_path / "tides").drop("_late_by")
        assert late.count() == number
        if number > 0:
            assert told(read(spark, table, tmp_path, "late")) == told(late)
    counts = read(spark, table, tmp_path, "counts").select("window.start", "n")
    assert told(counts.select(F.date_format("start", "HH:mm"), "n")) == [
        "Row(date_format(start, HH:mm)='12:00', n=2)",
        "Row(date_format(start, HH:mm)='12:01', n=1)",
    ]


@pytest.mark.parametrize(
    ("code", "name", "table"),
    [(MERGE, "correct", "counts"), (MERGE_SESSIONS, "correct_visits", "visits")],
)
def test_corrections_are_merged_into_a_delta_table(
    spark: SparkSession, tmp_path: Path, code: str, name: str, table: str
) -> None:
    """Minutes and sessions: they equal a batch query over all rows, also after a second call."""
    accepted, late = ["12:00:01", "12:00:30", "12:09:00"], ["12:00:20", "12:04:00"]
    (tmp_path / "archive").mkdir()
    add(tmp_path / "archive" / "1.json", accepted)
    archive = spark.read.schema("ts timestamp, device string")
    results = WINDOWS[table](archive.json(f"{tmp_path}/archive/1.json")).results
    results.write.format("delta").save(f"{tmp_path}/{table}")
    add(tmp_path / "archive" / "2.json", late)
    names: dict[str, Any] = {
        "et": et,
        "spark": spark,
        "ARCHIVE": "ts timestamp, device string",
        "window": minutes,
        "visits": visits,
    }
    exec(code.replace("/data/", f"{tmp_path}/"), names)  # noqa: S102 - our own page
    correct = names[name]
    for _ in range(2):
        correct(archive.json(f"{tmp_path}/archive/2.json"), 0)
        written = spark.read.format("delta").load(f"{tmp_path}/{table}")
        assert told(written) == told(WINDOWS[table](archive.json(f"{tmp_path}/archive")).results)


def test_two_merges_of_a_session_have_their_own_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of two healings whose sources ignore the session that they are given."""
    folders = [tmp_path / "one", tmp_path / "two"]
    tables = [f"delta.`{folder}`" for folder in folders]
    rows = [spark.createDataFrame([(name, 1)], "device string, n int") for name in ("a", "b")]
    for number in range(2):
        rows[number].where("false").write.format("delta").save(str(folders[number]))
    run_statement = _merge._repeated

    def after_the_other(of: DataFrame, table: str, statement: str) -> None:
        monkeypatch.setattr(_merge, "_repeated", run_statement)
        _merge.merge(rows[1], tables[1], ["device"])
        run_statement(of, table, statement)

    monkeypatch.setattr(_merge, "_repeated", after_the_other)
    _merge.merge(rows[0], tables[0], ["device"])
    assert [[row.device for row in spark.table(table).collect()] for table in tables] == [
        ["a"],
        ["b"],
    ]


@some_table
def test_a_table_says_up_to_when_it_is_complete(
    spark: SparkSession, tmp_path: Path, table: Table
) -> None:
    """In the metadata of its commits; each batch is written once, also when it is replayed."""
    (tmp_path / "events").mkdir()
    code, name = COMPLETE, f"{iceberg_catalog(spark, tmp_path)}.counts"
    if table == "iceberg":
        code = code.replace('"delta", "/data/counts"', f'"iceberg", "{name}"')
    for number, times in enumerate(BATCHES):
        add(tmp_path / "events" / f"{number}.json", times)
        run(code, spark, tmp_path)
    last = max((tmp_path / "full/commits").glob("[0-9]*"), key=lambda file: int(file.name))
    last.unlink()  # as if the driver had been killed before it
    run(code, spark, tmp_path)
    names: dict[str, Any] = {"spark": spark}
    read_until = UNTIL[table == "iceberg"].replace("/data/", f"{tmp_path}/")
    exec(read_until.replace("lake.counts", name), names)  # noqa: S102 - our own page
    assert names["until"] == "2024-01-01T12:02:00.000000Z"
    counts = spark.table(name) if table == "iceberg" else read(spark, table, tmp_path, "counts")
    counts = counts.select("window.start", "n")
    assert told(counts.select(F.date_format("start", "HH:mm"), "n")) == [
        "Row(date_format(start, HH:mm)='12:00', n=2)",
        "Row(date_format(start, HH:mm)='12:01', n=1)",
    ]


@pytest.mark.xdist_group("delta")
def test_a_table_heals_itself(spark: SparkSession, tmp_path: Path) -> None:
    """The stream of the page corrects the table while the query runs."""
    (tmp_path / "events").mkdir()
    for number, times in enumerate(BATCHES):
        add(tmp_path / "events" / f"{number}.json", times)
        run(HEAL.replace('every="10s"', 'every="100ms"'), spark, tmp_path)
    run(HEAL.replace('every="10s"', 'every="100ms"'), spark, tmp_path)  # all has been committed
    counts = read(spark, "delta", tmp_path, "counts").select("window.start", "n")
    assert told(counts.select(F.date_format("start", "HH:mm"), "n")) == [
        "Row(date_format(start, HH:mm)='12:00', n=4)",
        "Row(date_format(start, HH:mm)='12:01', n=1)",
    ]


def minutes(events: DataFrame) -> WindowBuilder:
    """Count rows by device and minute."""
    window = et.window(events).event_time("ts").key_by("device").tumbling("1m")
    return window.agg(F.count("*").alias("n"))


def visits(events: DataFrame) -> WindowBuilder:
    """Count rows by device and session."""
    window = et.window(events).event_time("ts").key_by("device").session("5m")
    return window.agg(F.count("*").alias("n"))


WINDOWS = {"counts": minutes, "visits": visits}


def add(file: Path, times: Times) -> None:
    """Write the rows of a batch, so that a stream of files sees all of them at once."""
    rows = [json.dumps({"ts": f"2024-01-01T{time}Z", "device": "a"}) for time in times]
    file.with_suffix(".part").write_text("\n".join(rows), encoding="utf-8")
    file.with_suffix(".part").rename(file)


def run(code: str, spark: SparkSession, folder: Path) -> None:
    """Run a block of the page until its query has nothing left to do."""
    events = spark.readStream.schema("ts timestamp, device string")
    names = {
        "et": et,
        "F": F,
        "WatermarkPolicies": WatermarkPolicies,
        "spark": spark,
        "events": events.json(f"{folder}/events/*.json"),
    }
    exec(code.replace("/data/", f"{folder}/"), names)  # noqa: S102 - our own page
    for query in spark.streams.active:
        query.processAllAvailable()
        query.stop()


def read(spark: SparkSession, table: Table, folder: Path, name: str) -> DataFrame:
    """Return what is in a table of the page."""
    if table == "iceberg":
        return spark.table(f"lake.{name}")
    return spark.read.format(table).load(f"{folder}/{name}")
