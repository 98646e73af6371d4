"""A batch that is run again goes by the settings of the run that began it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.checkpoints import set_back
from tests.spark.queries import at
from tests.spark.window_runs import (
    WITHOUT_CODE,
    WindowRun,
    late_rows,
    scripted,
    settings,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

AHEAD = "2090-01-01 00:00:00"  # of any clock, and by less than a hundred years


def row(number: int, time: str) -> tuple[Any, ...]:
    """Return an event of which nothing else matters."""
    return number, time, "a", 1, None, None, None, None


BATCHES = [[row(1, at(101))], [row(2, at(115)), row(3, AHEAD)], [row(4, at(131))]]


def guarded(lag: str, ahead: str) -> Callable[[DataFrame], WindowBuilder]:
    """Return windows with such a lag, for which rows so far ahead are late."""
    policy = WatermarkPolicies.with_fixed_lag(lag).guard_future(ahead, on="late")

    def window(events: DataFrame) -> WindowBuilder:
        timed = et.window(events).event_time("ts", policy).key_by("user").tumbling("10s")
        return timed.agg(F.sort_array(F.collect_list("id")).alias("ids"))

    return window


def of_sparks_own(events: DataFrame) -> SimpleNamespace:
    """Return windows of Spark's own, as something that has results."""
    timed = et.with_watermark(events, "ts", WatermarkPolicies.with_fixed_lag("2s"))
    counts = timed.groupBy(F.window("ts", "10 seconds")).agg(F.count("*").alias("n"))
    return SimpleNamespace(results=counts)


def committed(checkpoint: Path, batch: int) -> int:
    """Return the watermark after a batch, in milliseconds."""
    text = (checkpoint / "commits" / str(batch)).read_text("utf-8")
    return int(json.loads(text.splitlines()[1])["nextBatchWatermarkMs"])


def test_lags_and_guards_are_those_of_the_run_which_began_the_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Another driver may commit it, whose results and late rows are those of its own settings."""
    with settings(spark, WITHOUT_CODE):
        wanted = WindowRun(spark, guarded("2s", "1h"), BATCHES[:2]).to_the_end(tmp_path)
        late, watermark = late_rows(spark, tmp_path), committed(tmp_path, 1)
        assert len(late) == 1
        set_back(tmp_path, 1, ())
        again = WindowRun(spark, guarded("1m", "36500d"), BATCHES[:2]).to_the_end(tmp_path)
        assert again[1] == wanted[1]
        assert late_rows(spark, tmp_path) == late
        assert committed(tmp_path, 1) == watermark
        given = WindowRun(spark, guarded("1m", "36500d"), BATCHES).to_the_end(tmp_path)
        assert (
            committed(tmp_path, max(given)) == watermark
        )  # a lag of a minute, by its own settings


def test_state_that_a_sink_does_not_ask_for_again_is_there_all_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of Spark's own operators, in a batch without rows, in the second format of Spark's state."""
    results: dict[int, list[str]] = {}

    def run(has: int) -> None:
        def take(rows: DataFrame, batch: int) -> None:
            if batch > has:
                results[batch] = told(rows)

        with scripted(spark, BATCHES[2:] + BATCHES[:1] + [[row(5, at(160))]]) as events:
            writer = of_sparks_own(events).results.writeStream.foreachBatch(take)
            writer = writer.option("checkpointLocation", str(tmp_path))
            writer.trigger(availableNow=True).start().awaitTermination()

    version = {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}
    with settings(spark, version | WITHOUT_CODE):
        run(has=-1)
        wanted = dict(results)
        last = max(wanted)
        assert wanted[last]  # of windows that the rows before have closed
        set_back(tmp_path, last, ())
        run(has=last)
        assert results == wanted
