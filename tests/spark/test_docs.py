"""The docs, as far as they need Spark: blocks are run, timelines are replayed."""

from __future__ import annotations

import doctest
import re
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import PAGES, Block, Timeline, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
EVENTS = "ts timestamp, device string, mark timestamp"
BLOCKS = [block for page in PAGES for block in blocks(page) if block.mark == "spark"]
SQL = [block for page in PAGES for block in blocks(page, "sql") if not block.mark]
TIMELINES = [
    pytest.param(b, t, id=f"{b.page}:{t.line} {b.heading}") for b in BLOCKS for t in b.timelines
]


@pytest.mark.parametrize(("block", "timeline"), TIMELINES)
def test_a_timeline_is_what_happens(block: Block, timeline: Timeline) -> None:
    """Each line is a step; every column that says a value is compared."""
    columns = set(timeline.steps[0])

    def query(events: DataFrame) -> DataFrame:
        made: dict[str, DataFrame] = run(block.code, events)
        if "counts" in made:
            return made["counts"].select("window.start", "n")
        result = made["events"]
        if not columns & {"closes", "late"}:
            return result
        windows = result.groupBy(F.window("ts", "10 seconds")).count()
        return windows.select("window.start", "count")

    with Script(query, EVENTS, clock=at(timeline.steps[0].get("clock", "12:00:00"))) as script:
        for step in timeline.steps:
            play(script, step)


def play(script: Script, step: dict[str, str]) -> None:
    """Take one step and compare what came of it."""
    if "clock" in step:
        script.clock(at(step["clock"]))
    if step["rows"] != "-":
        script.rows(*(list(map(row, batch.split(","))) for batch in step["rows"].split(";")))
    if "ideal" in step:
        ideal = et.progress(script.streaming_query).ideal
        assert ideal is not None
        assert f"{ideal:%H:%M:%S}" == step["ideal"], step
    closes, late = step.get("closes"), step.get("late")
    try:
        script.expect(
            None if closes is None else closed(closes),
            late=None if late is None else int(late),
            watermark=at(step["watermark"]),
        )
    except AssertionError as difference:
        raise AssertionError(f"{step}\n{difference}") from None


def closed(closes: str) -> list[tuple[str, int]]:
    """Read ``12:00:00 (2), 12:00:10 (1)``: the start of each window, and its rows."""
    return [(at(start), int(rows)) for start, rows in re.findall(r"(\S+) \((\d+)\)", closes)]


def row(text: str) -> tuple[str, str, str | None]:
    """Read ``north 12:00:01 mark 12:00:00``, or a part of it with the time."""
    event, _, mark = text.strip().partition(" mark ")
    device, _, time = event.rpartition(" ")
    return at(time), device, at(mark) if mark else None


def at(time: str) -> str:
    """Return a time of the first day of 2024; no watermark is 1970, as Spark has it."""
    return "1970-01-01" if time == "none" else f"2024-01-01 {time}"


def run(code: str, events: DataFrame, **others: Any) -> dict[str, Any]:
    """Run a block with the names that every block has, and return all names that it has made."""
    names = {"et": et, "F": F, "WatermarkPolicies": WatermarkPolicies, "events": events, **others}
    exec(code, names)  # noqa: S102 - our own docs
    return names


@pytest.mark.parametrize(
    "block", [b for b in BLOCKS if not b.timelines], ids=lambda block: block.name
)
def test_a_block_runs(
    block: Block, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By itself, and what it starts reads rows to the end; ``/data/`` is a folder of the test.

    A window that it describes and does not start is one that could be. What it prints is what the
    page shows, where the page shows it.
    """
    for folder in "archive", "events":
        (tmp_path / folder).mkdir()
        row = '{"ts": "2024-01-01T12:00:07Z", "device": "a"}'
        (tmp_path / folder / "1.json").write_text(row)
    # It ends: of a source that goes on, there is always something left where batches take long.
    events = spark.readStream.schema("ts timestamp, device string").json(f"{tmp_path}/events")
    names = run(block.code.replace("/data/", f"{tmp_path}/"), events, spark=spark)
    for made in names.values():
        if isinstance(made, et.WindowBuilder) and made.settings.agg and made._df is not None:
            assert made.results.isStreaming
    if block.prints is not None:
        printed = capsys.readouterr().out
        assert doctest.OutputChecker().check_output(block.prints, printed, DOCTEST), printed
    for query in spark.streams.active:
        query.processAllAvailable()
        query.stop()


@pytest.fixture(scope="module")
def sql_data(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide the view ``events``, the query ``counts`` and its checkpoint, for SQL blocks."""
    folder = tmp_path_factory.mktemp("sql")
    (folder / "events").mkdir()
    row = '{"ts": "2024-01-01T12:00:07Z", "device": "a", "kind": "call", "v": 4}'
    (folder / "events" / "1.json").write_text(row)
    columns = "ts timestamp, device string, kind string, v long"
    events = spark.readStream.schema(columns).json(f"{folder}/events")
    events.createOrReplaceTempView("events")
    lag = WatermarkPolicies.with_fixed_lag("10s")
    window = et.window(events).event_time("ts", lag).tumbling("1m").agg(F.count("*").alias("n"))
    writer = window.results.writeStream.format("noop").queryName("counts")
    writer = writer.option("checkpointLocation", f"{folder}/tides").trigger(availableNow=True)
    writer.start().awaitTermination()
    yield str(folder)
    spark.catalog.dropTempView("events")


@pytest.mark.parametrize("block", SQL, ids=lambda block: block.name)
def test_a_sql_block_runs(block: Block, spark: SparkSession, sql_data: str) -> None:
    """Statement by statement; streams are started, and read rows to the end."""
    for statement in block.code.replace("/data/", f"{sql_data}/").strip().split(";\n"):
        result = spark.sql(statement)
        if not result.isStreaming:
            result.collect()
            continue
        query = result.writeStream.format("noop").outputMode("append").start()
        query.processAllAvailable()
        query.stop()


@pytest.mark.parametrize("name", [name for name in dir(et.WindowBuilder) if name[0] != "_"])
def test_an_example_of_the_builder_runs(name: str, spark: SparkSession) -> None:
    """Also the lines that need a session, which tests/unit skips."""
    doc = str(getattr(et.WindowBuilder, name).__doc__)
    rate = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    keys = [F.lit("a").alias(key) for key in ("device", "site", "user")]
    names = {"et": et, "F": F, "events": rate.select("ts", *keys)}
    code = doc.replace("# doctest: +SKIP", "")
    test = doctest.DocTestParser().get_doctest(code, names, name, None, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed, tried = runner.run(test, out=report.append)
    assert tried
    assert not failed, "".join(report)
