"""Every golden case of Storm comes out of a real streaming query, through a Python function."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from eventtide.errors import InvalidArgumentError
from eventtide.storm import Count, StormWindow
from eventtide.testing import Script

from tests.spark.golden_words import play
from tests.spark.storm_cases import (
    ROWS,
    SHOWN,
    at,
    bolt_of,
    cases,
    millis,
    played,
    shown,
    unknown_words,
)
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.storm_cases import Case, Step

pytestmark = pytest.mark.filterwarnings("ignore:slide=.* is longer than length=")

OURS: dict[str, list[dict[str, Any]]] = {
    "storm-bug-boundary-loss-sliding": [
        {"step": 2, "start": -10, "end": 10, "ids": ["a"]},
        {"step": 5, "start": 0, "end": 20, "ids": ["a", "b", "c"]},
        {"step": 5, "start": 10, "end": 30, "ids": ["b", "c"]},
    ]
}
"""Where a row would be lost: a window fires when the watermark is above its end."""

EXPIRED = {("storm-seed-example", 28830000): ["e6"], ("storm-wm-event-time-window", 830): ["6"]}
"""What leaves while no window is given: Storm tells nobody, and sums of what is new and expired
would go wrong."""


@pytest.mark.parametrize("case", cases("steps"), ids=lambda case: str(case.get("id")))
def test_a_query_does_what_the_case_says(
    spark: SparkSession, golden: Callable[[str], None], case: Case
) -> None:
    """Watermarks, windows with their rows, and late rows."""
    play(golden, case, unknown_words(case))
    expect = {**case["expect"], **case.get("expect_documented", {})}
    if case["id"] in OURS:
        expect["windows"] = OURS[case["id"]]
    with settings(spark, WITHOUT_CODE):
        steps = list(played(spark, case, "arrow" if case["status"] == "executed" else "pandas"))
    for step in steps:
        compare(case["id"], expect, step)
    shown_ids = {name for step in steps for window in step.windows for name in window.ids}
    assert not shown_ids & {*expect.get("pending", []), *expect.get("in_no_window", [])}
    assert_nothing_is_lost(case, shown_ids, {name for step in steps for name in step.late})


def compare(case: str, expect: dict[str, Any], step: Step) -> None:
    """Compare one step with what the case says of it."""
    if "windows" in expect:
        wanted = [window for window in expect["windows"] if window["step"] == step.number]
        fields = [(one["start"], one["end"], frozenset(one["ids"])) for one in wanted]
        assert Counter((w.start, w.end, w.ids) for w in step.windows) == Counter(fields)
        for window in (one for one in wanted if "new" in one):
            (given,) = (one for one in step.windows if one.end == window["end"])
            assert given.new == set(window["new"])
            expired = EXPIRED.get((case, given.end), window["expired"])
            assert (given.end, given.expired) == (given.end, frozenset(expired))
    for told in expect.get("watermarks", []):
        if told["step"] == step.number:
            assert step.watermark == told["value"]
    # what is late shows at the watermark after it
    if "late" in expect:
        assert step.late <= {row["id"] for row in expect["late"]}


def assert_nothing_is_lost(case: Case, in_windows: set[str], late: set[str]) -> None:
    """Each row is in windows, late, or waits; or it lies between windows."""
    expect = {**case["expect"], **case.get("expect_documented", {})}
    if "late" in expect:
        assert late == {row["id"] for row in expect["late"]}
    assert not in_windows & late
    if "pending" in expect and case["id"] not in OURS and "count" not in case["config"]["slide"]:
        rows = {step["id"] for step in case["steps"] if "id" in step}
        assert in_windows | late | set(expect["pending"]) == rows


def test_windows_of_so_many_rows_have_the_last_of_them(golden: Callable[[str], None]) -> None:
    """Each ends after so many more."""
    pairs = the_property("storm-prop-count", golden)["length_slide_counts"]
    for length, slide in pairs:
        numbers = range(1, 2 * slide + 4)
        bolt = StormWindow().with_window(Count(length), Count(slide)).with_timestamp_field("ts")
        given = all_windows(bolt, list(numbers))
        ends = [n for n in numbers if n % slide == 0]
        assert given == {(n, frozenset(range(max(0, n - length) + 1, n + 1))) for n in ends}


def test_windows_of_time_have_all_rows_of_their_time(golden: Callable[[str], None]) -> None:
    """Rows are dense, and the watermark is a lag behind them."""
    config = the_property("storm-prop-time", golden)
    times = list(range(100, 40001, 100))
    watermark = times[-1] - config["lag_ms"]
    for length, slide in config["length_slide_seconds"]:
        told = {"length": {"ms": length * 1000}, "slide": {"ms": slide * 1000}, **config}
        given = all_windows(bolt_of(told), times)
        wanted = {}
        for end in range(slide * 1000, watermark, slide * 1000):
            wanted[end] = frozenset(ts for ts in times if end - length * 1000 < ts <= end)
        assert given == set(wanted.items())


def the_property(name: str, golden: Callable[[str], None]) -> dict[str, Any]:
    """Return what a case says of many windows; it waits where a folder lacks it."""
    found = next((case for case in cases("property") if case.get("id") == name), None)
    play(
        golden, found or {"id": name}, unknown_words(found) if found else "it is not in the folder"
    )
    return dict(found["config"]) if found else {}


def all_windows(bolt: StormWindow, times: list[int]) -> set[tuple[int, frozenset[int]]]:
    """Return all windows over rows that are named after their times, in milliseconds."""
    with Script(lambda df: bolt.over(df).execute(shown, SHOWN), ROWS, clock=at(500)) as script:
        script.rows([(str(ts), "s1", at(ts)) for ts in times]).clock("+1s")
        rows = script.results()
    return {
        (millis(row.end.replace(tzinfo=at(0).tzinfo)), frozenset(map(int, row.ids))) for row in rows
    }


@pytest.mark.parametrize("case", cases("error"), ids=lambda case: str(case.get("id")))
def test_what_the_builder_refuses(
    spark: SparkSession, golden: Callable[[str], None], case: Case
) -> None:
    """Each error of the cases, by its name."""
    play(golden, case, unknown_words(case))
    config = case["config"]
    rows = spark.createDataFrame([], ROWS)
    bolt = StormWindow().with_window("10s", "5s")
    for value in config.get("length_or_slide", []):
        for wrong in (lambda: Count(value), lambda: bolt.with_window(f"{value}ms", "5s")):  # noqa: B023
            with pytest.raises(InvalidArgumentError):
                wrong()
        with pytest.raises(InvalidArgumentError):
            bolt.with_window("10s", f"{value}ms")
    if "late_stream" in config:
        with pytest.raises(InvalidArgumentError, match="late_tuple_stream"):
            executed(bolt.with_late_tuple_stream(config["late_stream"]), rows)
    elif isinstance(config.get("timestamp"), str):
        named = bolt.with_timestamp_field(config["timestamp"])
        with pytest.raises(InvalidArgumentError, match="is not a column"):
            executed(named, rows.drop(config["timestamp"]))
    elif "timestamp" in config:
        first, second, *_ = config["timestamp"]
        with pytest.raises(InvalidArgumentError, match="is already set"):
            bolt.with_timestamp_extractor(first).with_timestamp_extractor(second)


def executed(bolt: StormWindow, rows: DataFrame) -> None:
    """Put a bolt over rows."""
    bolt.over(rows).execute(shown, SHOWN)


def test_there_are_cases() -> None:
    """A folder without any would pass."""
    assert len(cases("steps")) > 20
    assert len(cases("property")) == 2
    assert len(cases("error")) == 4
