"""Why a window is open or has closed, and why a row was late: the sentences, and that they hold."""

from __future__ import annotations

import re
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import eventtide as et
import pandas as pd
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.testing import Script
from pyspark.sql import Row
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    Query = Callable[[DataFrame], WindowBuilder]

Batches = list[list[tuple[str, str]]]

EVENTS = "ts timestamp, user string"
FIRST = (f"{at(0)}Z", f"{at(10)}Z")


def counts(
    lag: str | timedelta = "5s", idle: str | None = None
) -> Callable[[DataFrame], WindowBuilder]:
    """Return windows of ten seconds over the substreams in `user`."""

    def query(events: DataFrame) -> WindowBuilder:
        policy = WatermarkPolicies.with_fixed_lag(lag)
        window = et.window(events)
        timed = window.event_time("ts", policy, substream="user", substream_idle_timeout=idle)
        return timed.tumbling("10s").agg(F.count("*").alias("rows"))

    return query


def without_numbers(said: str) -> str:
    """Return a text without the numbers and the times of batches."""
    return re.sub(r"(batch|Batch) \d+(, at [^,]*,)?", r"\1 N", said)


def test_a_window_that_is_open_and_then_closes_by_rows() -> None:
    """Open: who holds it, and how far it is. Closed: who had held it, and what moved it."""
    with Script(counts(), EVENTS) as script:
        script.rows([(at(0), "a"), (at(2), "b")], [(at(30), "a")])
        said = et.why(script.streaming_query, FIRST)
        assert said.startswith(
            "Window [2024-01-01 00:00:00, 2024-01-01 00:00:10) UTC is open. It closes when the "
            "watermark reaches 2024-01-01 00:00:10 UTC; it is at 2023-12-31 23:59:57 UTC, 13s "
            "before. 'b' holds the watermark at 2023-12-31 23:59:57 UTC, 28s behind 'a'"
        )
        script.rows([(at(20), "b")])
        said = et.why(script.streaming_query, FIRST)
    assert without_numbers(said) == (
        "Window [2024-01-01 00:00:00, 2024-01-01 00:00:10) UTC closed at 2024-01-01 00:00:10 UTC. "
        "Batch N moved the watermark from 2023-12-31 23:59:57 UTC to 2024-01-01 00:00:15 UTC: 'b' "
        "held it at 2023-12-31 23:59:57 UTC, until its rows reached 2024-01-01 00:00:20 UTC, which "
        "with_fixed_lag(lag=PT5S) makes 2024-01-01 00:00:15 UTC."
    )


def test_a_window_that_closes_because_a_substream_goes_idle() -> None:
    """The reason for its state is named."""
    with Script(counts(idle="30s"), EVENTS) as script:
        script.rows([(at(0), "a"), (at(2), "b")], [(at(30), "a")])
        script.clock("+25s").rows([(at(31), "a")])
        script.clock("+10s").rows([(at(32), "a")])
        said = et.why(script.streaming_query, FIRST)
    assert "'b' held it at 2023-12-31 23:59:57 UTC, until it went idle (timeout)." in said


def test_a_late_row_names_the_batch_the_substream_and_the_lag() -> None:
    """By a condition, or by the row itself."""
    batches: Batches = [[(at(0), "a"), (at(2), "b")], [(at(30), "a")], [(at(40), "b")]]
    with Script(counts(), EVENTS) as script:
        script.rows(*batches).rows([(at(3), "a")])
        said = et.why_late(script.streaming_query, "user = 'a'")
        [row] = et.read_late(script.streaming_query).collect()
        assert et.why_late(script.streaming_query, row) == said
    assert without_numbers(said) == (
        "The row of 2024-01-01 00:00:03 UTC came in batch N, 22s behind the watermark 2024-01-01 "
        "00:00:25 UTC. Batch N moved the watermark from 2023-12-31 23:59:57 UTC to 2024-01-01 "
        "00:00:25 UTC: 'b' held it at 2023-12-31 23:59:57 UTC, until its rows reached 2024-01-01 "
        "00:00:40 UTC, which with_fixed_lag(lag=PT5S) makes 2024-01-01 00:00:35 UTC. With a lag "
        "longer by 15s 1ms, it would have been on time."
    )


def test_a_row_of_a_substream_that_was_idle() -> None:
    """Such a substream does not hold the watermark for its rows."""
    with Script(counts(idle="30s"), EVENTS) as script:
        script.rows([(at(0), "a"), (at(2), "b")]).clock("+40s")
        script.rows([(at(60), "a")], [(at(61), "a")], [(at(3), "b")])
        said = et.why_late(script.streaming_query, "user = 'b'")
    assert "'b', from which the row is, was idle (timeout) since" in said


def random_batches(seed: int) -> Batches:
    """Return batches of three substreams that advance at different speeds, with some disorder."""
    random = Random(seed)  # noqa: S311 - test data
    now = dict.fromkeys("abc", 0.0)
    batches: Batches = []
    for _ in range(12):
        batch = []
        for user in now:
            if random.random() < 0.7 or not batches:
                now[user] += random.uniform(0, 12)
                time = max(0.0, now[user] - random.choice([0, 0, 0, 25]) * random.random())
                batch += [(at(round(time, 3)), user), (at(round(now[user], 3)), user)]
        batches.append(batch)
    return [batch for batch in batches if batch]


@pytest.mark.parametrize("seed", range(2))
def test_a_longer_lag_keeps_the_row_and_a_shorter_one_does_not(seed: int) -> None:
    """The named lag is the shortest, but for a millisecond."""
    batches = [*random_batches(seed), [(at(4 + seed), "abc"[seed % 3])]]
    with Script(counts(), EVENTS) as script:
        script.rows(*batches)
        row = et.read_late(script.streaming_query).collect()[-1]
        said = et.why_late(script.streaming_query, row)
    more = lag_of(said)
    assert is_late(batches, timedelta(seconds=5) + more, row.ts, row.user) is False
    less = more - timedelta(milliseconds=2)
    assert is_late(batches, timedelta(seconds=5) + less, row.ts, row.user) is True


def lag_of(said: str) -> timedelta:
    """Return by how much longer the lag must be."""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6}
    [words] = re.findall(r"longer by ([^,]*),", said)
    parts = re.findall(r"(\d+)([a-z]+)", words)
    return timedelta(seconds=sum(int(number) * units[unit] for number, unit in parts))


def is_late(batches: Batches, lag: timedelta, ts: object, user: str) -> bool:
    """Return whether a row is late in a run with another lag."""
    with Script(counts(lag), EVENTS) as script:
        script.rows(*batches)
        late = et.read_late(script.streaming_query)
        return late.where((F.col("ts") == F.lit(ts)) & (F.col("user") == user)).count() > 0


@pytest.mark.parametrize("seed", range(2))
def test_the_named_substream_is_the_cause(seed: int) -> None:
    """Without its rows of the named batch, the window stays open; without those of others not."""
    batches = random_batches(seed)
    windows = [(f"{at(end - 10)}Z", f"{at(end)}Z") for end in range(10, 60, 10)]
    found = [(window, *cause(batches, window)) for window in windows]
    alone = [one for one in found if one[2] is not None]
    assert alone, "a substream must have held a window alone"
    window, closed, named = alone[0]
    assert closed is not None
    before, last = batches[:closed], batches[closed]
    without = [row for row in last if row[1] != named]
    assert cause([*before, without], window)[0] is None
    only = [row for row in last if row[1] == named]
    assert cause([*before, only], window)[0] == closed


def cause(batches: Batches, window: tuple[str, str]) -> tuple[int | None, str | None]:
    """Return the step whose batch closed a window, and the substream that alone had held it."""
    with Script(counts(), EVENTS) as script:
        for step, batch in enumerate(batches):
            script.rows(batch)
            said = et.why(script.streaming_query, window)
            if "closed at" in said:
                held = re.search(r": '(.)' held it", said)
                return step, held[1] if held else None
    return None, None


def test_a_cause_that_the_ledger_no_longer_has(spark: SparkSession) -> None:
    """It keeps the batches of Spark's setting, and the hundred that these may build on."""
    with (
        settings(spark, {"spark.sql.streaming.minBatchesToRetain": 2}),
        Script(counts(), EVENTS) as script,
    ):
        script.rows(*([(at(second), "a")] for second in range(0, 1200, 10)))
        said = et.why(script.streaming_query, FIRST)
    assert re.search(r"Batch \d+, the oldest .*: the cause is in it or before it.", said)


def test_a_checkpoint_is_enough() -> None:
    """Of a query that has stopped, here with a throttle, which emits the watermark later."""

    def throttled(events: DataFrame) -> WindowBuilder:
        policy = WatermarkPolicies.with_fixed_lag("5s").throttle_by_min_step("1m")
        window = et.window(events).event_time("ts", policy)
        return window.tumbling("10s").agg(F.count("*").alias("rows"))

    with Script(throttled, EVENTS) as script:
        script.rows([(at(0), "a")], [(at(20), "a")], [(at(90), "a")]).stop()
        said = et.why(script.checkpoint, FIRST)
    assert "at 2024-01-01 00:00:15 UTC before, and the throttle let it pass." in said


def test_bad_input() -> None:
    """Each is refused by name."""
    with Script(counts(), EVENTS) as script:
        script.rows([(at(0), "a")])
        query = script.streaming_query
        with pytest.raises(InvalidArgumentError, match="is not a window"):
            et.why(query, "00:00")
        with pytest.raises(InvalidArgumentError, match="not a time"):
            et.why(query, ("now", "then"))
        with pytest.raises(InvalidArgumentError, match="has no window 3; it has 1"):
            et.why(query, FIRST, index=3)
        for bound in ("9999-12-31T23:00:00-05:00", pd.NaT):
            with pytest.raises(InvalidArgumentError, match="outside the years 1 to 9999"):
                et.why(query, (f"{at(0)}Z", bound))  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="row=5 has type int"):
            et.why_late(query, 5)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match="is not a row of the late log"):
            et.why_late(query, Row(_reason="window_closed"))
        with pytest.raises(InvalidArgumentError, match="fits no row"):
            et.why_late(query, "user = 'nobody'")


def test_windows_whose_watermarks_the_ledger_lacks() -> None:
    """In the time of keys, windows are refused with what to use, and late rows say their key."""

    def by_key(events: DataFrame) -> WindowBuilder:
        return counts()(events).key_by("user").watermark_scope("key")

    with Script(by_key, EVENTS) as script:
        script.rows([(at(0), "a")])
        with pytest.raises(InvalidArgumentError, match="a watermark for each key"):
            et.why(script.streaming_query, FIRST)
        script.rows([(at(60), "a")], [(at(1), "a")], [(at(2), "b")])
        text = et.why_late(script.streaming_query, "user = 'a'")
    assert " of its key 'a'. With a lag longer by " in text
