"""The closed windows of a query: each once, with all its rows, also over restarts."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.errors import InvalidArgumentError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, Row, SparkSession

EVENTS = "ts timestamp, user string"
LAG = WatermarkPolicies.with_fixed_lag("5s")


def timed(events: DataFrame) -> WindowBuilder:
    """Return a window over the events, before its size."""
    return et.window(events).event_time("ts", LAG).key_by("user")


def tumbling(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds."""
    return timed(events).tumbling("10s").agg(F.count("*").alias("n"))


def sliding(events: DataFrame) -> WindowBuilder:
    """Return windows of twelve seconds, one every three seconds."""
    return timed(events).sliding("12s", every="3s").agg(F.count("*").alias("n"))


def cumulating(events: DataFrame) -> WindowBuilder:
    """Return windows that grow by three seconds up to twelve."""
    return timed(events).cumulate("12s", step="3s").agg(F.count("*").alias("n"))


def by_window(results: list[Row]) -> dict[object, int]:
    """Return the rows of each window of results."""
    rows: dict[object, int] = {}
    for row in results:
        rows[row.window] = rows.get(row.window, 0) + row.n
    return rows


@pytest.mark.parametrize("query", [tumbling, sliding, cumulating])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_the_rows_of_each_window_are_those_of_its_results(
    query: Callable[[DataFrame], WindowBuilder], seed: int
) -> None:
    """Also over restarts, and for windows of several frames."""
    random = Random(seed)  # noqa: S311 - rows of a test
    with Script(query, EVENTS) as script:
        results: list[Row] = []
        for second in range(60, 210, 10):
            some = random.randrange(5)
            script.rows([(at(second + random.uniform(-20, 5)), "ab"[n % 2]) for n in range(some)])
            results += script.results()
            if random.random() < 0.2:
                script.restart()
        closed = et.completeness(script.checkpoint).collect()
        late = et.read_late(script.checkpoint).collect()
    assert len({row.window for row in closed}) == len(closed)
    assert {row.window: row.rows for row in closed} == by_window(results)
    for row in closed:
        start, end = row.window
        assert row.late == sum(start <= one._event_time < end for one in late)


def test_a_stream_has_each_closed_window_once(spark: SparkSession, tmp_path: Path) -> None:
    """Read in parts, by a stream that is stopped and goes on."""
    found: list[Row] = []

    def read() -> None:
        source = spark.readStream.format("eventtide-completeness")
        stream = source.option("checkpoint", script.checkpoint).load()
        writer = stream.writeStream.option("checkpointLocation", str(tmp_path / "reader"))
        writer = writer.foreachBatch(lambda rows, _: found.extend(rows.collect()))
        writer.trigger(availableNow=True).start().awaitTermination()

    with Script(tumbling, EVENTS) as script:
        for second in range(0, 100, 5):
            script.rows([(at(second), "a")])
            if second % 20 == 0:
                read()
        read()
        closed = et.completeness(script.checkpoint).collect()
    assert found == closed
    assert [row.rows for row in closed] == [2] * len(closed)
    assert len(closed) == 9


def test_what_is_missing_is_expected_by_the_disorder_so_far() -> None:
    """Of the rows, a seventh is 40 seconds behind, with a lag of 5 seconds."""
    with Script(tumbling, EVENTS) as script:
        for begin in range(60, 200, 5):
            seconds = range(begin, begin + 5)
            script.rows([(at(second - 40 * (second % 7 == 6)), "a") for second in seconds])
        closed = et.completeness(script.checkpoint).collect()
    for row in closed[4:-5]:
        assert 1 <= row.late <= 2
        assert 1 < row.expected_missing < 2


def test_without_a_lag_curve_nothing_is_expected(spark: SparkSession) -> None:
    """The rows are counted all the same."""
    with (
        settings(spark, {"spark.eventtide.lagCurve.rows": "0"}),
        Script(tumbling, EVENTS) as script,
    ):
        script.rows([(at(0), "a")], [(at(30), "a")])
        [row] = et.completeness(script.checkpoint).collect()
    assert (row.rows, row.late, row.expected_missing) == (1, 0, None)


def test_the_checkpoint_keeps_as_many_windows_as_the_session_says(spark: SparkSession) -> None:
    """The oldest are forgotten, and a stream that has not read them fails."""
    with (
        settings(spark, {"spark.eventtide.completeness.windows": "3"}),
        Script(tumbling, EVENTS) as script,
    ):
        script.rows(*[[(at(second), "a")] for second in range(0, 100, 10)])
        ends = [row.window.end for row in et.completeness(script.checkpoint).collect()]
    assert ends == sorted(ends)
    assert len(ends) == 3


@pytest.mark.parametrize(
    "query",
    [
        lambda events: tumbling(events).emit(WindowTrigger.every_rows(2)),
        lambda events: tumbling(events).watermark_scope("key"),
        lambda events: timed(events).session("5s").agg(F.count("*").alias("n")),
    ],
    ids=["triggers", "own time", "session"],
)
def test_other_windows_are_not_counted(query: Callable[[DataFrame], WindowBuilder]) -> None:
    """The error says for which windows rows are counted."""
    with Script(query, EVENTS) as script:
        script.rows([(at(0), "a")])
        with pytest.raises(InvalidArgumentError, match=r"tumbling, sliding and cumulative windows"):
            et.completeness(script.checkpoint).collect()


def test_a_window_that_does_not_exist() -> None:
    """The error says how many there are."""
    with Script(tumbling, EVENTS) as script:
        script.rows([(at(0), "a")])
        with pytest.raises(InvalidArgumentError, match=r"no window 1; it has 1"):
            et.completeness(script.checkpoint, window=1).collect()


def test_none_are_counted_with_zero(spark: SparkSession) -> None:
    """The setting turns the counts off."""
    with (
        settings(spark, {"spark.eventtide.completeness.windows": "0"}),
        Script(tumbling, EVENTS) as script,
    ):
        script.rows([(at(0), "a")])
        with pytest.raises(InvalidArgumentError, match=r"must not be 0"):
            et.completeness(script.checkpoint).collect()


def test_sql(spark: SparkSession) -> None:
    """`eventtide_completeness` has the same rows."""
    with Script(tumbling, EVENTS) as script:
        script.rows([(at(0), "a")], [(at(30), "a")])
        found = spark.sql(f"SELECT * FROM eventtide_completeness('{script.checkpoint}')")  # noqa: S608 - a path of a test
        rows = found.collect()
        assert rows == et.completeness(script.checkpoint).collect()
        assert [row.rows for row in rows] == [1]
