"""What a query's windows hold can be read from its checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.any_kind import OfAnyKind
from tests.spark.queries import EVENTS, at
from tests.spark.test_windows import flat
from tests.spark.window_runs import operators
from tests.spark.window_runs import settings as settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("2s")
ROWS = [(at(1), "a"), (at(3), "a"), (at(5), "b"), (at(14), "c")]


def sliding(events: DataFrame) -> et.WindowBuilder:
    """Count by key over ten seconds, every five."""
    window = OfAnyKind(events).event_time("ts", LAG).key_by("key").sliding("10s", every="5s")
    return window.agg(F.count("*").alias("n"), F.collect_set("key").alias("keys"))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
            "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        },
    ],
)
def test_open_windows_are_read_while_the_query_runs_and_after(
    spark: SparkSession, tmp_path: Path, settings: dict[str, str]
) -> None:
    """With what they would give if they closed now; windows that have closed are not there."""
    expected = {(5, 15, "b", 1), (5, 15, "c", 1), (10, 20, "c", 1)}
    checkpoint = str(tmp_path)
    query = lambda events: flat(sliding(events).results).drop("keys")  # noqa: E731
    with settings_of(spark, settings), Script(query, EVENTS, checkpoint=checkpoint) as script:
        script.rows(ROWS).expect(results=[(3595, 5, "a", 2), (0, 10, "a", 2), (0, 10, "b", 1)])
        assert held(spark, checkpoint) == expected
    assert held(spark, checkpoint) == expected  # whatever the session that reads is set to


def held(spark: SparkSession, checkpoint: str) -> set[Any]:
    """Read the state with a builder over a batch of the same columns."""
    rows = et.read_state(checkpoint, sliding(spark.createDataFrame([], EVENTS)))
    return {tuple(row) for row in flat(rows).drop("keys").collect()}


def test_windows_that_accept_rows_are_read_until_they_can_change_no_more(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Each with all of its rows, whether it has closed or not."""

    def updated(events: DataFrame) -> et.WindowBuilder:
        return sliding(events).allowed_lateness("10s").emit(late_updates=True)

    checkpoint = str(tmp_path)
    query = lambda events: updated(events).results  # noqa: E731
    with Script(query, EVENTS, checkpoint=checkpoint) as script:
        script.rows([(at(second), "a") for second in (31, 36, 41, 46, 51, 62)])
    rows = et.read_state(checkpoint, updated(spark.createDataFrame([], EVENTS)))
    counted = {tuple(row)[:4] for row in flat(rows).drop("keys").collect()}
    # W is 60 s: what ends by 50 s can change no more
    ends = {(45, 55, "a", 2), (50, 60, "a", 1), (55, 65, "a", 1), (60, 70, "a", 1)}
    assert counted == ends


def test_a_checkpoint_without_state_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """By name."""
    with pytest.raises(et.errors.CheckpointError, match="no state of a window"):
        et.read_state(tmp_path, sliding(spark.createDataFrame([], EVENTS)))


OTHERS = {
    "other frames": lambda window: window.sliding("12s", every="4s"),
    "another late rule": lambda window: window.late_rule("frame_closed"),
    "another key": lambda window: window.key_by(F.upper("key").alias("key")),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_window_than_the_one_that_wrote_is_refused(
    spark: SparkSession, tmp_path: Path, other: str
) -> None:
    """Its frames would be read as what they are not."""
    query = lambda events: flat(sliding(events).results).drop("keys")  # noqa: E731
    with Script(query, EVENTS, checkpoint=str(tmp_path)) as script:
        script.rows(ROWS)
    window = OTHERS[other](sliding(spark.createDataFrame([], EVENTS)))
    with pytest.raises(et.errors.CheckpointError, match="STATE_OF_OTHER_WINDOW"):
        et.read_state(tmp_path, window)


def test_each_window_of_a_chain_has_its_state(spark: SparkSession, tmp_path: Path) -> None:
    """The last one of a builder's counts; a table without rows will do."""

    def again(events: DataFrame) -> et.WindowBuilder:
        counts = et.window(sliding(events).results)
        return counts.tumbling("20s").agg(F.sum("n").alias("m"))

    query = lambda events: again(events).results.select("window.start", "m")  # noqa: E731
    with Script(query, EVENTS, checkpoint=str(tmp_path)) as script:
        script.rows(ROWS)
    nothing = spark.sql("SELECT timestamp '2024-01-01' AS ts, 'a' AS key WHERE false")
    first = et.read_state(tmp_path, sliding(nothing)).select("key", "n")
    assert {tuple(row) for row in first.collect()} == {("b", 1), ("c", 1)}
    second = et.read_state(tmp_path, again(nothing)).select("m")
    assert {tuple(row) for row in second.collect()} == {(5,)}


COUNTING = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"


@pytest.mark.parametrize("counting", [{}, {COUNTING: "true"}], ids=["as it is", "store counts"])
def test_progress_says_how_many_keys_have_state(
    spark: SparkSession, tmp_path: Path, counting: dict[str, str]
) -> None:
    """Not how many rows the store has for them, whether or not it counts these."""
    query = lambda events: flat(sliding(events).results).drop("keys")  # noqa: E731
    with settings_of(spark, counting), Script(query, EVENTS, checkpoint=str(tmp_path)) as script:
        script.rows(ROWS)
        assert operators(script)[-1]["numRowsTotal"] == 2


@pytest.mark.usefixtures("spark")
def test_a_key_without_new_rows_is_not_written_when_its_windows_close(tmp_path: Path) -> None:
    """It is read as it was, gives each window once, and takes rows again."""
    query = lambda events: flat(sliding(events).results).drop("keys")  # noqa: E731
    steps = [
        ([(1, "quiet"), (6, "quiet"), (11, "quiet")], [(3595, 5, "quiet", 1)]),
        ([(14, "busy")], [(0, 10, "quiet", 2)]),
        ([(18, "busy")], [(5, 15, "quiet", 2), (5, 15, "busy", 1)]),
        ([(17, "quiet"), (23, "busy")], [(10, 20, "quiet", 2), (10, 20, "busy", 2)]),
        ([(60, "busy")], [(15, 25, "quiet", 1), (15, 25, "busy", 2), (20, 30, "busy", 1)]),
    ]
    with Script(query, EVENTS, checkpoint=str(tmp_path)) as script:
        for rows, results in steps:
            script.rows([(at(second), key) for second, key in rows]).expect(results=results)
        done = operators(script)
    # Six times with rows, once since no watermark was known, and once for a gap between frames.
    assert sum(operator["numRowsUpdated"] for operator in done) == 6 + 2
    assert sum(operator["numRowsRemoved"] for operator in done) == 1
