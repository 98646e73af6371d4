"""A batch that is run again goes by the settings of the run that began it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.batch_results import read_from, writes_to
from tests.spark.checkpoints import set_back
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, scripted, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WatermarkPolicy, WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

NOTHING = (None,) * 4  # in the columns that do not matter
AHEAD = "2090-01-01 00:00:00"  # of any clock, and by less than a hundred years


def row(number: int, time: str) -> tuple[Any, ...]:
    """Return an event of which nothing else matters."""
    return number, time, "a", 1, *NOTHING


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
    checkpoint, folder = tmp_path / "checkpoint", tmp_path / "results"
    folder.mkdir()

    def run(has: int) -> None:
        with scripted(spark, BATCHES[2:] + BATCHES[:1] + [[row(5, at(160))]]) as events:
            writer = of_sparks_own(events).results.writeStream
            writer = writer.foreachBatch(writes_to(folder, after=has))
            writer = writer.option("checkpointLocation", str(checkpoint))
            writer.trigger(availableNow=True).start().awaitTermination()

    version = {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}
    with settings(spark, version | WITHOUT_CODE):
        run(has=-1)
        wanted = read_from(folder)
        last = max(wanted)
        assert wanted[last]  # of windows that the rows before have closed
        set_back(checkpoint, last, ())
        run(has=last)
        assert read_from(folder) == wanted


REFUSED = [[row(1, at(101))], [row(2, at(115)), (3, AHEAD, "b", 1, *NOTHING)], [row(4, at(131))]]


def by_user(policy: WatermarkPolicy, **options: Any) -> Callable[[DataFrame], WindowBuilder]:
    """Return windows under a policy and other options of a watermark."""

    def window(events: DataFrame) -> WindowBuilder:
        timed = et.window(events).event_time("ts", policy, **options).key_by("user")
        return timed.tumbling("10s").agg(F.sort_array(F.collect_list("id")).alias("ids"))

    return window


ENDED = (
    et.errors.RefusedDataError,
    StreamingQueryException,
)  # the latter where a task has refused a row


def refused(spark: SparkSession, window: Any, checkpoint: Path, match: str) -> None:
    """Let a query end with an error, so that its second batch is begun and not committed."""
    with settings(spark, WITHOUT_CODE), pytest.raises(ENDED, match=match):
        WindowRun(spark, window, REFUSED[:2]).to_the_end(checkpoint)
    assert not (checkpoint / "commits" / "1").exists()


NO_GUARD = WatermarkPolicies.with_fixed_lag("2s")
FAIL = NO_GUARD.guard_future("1h", on="fail")


@pytest.mark.parametrize(
    ("policy", "late"),
    [
        (NO_GUARD.guard_future("1h", on="late"), 1),
        (NO_GUARD.guard_future("1h", on="clamp"), 0),
        (NO_GUARD.guard_future("36500d", on="fail"), 0),
        (NO_GUARD, 0),
    ],
)
def test_a_batch_that_a_guard_has_refused_goes_on_by_another(
    spark: SparkSession, tmp_path: Path, policy: WatermarkPolicy, late: int
) -> None:
    """Nothing came out of it, so that this run's own guard counts; the books balance."""
    refused(spark, by_user(FAIL), tmp_path, "guard_future")
    refused(spark, by_user(FAIL), tmp_path, "guard_future")
    with settings(spark, WITHOUT_CODE):
        WindowRun(spark, by_user(policy), REFUSED).to_the_end(tmp_path)
        in_future = [one for one in late_rows(spark, tmp_path) if "b" in one]
        assert len([one for one in in_future if "id=3" in one]) == late


def test_what_a_guard_has_let_through_counts_when_the_batch_is_run_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The limit stays that of the run which began the batch, whatever becomes of rows beyond it."""
    wide, narrow = (NO_GUARD.guard_future(ahead, on="fail") for ahead in ("36500d", "1h"))
    with settings(spark, WITHOUT_CODE):
        wanted = WindowRun(spark, by_user(wide), REFUSED[:2]).to_the_end(tmp_path)
        watermark = committed(tmp_path, 1)
        for policy in narrow, NO_GUARD.guard_future("1h", on="late"):
            set_back(tmp_path, 1, ())
            again = WindowRun(spark, by_user(policy), REFUSED[:2]).to_the_end(tmp_path)
            assert (again[1], committed(tmp_path, 1)) == (wanted[1], watermark)


def test_the_guard_that_a_batch_has_ended_with_is_that_of_the_next_run_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of three runs the first refused the batch, and the second gave its results."""
    late, clamp = (NO_GUARD.guard_future("1h", on=on) for on in ("late", "clamp"))
    refused(spark, by_user(FAIL), tmp_path, "guard_future")
    with settings(spark, WITHOUT_CODE):
        WindowRun(spark, by_user(late), REFUSED[:2]).to_the_end(tmp_path)
        wanted, watermark = late_rows(spark, tmp_path), committed(tmp_path, 1)
        assert len(wanted) == 1
        set_back(tmp_path, 1, ())
        WindowRun(spark, by_user(clamp), REFUSED[:2]).to_the_end(tmp_path)
        assert (late_rows(spark, tmp_path), committed(tmp_path, 1)) == (wanted, watermark)


FORGETS = {"substream_idle_timeout": "1ms", "substream_ttl": "1ms", "max_substreams": 2}


@pytest.mark.parametrize("changed", [{"max_substreams": 3}, FORGETS])
def test_a_batch_with_too_many_substreams_goes_on_when_there_may_be_more_or_some_are_forgotten(
    spark: SparkSession, tmp_path: Path, changed: dict[str, Any]
) -> None:
    """Nothing came out of it, so that this run's own settings count; the books balance."""
    came = [(number, at(100 + number), user, 1, *NOTHING) for number, user in enumerate("abcd")]
    batches = [came[:2], came[2:3], [*came[:2], row(5, at(131))]]
    same: dict[str, Any] = {"substream": "user", "on_restart": "resume"}
    few = by_user(NO_GUARD, **same, max_substreams=2)
    with settings(spark, WITHOUT_CODE):
        for _ in range(2):
            with pytest.raises(et.errors.RefusedDataError, match="more than 2 substreams"):
                WindowRun(spark, few, batches).to_the_end(tmp_path)
        assert not (tmp_path / "commits" / "1").exists()
        given = WindowRun(spark, by_user(NO_GUARD, **same, **changed), batches).to_the_end(tmp_path)
        assert {1, 2} <= set(given)


def test_a_batch_that_had_a_late_row_too_many_goes_on_when_late_rows_are_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What becomes of late rows is this run's own choice in any case."""
    times = 101, 135, 136, 102, 171
    batches = [[row(number, at(second))] for number, second in enumerate(times)]
    window = by_user(NO_GUARD)
    with settings(spark, WITHOUT_CODE):
        strict = WindowRun(spark, lambda events: window(events).late("fail"), batches)
        with pytest.raises(ENDED, match="is late"):
            strict.to_the_end(tmp_path)
        WindowRun(spark, window, batches).to_the_end(tmp_path)
        assert len(late_rows(spark, tmp_path)) == 1
