"""Files of results that say up to when they are complete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import InvalidArgumentError
from eventtide.tables import complete_writer
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def run(spark: SparkSession, tmp_path: Path) -> Callable[..., None]:
    """Return a function that adds a file of rows and runs a query; all write into one folder."""
    (tmp_path / "events").mkdir()

    def add_and_run(number: int, *times: str, checkpoint: str = "checkpoint") -> None:
        rows = "\n".join(json.dumps({"ts": f"2024-01-01T12:{time}Z"}) for time in times)
        (tmp_path / f"events/{number}.json").write_text(rows)
        events = spark.readStream.schema("ts timestamp").json(str(tmp_path / "events"))
        lag = WatermarkPolicies.with_fixed_lag("5s")
        counts = et.window(events).event_time("ts", lag).tumbling("1m").agg(F.count("*").alias("n"))
        write = complete_writer("json", str(tmp_path / "counts"))
        writer = counts.results.writeStream.foreachBatch(write).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / checkpoint))
        counts.start(writer).awaitTermination()

    return add_and_run


def test_files_have_a_folder_for_each_end(
    spark: SparkSession, tmp_path: Path, run: Callable[..., None]
) -> None:
    """It exists once the windows are written; each batch has a folder of its own."""

    def ends() -> list[str]:
        return sorted(end.name for end in (tmp_path / "counts/_complete").glob("*"))

    run(0, "00:01", "00:02")
    run(1, "01:30")
    assert ends()[-1] == "2024-01-01T12-01-00.000000Z"
    run(2, "05:00")
    assert ends()[-1] == "2024-01-01T12-04-00.000000Z"
    results = spark.read.json(str(tmp_path / "counts"))
    counts = results.orderBy("window.start").select("n").collect()
    assert [row.n for row in counts] == [2, 1]
    [note] = spark.read.text(str(tmp_path / "counts/_complete" / ends()[-1])).collect()
    assert json.loads(note.value)["complete_until"] == "2024-01-01T12:04:00.000000Z"


def test_each_query_has_files_of_its_own(
    spark: SparkSession, tmp_path: Path, run: Callable[..., None]
) -> None:
    """A second query on the folder leaves those of the first."""
    run(0, "00:01", "00:02", "05:00")
    run(1, "06:10", checkpoint="other")
    results = spark.read.json(str(tmp_path / "counts"))
    counts = results.groupBy("query").agg(F.sum("n").alias("n")).collect()
    assert sorted(row.n for row in counts) == [2, 3]


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_replayed_batch_is_written_only_if_it_is_not_whole(
    spark: SparkSession, tmp_path: Path, run: Callable[..., None], *, is_whole: bool
) -> None:
    """A kill may come after the folder is whole, or while it is written."""
    run(0, "00:01", "00:02", "05:00")
    last = max((tmp_path / "checkpoint/commits").glob("[0-9]*"), key=lambda file: int(file.name))
    last.unlink()  # as if the driver had been killed before it
    [folder] = (tmp_path / "counts").glob(f"query=*/batch={last.name}")
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    if not is_whole:
        (folder / "_SUCCESS").unlink()
    run(1)
    after = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert (after == before) == is_whole
    assert [row.n for row in spark.read.json(str(tmp_path / "counts")).collect()] == [2]


def test_an_unknown_format_is_refused() -> None:
    """The error lists the formats."""
    with pytest.raises(InvalidArgumentError, match="delta"):
        complete_writer("csv", "/data/counts")  # type: ignore[arg-type] # on purpose
