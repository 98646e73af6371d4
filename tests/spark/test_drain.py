"""A query that reads what there is, and closes every window after its last row."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.storm import StormWindow
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.batch_results import read_from, told, writes_to
from tests.spark.checkpoints import INDEX, LATE, LEDGER, LOST, STATE, set_back
from tests.spark.events import SCHEMA, Disorder, cut, exact, merged
from tests.spark.queries import EVENTS, at, counts
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, settings
from tests.thorough import sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

LAG = WatermarkPolicies.with_fixed_lag("3s")
BATCHES = cut(Disorder(seed=5, late_by=40, gap=0.8).events(100), seed=5, batches=4)
THE_END = datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc)
ROWS = [(at(1), "a"), (at(13), "b"), (at(14), "a")]


def by_user(events: DataFrame) -> WindowBuilder:
    """Return a window by key, in the time of the query."""
    return et.window(events).event_time("ts", LAG).key_by("user", "site")


WINDOWS: dict[str, Callable[[DataFrame], WindowBuilder]] = {
    "sliding": lambda df: by_user(df).sliding("12s", every="4s").agg(*merged()),
    "deducting": lambda df: by_user(df).sliding("40s", every="1s").agg(*exact()),
    "panes": lambda df: (
        by_user(df)
        .tumbling("8s")
        .allowed_lateness("9s")
        .emit("at_window_end", et.WindowTrigger.every_rows(2), late_updates=True)
        .agg(*exact())
    ),
    "sessions": lambda df: by_user(df).session("4s", maximum_duration="20s").agg(*merged()),
    "counts": lambda df: by_user(df).by_count(4, every=2).agg(*exact()),
    "by key": lambda df: by_user(df).watermark_scope("key").tumbling("8s").agg(*exact()),
    "by site": lambda df: by_user(df).watermark_scope(["site"]).tumbling("8s").agg(*exact()),
    "triggers": lambda df: (
        by_user(df).cumulate("12s", step="4s").emit("on_update", "at_window_end").agg(*exact())
    ),
    "storm": lambda df: (
        StormWindow()
        .with_window("12s", et.storm.Count(3))
        .with_timestamp_field("ts")
        .over(df)
        .group_by("user")
        .agg(F.sort_array(F.collect_list("id")).alias("ids"))
        .event_time("ts", LAG)  # Storm's own timer goes by the clock
    ),
    "two in a row": lambda df: (
        et.window(by_user(df).tumbling("4s").agg(F.count("*").alias("n")).results)
        .key_by("site")
        .by_count(3)
        .agg(F.sum("n").alias("n"))
    ),
}


@pytest.mark.parametrize("name", sampled(WINDOWS, quick=[*WINDOWS][::2]))
def test_a_drain_that_was_killed_ends_when_it_is_started_again(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """In the last batch or before: it gives what it gave, and every row is somewhere."""
    with settings(spark, WITHOUT_CODE):
        has_two = name == "two in a row"  # of which the second one here has the events
        run = WindowRun(spark, WINDOWS[name], BATCHES, drain=True, counts_rows=not has_two)
        checkpoint = tmp_path / "checkpoint"
        wanted = run.to_the_end(checkpoint)
        log = 1 if has_two else None
        late = told(et.read_late(checkpoint, window=log))
        last = max(wanted)
        assert wanted[last]
        for n, batch in enumerate([last, last, last, last - 1, last // 2]):
            set_back(checkpoint, batch, LOST[n % len(LOST)])
            assert run.to_the_end(checkpoint) == {n: wanted[n] for n in wanted if n >= batch}
            assert told(et.read_late(checkpoint, window=log)) == late
        assert not et.read_state(checkpoint, WINDOWS[name](empty(spark))).take(1)


def empty(spark: SparkSession) -> DataFrame:
    """Return no events."""
    return spark.createDataFrame([], SCHEMA)


def writes(results: DataFrame, checkpoint: Path) -> DataStreamWriter:
    """Return a writer that reads what there is, with a checkpoint."""
    writer = results.writeStream.format("noop").trigger(availableNow=True)
    return writer.option("checkpointLocation", str(checkpoint))


@pytest.mark.smoke
def test_a_checkpoint_that_was_drained_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """By any other start, and nothing in it changes but for who has it; the doctor says so too."""
    folder = str(tmp_path)
    with Script(counts(LAG), EVENTS, session=spark, checkpoint=folder) as script:
        script.rows(ROWS).expect(results=[(0, 1)])
        script.restart(drain=True).expect(results=[(10, 2)])
        before = et.read_checkpoint(folder)
        assert before.watermark is not None
        assert before.watermark.emitted == THE_END
        for available_now in True, False:
            with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_DRAINED"):
                script.restart(available_now=available_now)
        report = et.read_checkpoint(folder, plan=script.result)
    assert report.committed == report.begun == before.committed
    assert report.continues is False
    assert "CHECKPOINT_DRAINED" in (report.refusal or "")
    assert report.problems == ()
    assert any("was drained" in sentence for sentence in report.advice)


@pytest.mark.smoke
def test_a_drain_that_is_over_may_be_started_again(spark: SparkSession, tmp_path: Path) -> None:
    """As a scheduler does with one that was killed at its very end; rows since then are refused."""
    folder = str(tmp_path)
    with Script(counts(LAG), EVENTS, session=spark, checkpoint=folder) as script:
        script.rows(ROWS).restart(drain=True).expect(results=[(0, 1), (10, 2)])
        last = et.read_checkpoint(folder).committed
        for _ in range(2):
            script.restart(drain=True).expect(results=[])
        report = et.read_checkpoint(folder, plan=script.result)
        assert report.begun == report.committed == last
        assert report.watermark is not None
        assert report.watermark.emitted == THE_END
        assert "CHECKPOINT_DRAINED" in (report.refusal or "")
        script.waiting([(at(15), "late for ever")])
        for drain in True, True, False:
            with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_DRAINED"):
                script.restart(drain=drain)
        report = et.read_checkpoint(folder, plan=script.result)
        assert not script.results()
    assert report.committed == last
    assert "CHECKPOINT_DRAINED" in (report.refusal or "")
    assert report.problems == ()


@pytest.mark.parametrize("lost", [(), (STATE, LATE, INDEX, LEDGER)])
def test_a_drain_that_was_killed_is_ended_by_no_other_start(
    spark: SparkSession, tmp_path: Path, lost: tuple[str, ...]
) -> None:
    """The windows would close, and the query would go on with nothing but late rows."""
    with Script(counts(LAG), EVENTS, session=spark, checkpoint=str(tmp_path)) as script:
        script.rows(ROWS).restart(drain=True)
        last = et.read_checkpoint(tmp_path).committed
        set_back(tmp_path, last, lost)
        with pytest.raises(et.errors.CheckpointError, match="DRAIN_UNFINISHED"):
            script.restart()
        script.waiting([(at(15), "of the next replay")])
        with pytest.raises(et.errors.CheckpointError, match="CHECKPOINT_DRAINED"):
            script.restart(drain=True)  # which has ended the batch, and runs no other
        assert et.read_checkpoint(tmp_path).committed == last


def test_without_it_windows_stay_open(spark: SparkSession, tmp_path: Path) -> None:
    """For the next run, which may drain; rows that come before it ends are in their windows."""
    with Script(counts(LAG), EVENTS, session=spark, checkpoint=str(tmp_path)) as script:
        script.rows(ROWS).restart(available_now=True).expect(results=[(0, 1)])
        script.waiting([(at(15), "a")]).restart(drain=True).expect(results=[(10, 3)], late=0)


def test_a_query_that_cannot_be_drained_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Before anything starts: another trigger, and no watermark of ours."""
    events = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    window = et.window(events).event_time("ts", LAG).tumbling("10s").agg(F.count("*").alias("n"))
    checkpoint = tmp_path / "checkpoint"
    writer = writes(window.results, checkpoint)
    for trigger in {"processingTime": "1 second"}, {"once": True}:
        with pytest.raises(et.errors.InvalidArgumentError, match=r"DRAIN_TRIGGER.*available now"):
            et.start(window, writer.trigger(**trigger), drain=True)
    with pytest.raises(et.errors.InvalidArgumentError, match="DRAIN_WITHOUT_WATERMARK"):
        et.start(events, writes(events, checkpoint), drain=True)
    with pytest.raises(et.errors.InvalidArgumentError, match="does not write"):
        et.start(events, writes(window.results, checkpoint), drain=True)
    with pytest.raises(et.errors.ArgumentTypeError, match="drain='yes'"):
        et.start(window, writer, drain="yes")  # type: ignore[arg-type]
    assert not checkpoint.exists()
    assert spark.streams.active == []


def joined(events: DataFrame) -> DataFrame:
    """Return each row of `a`, with one of `b` at its time if there is one."""
    rows = et.with_watermark(events, "ts", LAG).withColumn("size", F.length("key"))
    left = rows.where("key = 'a'")
    right = rows.where("key = 'b'").select(F.col("ts").alias("other"), F.col("size").alias("found"))
    near = F.expr("found = size AND other BETWEEN ts - INTERVAL 1 SECOND AND ts")
    return left.join(right, near, "leftOuter").select(F.unix_timestamp("ts") % 60, "found")


def sessions(events: DataFrame) -> DataFrame:
    """Count Spark's sessions."""
    rows = et.with_watermark(events, "ts", LAG)
    return rows.groupBy(F.session_window("ts", "5 seconds"), "key").count().select("key", "count")


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (counts(LAG), [(0, 1), (10, 2)]),
        (sessions, [("a", 1), ("b", 1), ("a", 1)]),
        (joined, [(1, None), (14, 1)]),
    ],
    ids=["windows", "sessions", "outer join"],
)
def test_operators_of_sparks_give_what_they_hold(
    query: Callable[[DataFrame], DataFrame], wanted: list[tuple[object, ...]]
) -> None:
    """Under a policy."""
    with Script(query, EVENTS) as script:
        script.waiting(ROWS).restart(drain=True).expect(results=wanted)


def test_nothing_at_all_can_be_drained() -> None:
    """Then there is nothing to close."""
    with Script(counts(LAG), EVENTS) as script:
        script.restart(drain=True).expect(results=[])
        report = et.read_checkpoint(script.checkpoint)
    assert report.watermark is not None
    assert report.watermark.emitted == THE_END


def test_the_handler_of_late_rows_is_called(spark: SparkSession, tmp_path: Path) -> None:
    """For each late row before the end; nothing is late for the end."""
    files = tmp_path / "files"
    first, second = [(at(30), "on time")], [(at(31), "on time")]
    for batch in first, second, [(at(1), "late"), (at(29), "on time too")]:
        rows = spark.createDataFrame(batch, "ts string, key string").coalesce(1)
        rows.write.json(str(files), mode="append")
    called, results = tmp_path / "called", tmp_path / "results"
    results.mkdir()

    def handle(rows: DataFrame, _: et.LateContext) -> None:
        with called.open("a", encoding="utf-8") as file:
            file.write(" ".join(row["key"] for row in rows.collect()))

    events = spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", 1).json(str(files))
    window = et.window(events).event_time("ts", LAG).key_by("key").tumbling("10s")
    window = window.agg(F.count("*").alias("n")).on_late(handle)
    write = writes_to(results)
    writer = writes(window.results, tmp_path / "checkpoint")
    writer = writer.foreachBatch(lambda rows, batch: write(rows.select("key", "n"), batch))
    query = et.start(window, writer, drain=True)
    query.awaitTermination()
    assert called.read_text("utf-8") == "late"
    given = [row for rows in read_from(results).values() for row in rows]
    assert given == ["Row(key='on time too', n=1)", "Row(key='on time', n=2)"]
    report = et.progress(query)
    assert (report.on_time, sum(report.late.values())) == (3, 1)
