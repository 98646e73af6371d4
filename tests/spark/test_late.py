"""Reading a late log from Python."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.errors import CheckpointError, InvalidArgumentError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

POLICY = et.WatermarkPolicies.with_fixed_lag("0s")


def tens(events: DataFrame) -> WindowBuilder:
    """Count over ten seconds."""
    window = et.window(events).event_time("ts", POLICY).tumbling("10s")
    return window.agg(F.count("*").alias("n"))


@pytest.mark.smoke
def test_a_checkpoint_without_a_late_log_is_refused(spark: SparkSession) -> None:
    """By its path or by the query that has it, as a table and as a stream."""
    with Script(counts(POLICY), EVENTS) as script:
        script.rows([(at(1), "a")])
        checkpoint = script.checkpoint
        for of in (checkpoint, Path(checkpoint), script.streaming_query):
            with pytest.raises(CheckpointError, match="LATE_LOG_MISSING"):
                et.read_late(of)
        stream = spark.readStream.format("eventtide-late").option("checkpoint", checkpoint)
        with pytest.raises(CheckpointError, match="LATE_LOG_MISSING"), et.named_errors():
            _ = stream.load().schema  # a client of Spark Connect asks the server only then
        assert et.progress(script.streaming_query).late == {}


def test_a_log_that_has_lost_a_part_is_refused_and_read_when_asked() -> None:
    """By reader, doctor and cleaning; what there is can be read, and no file is deleted."""
    with Script(lambda rows: tens(rows).results, EVENTS) as script:
        script.rows([(at(60), "a")]).rows([(at(61), "a")])
        script.rows([(at(1), "a")]).rows([(at(2), "b")])
        checkpoint = script.checkpoint
        assert et.read_late(checkpoint).count() == 2
        assert et.compact_late(checkpoint) == et.observe.LateCompaction(0, 0, 0)
        first, _ = sorted(Path(checkpoint, "late").glob("*.parquet"))
        first.write_bytes(b"short")
        for refused in (
            lambda: et.read_late(checkpoint).count(),
            lambda: et.clean_late(checkpoint),
            lambda: et.compact_late(checkpoint),
        ):
            said = pytest.raises(CheckpointError, match=r"LATE_FILES_MISSING.*has 5 bytes instead")
            with said, et.named_errors():
                refused()
        [problem] = et.read_checkpoint(checkpoint).problems
        assert first.name in problem
        assert et.read_late(checkpoint, missing="skip").count() == 1


def test_late_rows_that_are_too_old_go_once_those_have_them_who_read_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The doctor says who that is; one that is forgotten is waited for no more."""
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    with Script(lambda rows: tens(rows).late_retention("1m").results, EVENTS) as script:
        checkpoint = script.checkpoint
        stream = spark.readStream.format("eventtide-late").option("checkpoint", checkpoint)
        script.rows([(at(600), "a")]).rows([(at(601), "a")]).rows([(at(1), "a")])
        reading = stream.load().writeStream.format("noop").queryName("late tides")
        reading = reading.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
        reading.start().awaitTermination()
        script.clock("+5m").rows(*([(at(second), "a")] for second in range(2, 6)))
        report = et.read_checkpoint(checkpoint)
        [reader] = report.late_readers
        assert (reader.name, reader.batch_id) == ("query 'late tides'", -1)
        assert report.late_kept is not None
        assert report.late_kept.keep == timedelta(minutes=1)
        assert et.read_late(checkpoint).count() == 5
        et.forget_late_reader(checkpoint, reader.id)
        script.rows([(at(6), "a")])
        assert et.read_late(checkpoint).count() == 5
        assert et.progress(script.streaming_query).late["window_closed"] == 6
        later = et.read_checkpoint(checkpoint)
        assert (later.problems, later.late_readers) == ((), ())
        assert later.late_kept is not None
        assert later.late_kept.batch_id > report.late_kept.batch_id
        with pytest.raises(InvalidArgumentError, match=r"LATE_READER_UNKNOWN.*its readers: none"):
            et.forget_late_reader(checkpoint, reader.id)


def test_a_stream_without_a_checkpoint_is_refused(spark: SparkSession) -> None:
    """The option has no default."""
    with pytest.raises(InvalidArgumentError, match="'checkpoint' is missing"), et.named_errors():
        assert spark.readStream.format("eventtide-late").load().schema  # a client asks only now


TWICE = {
    "one": "named_struct('a', 1, 'a', key)",
    "by case": "named_struct('a', 1, 'A', key)",
    "in an array": "array(named_struct('a', 1, 'A', key))",
    "in a map": "map(1, named_struct('b', named_struct('a', 1, 'A', key)))",
}


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("value", TWICE.values(), ids=TWICE)
def test_a_struct_with_one_field_name_twice_is_refused(value: str) -> None:
    """By name and before any row, since the log could not be read; without a log it runs."""

    def window(events: DataFrame) -> WindowBuilder:
        odd = events.withColumn("odd", F.expr(value))
        return minutes(odd)

    with pytest.raises(InvalidArgumentError, match=r"LATE_FIELD_NAME.*'odd.*'late' to 'count'"):
        Script(window, EVENTS)
    with Script(lambda events: window(events).late("count"), EVENTS) as script:
        script.rows([(at(2), "a")], [(at(61), "a")]).rows([(at(1), "a")])
        assert dict(et.progress(script.streaming_query).late) == {"window_closed": 1}


def minutes(events: DataFrame) -> WindowBuilder:
    """Return windows of a minute, in the time of the stream or of a window's own policy."""
    begun = et.window(events)
    timed = begun if "marked" in events.columns else begun.event_time("ts", POLICY)
    return timed.tumbling("1m").agg(F.count("*").alias("n"))


@pytest.mark.parametrize("by_row", [False, True], ids=["by frame", "by row"])
def test_the_substream_is_known_whose_columns_were_dropped(*, by_row: bool) -> None:
    """Between the watermark and the window; a column of its name that came later is another one."""

    def window(events: DataFrame) -> WindowBuilder:
        marked = et.with_watermark(events, "ts", POLICY, substream=["key", F.lower("key")])
        dropped = marked.where("key is not null").drop("key").alias("rows")
        made = minutes(dropped.withColumn("marked", F.lit(1)).withColumn("key", F.lit("other")))
        return made.key_by("marked").watermark_scope("key") if by_row else made

    with Script(window, EVENTS) as script:
        script.rows([(at(2), "b")], [(at(61), "A"), (at(61), "b")]).rows([(at(1), "A")])
        log = et.read_late(script.checkpoint)
        assert log.columns[:3] == ["ts", "marked", "key"]
        assert [(row._substream, row.key) for row in log.collect()] == [("A/a", "other")]
