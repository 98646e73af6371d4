"""A history as the first batch of a query, which then goes on with its stream."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide._text.schemas import row_type
from eventtide.errors import CheckpointError, EventtideError, InvalidArgumentError
from eventtide.testing._values import storable
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.batch_results import read_from, told, writes_to
from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import SCHEMA, Disorder, cut, exact, merged
from tests.spark.queries import at
from tests.spark.window_runs import scripted
from tests.thorough import sampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from tests.spark.batch_results import Rows
    from tests.spark.kafka import Broker

LAG = WatermarkPolicies.with_fixed_lag("20s")  # more than rows are behind
ROWS = Disorder(seed=7, late_by=15, nulls=0.05, gap=1.5).events(160)
HISTORY, STREAM = ROWS[:100], ROWS[100:]
BATCHES = cut(STREAM, seed=7, batches=3)
LAST_OF_HISTORY = 2  # batches 1 and 2 have no rows


def _by_user(events: DataFrame) -> WindowBuilder:
    return et.window(events).event_time("ts", LAG).key_by("user", "site")


WINDOWS: dict[str, Callable[[DataFrame], WindowBuilder]] = {
    "sliding": lambda df: _by_user(df).sliding("12s", every="4s").agg(*merged()),
    "deducting": lambda df: _by_user(df).sliding("40s", every="2s").agg(*exact()),
    "cumulative": lambda df: _by_user(df).cumulate("12s", step="4s").agg(*exact()),
    "sessions": lambda df: _by_user(df).session("4s", maximum_duration="20s").agg(*merged()),
    "by key": lambda df: (
        _by_user(df).watermark_scope("key").tumbling("8s").delay("20s").agg(*exact())
    ),
    "substreams": lambda df: (
        et.window(df)
        .event_time("ts", LAG, substream=F.upper("user"))
        .key_by("site")
        .tumbling("8s")
        .agg(*merged())
    ),
}


def _rows(spark: SparkSession, events: list[Any]) -> DataFrame:
    schema = row_type(SCHEMA)
    return spark.createDataFrame([storable(row, schema) for row in events], schema)


def _writer(window: WindowBuilder, checkpoint: Path, results: Path) -> DataStreamWriter:
    writer = window.results.writeStream.foreachBatch(writes_to(results))
    return writer.option("checkpointLocation", str(checkpoint))


class Run:
    """A query over a history and a stream, both of which can be killed."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Path,
        window: Callable[[DataFrame], WindowBuilder] = WINDOWS["deducting"],
    ) -> None:
        self.spark, self.checkpoint, self.window = spark, checkpoint, window

    def backfill(self, history: DataFrame | None = None) -> dict[int, Rows]:
        """Read the history, and return the results of each batch."""
        rows = _rows(self.spark, HISTORY) if history is None else history
        with scripted(self.spark, []) as events, TemporaryDirectory() as results:
            window = self.window(events)
            writer = _writer(window, self.checkpoint, Path(results))
            et.backfill(window, rows, writer).awaitTermination()
            return read_from(Path(results))

    def stream(self) -> dict[int, Rows]:
        """Go on with the stream, to its end, and return the results of each batch."""
        with scripted(self.spark, BATCHES) as events, TemporaryDirectory() as results:
            window = self.window(events)
            writer = _writer(window, self.checkpoint, Path(results)).trigger(availableNow=True)
            et.start(window, writer, drain=True).awaitTermination()
            return read_from(Path(results))


def _all(results: dict[int, Rows]) -> Rows:
    return sorted(row for batch in results.values() for row in batch)


@pytest.mark.parametrize("name", sampled(WINDOWS, quick=["sliding", "by key", "substreams"]))
def test_the_windows_are_those_of_a_batch_over_both(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """Also when each batch of the history, and then of the stream, is killed and run again."""
    run = Run(spark, tmp_path, WINDOWS[name])
    history = run.backfill()
    assert set(history) == set(range(LAST_OF_HISTORY + 1))
    assert history[0 if name == "by key" else 1]  # keys have their watermarks within a batch
    for n, batch in enumerate([2, 1, 0]):
        set_back(tmp_path, batch, LOST[n])
        again = run.backfill()
        assert set(again) == {n for n in history if n >= batch}
        assert _all(again) == _all({n: history[n] for n in again})
    stream = run.stream()
    set_back(tmp_path, LAST_OF_HISTORY + 1, LOST[1])
    assert run.stream() == stream
    wanted = told(WINDOWS[name](_rows(spark, ROWS)).results)
    assert sorted(_all(history) + _all(stream)) == wanted
    assert len(wanted) > len(_all(history)) + 10


@pytest.mark.smoke
def test_a_history_that_was_read_is_not_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """A scheduler may start it once more: it ends without a batch, and the stream goes on."""
    run = Run(spark, tmp_path)
    before = run.backfill()
    assert run.backfill() == {}
    after = run.stream()
    assert min(after) == LAST_OF_HISTORY + 1
    wanted = told(run.window(_rows(spark, ROWS)).results)
    assert sorted(_all(before) + _all(after)) == wanted


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("committed", [False, True])
def test_a_stream_waits_for_the_end_of_its_history(
    spark: SparkSession, tmp_path: Path, batch: int, *, committed: bool
) -> None:
    """The stream does not begin from an offset of the history, which ends after any kill."""
    run = Run(spark, tmp_path)
    run.backfill()
    wanted = run.stream()
    set_back(tmp_path, batch + committed, LOST[1] if committed else ())
    if committed:
        (tmp_path / f"offsets/{batch + 1}").unlink()
    with pytest.raises(CheckpointError, match=r"BACKFILL_UNFINISHED.*until it ends"):
        run.stream()
    assert max(run.backfill()) == LAST_OF_HISTORY  # a kill adds no batch
    assert run.stream() == wanted


def test_a_history_comes_before_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    """A checkpoint of a stream is refused, whether it began with a history or not."""
    run = Run(spark, tmp_path / "both")
    run.backfill()
    run.stream()
    for folder in "both", "stream":
        other = Run(spark, tmp_path / folder)
        if folder == "stream":
            other.stream()
        with pytest.raises(CheckpointError, match=r"BACKFILL_CHECKPOINT_USED|CHECKPOINT_DRAINED"):
            other.backfill()


def test_a_start_that_has_read_nothing_leaves_no_mark(spark: SparkSession, tmp_path: Path) -> None:
    """The stream may begin instead."""
    run = Run(spark, tmp_path)
    with pytest.raises(EventtideError):
        run.backfill(_rows(spark, HISTORY).select(F.raise_error(F.lit("no history")).alias("ts")))
    failing = _rows(spark, HISTORY).withColumn("id", F.expr("cast(raise_error('x') as long)"))
    with pytest.raises(Exception, match="x"):
        run.backfill(failing)
    with pytest.raises(CheckpointError, match="BACKFILL_UNFINISHED"):
        run.stream()  # batch 0 has begun
    run.backfill()
    assert run.stream()


def test_columns_go_by_name_and_missing_ones_are_computed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The stream parses texts; the history has the texts, or their columns in another order."""
    texts = "text string"

    def window(raw: DataFrame) -> WindowBuilder:
        parsed = raw.select(F.from_json("text", "ts timestamp, user string").alias("event"))
        rows = et.window(parsed).event_time("event.ts", LAG, substream=F.upper("event.user"))
        return rows.key_by("event.user").tumbling("8s").agg(F.count("*").alias("n"))

    lines = [f'{{"ts": "{at(n)}", "user": "{"ab"[n % 2]}"}}' for n in range(50)]
    raw = spark.createDataFrame([(line,) for line in lines], texts)
    parsed = raw.select(F.from_json("text", "ts timestamp, user string").alias("event"))
    found = []
    for number, history in enumerate([raw, parsed.select(F.lit(1).alias("more"), "event")]):
        folder = tmp_path / str(number)
        for part in "lines", "results":
            (folder / part).mkdir(parents=True)
        lines_to_come = spark.readStream.text(str(folder / "lines"))
        made = window(lines_to_come.withColumnRenamed("value", "text"))
        writer = _writer(made, folder / "checkpoint", folder / "results")
        et.backfill(made, history, writer).awaitTermination()
        found.append(read_from(folder / "results"))
    assert found[0] == found[1]
    assert len(found[0][1]) == 6  # of two users, up to 29 s


def test_a_condition_of_the_stream_holds_for_the_history(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Before the columns are parsed, or after; a history must have its columns."""
    condition, to = F.col("text").contains('"a"'), {"checkpointLocation": str(tmp_path / "to")}
    lines = [f'{{"ts": "{at(n)}", "user": "{"ab"[n % 2]}"}}' for n in range(50)]
    raw = spark.createDataFrame([(line,) for line in lines], "text string")
    event = F.from_json("text", "ts timestamp, user string").alias("event")
    lines_to_come = spark.readStream.text(str(tmp_path)).withColumnRenamed("value", "text")
    found = []
    for number, rows in enumerate(
        [
            lines_to_come.where(condition).select(event),
            lines_to_come.select(event).where("event.user = 'a'"),
        ]
    ):
        results = tmp_path / f"results{number}"
        results.mkdir()
        window = et.window(rows).event_time("event.ts", LAG).key_by("event.user")
        made = window.tumbling("8s").agg(F.count("*").alias("n"))
        writer = _writer(made, tmp_path / f"checkpoint{number}", results)
        et.backfill(made, raw, writer).awaitTermination()
        found.append(read_from(results))
    assert found[0] == found[1]
    assert len(found[0][1]) == 3  # of one user, up to 29 s
    timed = et.with_watermark(lines_to_come.where(condition).select(event), "event.ts", LAG)
    assert "BACKFILL_FILTER" in _refusal(timed, raw.select(event), **to)


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        (lambda df: df.drop("user"), "column user of type STRING: it lacks this column"),
        (lambda df: df.withColumn("site", F.col("site").cast("long")), "its type there is BIGINT"),
        (lambda df: df.select("*", F.lit("a").alias("USER")), "this column more than once"),
    ],
)
def test_a_column_that_does_not_fit_is_named(
    spark: SparkSession,
    tmp_path: Path,
    history: Callable[[DataFrame], DataFrame],
    problem: str,
) -> None:
    """Before anything starts."""
    with pytest.raises(InvalidArgumentError, match=rf"BACKFILL_COLUMN.*{problem}"):
        Run(spark, tmp_path / "none").backfill(history(_rows(spark, HISTORY)))
    assert not (tmp_path / "none").exists()


def _refusal(results: DataFrame, history: DataFrame, **options: str) -> str:
    writer = results.writeStream.format("noop").options(**options)
    with pytest.raises(InvalidArgumentError) as refused:
        et.backfill(results, history, writer)
    return str(refused.value)


def test_a_query_that_cannot_go_on_from_a_history_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    """With the reason, before anything starts."""
    history, to = _rows(spark, HISTORY), {"checkpointLocation": str(tmp_path / "none")}
    with scripted(spark, []) as one, scripted(spark, []) as other:
        timed = et.with_watermark(one, "ts", LAG)
        assert "BACKFILL_CHECKPOINT_MISSING" in _refusal(timed, history)
        assert "BACKFILL_STREAM" in _refusal(timed, one, **to)
        assert "BACKFILL_WITHOUT_WATERMARK" in _refusal(one, history, **to)
        both = et.with_watermark(one.union(other), "ts", LAG)
        assert "2 streams" in _refusal(both, history, **to)
        twice = timed.union(et.with_watermark(other, "ts", LAG))
        assert "BACKFILL_SOURCES" in _refusal(twice, history, **to)
        ingested = et.with_ingestion_time(one, into="seen")
        assert "BACKFILL_INGESTION_TIME" in _refusal(ingested, history, **to)
        window = WINDOWS["deducting"](one)
        with pytest.raises(InvalidArgumentError, match="does not write the results"):
            et.backfill(window, history, other.writeStream)
        with pytest.raises(et.errors.ArgumentTypeError, match="history"):
            et.backfill(window, "events", window.results.writeStream)  # type: ignore[arg-type]
    assert not (tmp_path / "none").exists()


def test_the_writer_keeps_its_trigger(spark: SparkSession, tmp_path: Path) -> None:
    """It may be started again, for the stream."""
    with scripted(spark, BATCHES) as events, TemporaryDirectory() as results:
        window = WINDOWS["deducting"](events)
        writer = _writer(window, tmp_path, Path(results)).trigger(processingTime="0 seconds")
        et.backfill(window, _rows(spark, HISTORY), writer).awaitTermination()
        query = et.start(window, writer)
        query.processAllAvailable()
        assert query.isActive
        query.stop()
        assert len(read_from(Path(results))) > LAST_OF_HISTORY + 1


def test_from_files_to_kafka(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    """The history is an archive of the topic up to an offset, at which the stream begins."""
    broker.send_all(topic, [(n % 2, f"{at(n)},{'ab'[n % 2]},{n}") for n in range(90)])
    schema = "ts timestamp, key string, n int"

    def window(raw: DataFrame) -> WindowBuilder:
        parsed = F.from_csv(F.col("value").cast("string"), schema)
        rows = raw.select(parsed.alias("e")).select("e.*")
        counted = et.window(rows).event_time("ts", WatermarkPolicies.with_fixed_lag("0s"))
        return counted.key_by("key").sliding("20s", every="10s").agg(F.sum("n").alias("total"))

    archive = str(tmp_path / "archive")
    broker.batch(spark, topic).where("offset < 30").write.parquet(archive)
    offsets = f'{{"{topic}": {{"0": 30, "1": 30}}}}'
    stream = window(broker.stream(spark, topic, startingOffsets=offsets))
    results = tmp_path / "results"
    results.mkdir()
    writer = _writer(stream, tmp_path / "checkpoint", results)
    et.backfill(stream, spark.read.parquet(archive), writer).awaitTermination()
    history = read_from(results)
    et.start(stream, writer.trigger(availableNow=True), drain=True).awaitTermination()
    wanted = told(window(broker.batch(spark, topic)).results)
    assert _all(read_from(results)) == wanted
    assert 0 < len(_all(history)) < len(wanted)
