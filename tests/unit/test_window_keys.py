"""Keys with time of their own, silence, sessions, counts and triggers: what crosses and is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowBuilder, WindowTrigger

from tests.any_kind import OfAnyKind
from tests.unit.fakes import FakeFrame, column

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.fakes import FakeDoor

pytestmark = pytest.mark.usefixtures("columns")

N = column("count(1) AS n")
MIN = WatermarkPolicies.min_event_time()


def by_device(frame: FakeFrame) -> WindowBuilder:
    """Return a window in which each device has its own time."""
    keyed = OfAnyKind(frame).event_time("ts", MIN).key_by("device").watermark_scope("key")
    return keyed.tumbling("1m").agg(N)


def handle(df: object, context: object) -> None:
    """Take late rows."""


def test_the_columns_of_a_scope_cross_before_the_options(door: FakeDoor, frame: FakeFrame) -> None:
    """A scope that is none of columns has no columns."""
    assert by_device(frame).results is not None
    assert by_device(frame).watermark_scope(["site", column("upper(site)")]).results is not None
    first, second = door.calls
    sizes = {"kind": "tumbling", "size": "PT60S", "scope": "key"}
    assert first.options == {"event_time": "ts", **sizes}
    assert "scope" not in first.columns
    assert second.columns["scope"] == ["java site", "java upper(site)"]
    assert second.options["scope"] == "group"


def test_a_column_may_have_the_name_of_a_scope(door: FakeDoor) -> None:
    """In a list it is a column."""
    frame = FakeFrame("key", "ts")
    assert by_device(FakeFrame("device", "ts")).key_by("ts").watermark_scope("key").results
    keyed = et.window(frame).key_by("ts").watermark_scope(["key"]).tumbling("1m").agg(N)
    assert keyed.results is not None
    assert [call.columns.get("scope") for call in door.calls] == [None, ["java key"]]


def test_processing_time_is_that_of_ingestion(door: FakeDoor, frame: FakeFrame) -> None:
    """The rows get their time first, and the window is over it."""
    window = et.window(frame).processing_time().tumbling("1m").agg(N)
    assert window.results is window.results
    [stamped, crossed] = door.calls
    assert (stamped.name, stamped.rows) == ("with_ingestion_time", frame._jdf)
    assert stamped.options == {"into": "_processing_time"}
    assert stamped.watermark == WatermarkPolicies.with_ingestion_time().to_options()
    assert (crossed.name, crossed.rows, crossed.watermark) == ("window", "a java frame", {})
    assert crossed.options["event_time"] == "_processing_time"


def test_the_condition_of_a_trigger_crosses_as_a_column(door: FakeDoor, frame: FakeFrame) -> None:
    """As that of early results does."""
    for condition in ("n >= 9", column("last")):
        assert by_device(frame).emit("at_window_end", WindowTrigger.when(condition)).results
    conditions = [call.columns["when"] for call in door.calls]
    assert conditions == [["java expr n >= 9"], ["java last"]]
    assert by_device(frame).emit("at_window_end").settings.condition is None


def test_such_windows_print_the_calls_that_make_them(frame: FakeFrame) -> None:
    """With every argument as it was written, defaults left out."""
    window = (
        by_device(frame)
        .session("5m", maximum_duration="1h")
        .key_idle_timeout("5m", clock="event_time")
        .key_ttl("2h")
        .heartbeat("30s")
        .on_late(handle, on_error="log")
        .emit("AT_WINDOW_END", WindowTrigger.every_rows(9))
    )
    assert repr(window) == (
        "et.window(df).event_time('ts', policy=WatermarkPolicies.min_event_time())"
        ".key_by('device').watermark_scope('key').session('5m', maximum_duration='1h')"
        ".key_idle_timeout('5m', clock='event_time').key_ttl('2h').heartbeat('30s')"
        ".on_late(handle, on_error='log')"
        ".emit(WindowTrigger.at_window_end, WindowTrigger.every_rows(9))"
        ".agg(Column<'count(1) AS n'>)"
    )
    silent = et.window(frame).processing_time().key_idle_timeout("5m").on_late(handle)
    assert repr(silent) == "et.window(df).processing_time().key_idle_timeout('5m').on_late(handle)"


def test_a_window_by_key_explains_itself(frame: FakeFrame) -> None:
    """Which clock a key has, when a silent one is closed, what triggers there are."""
    window = (
        by_device(frame)
        .session("5m", maximum_duration="1h", touching="merge")
        .key_idle_timeout("5m")
        .key_ttl("2h")
        .on_late(handle)
        .emit("at_window_end", WindowTrigger.every("10s"))
    )
    assert window.explained().splitlines() == [
        "sessions with a gap of 5m, 1h long at the most, rows one gap apart are together",
        "   event time: ts, WatermarkPolicies.min_event_time()",
        "   keys: device",
        "   watermark: one for each key, by its own rows",
        "   an idle key: all of its windows close after 5m by the clock",
        "   idle keys are checked at least every 1m",
        "   a key without windows is forgotten after 2h",
        "   aggregates: count(1) AS n",
        "   holds rows with start <= time < end, closes when watermark >= end",
        "   a row is late when its session is closed",
        "   late rows are counted and kept in the late log",
        "   late rows are given to handle, whose errors stop the query",
        "   results: at its end, every 10s; each of all rows so far, with the name of its trigger",
        "stock Spark: has no such window",
    ]


@pytest.mark.parametrize(
    ("describe", "line"),
    [
        (lambda w: w.session("5m"), "sessions with a gap of 5m\n"),
        (lambda w: w.session("5m", touching="separate"), "rows one gap apart are separate"),
        (lambda w: w.session("5m"), "stock Spark: has such sessions, by one watermark"),
        (lambda w: w.by_count(100), "windows of 100 rows, side by side\n"),
        (lambda w: w.by_count(100, every=1), "windows of 100 rows, one ends every 1 row\n"),
        (lambda w: w.by_count(1), "in the order of their arrival, closes with its last row\n"),
        (lambda w: w.by_count(1), "no row is late\n"),
        (lambda w: w.by_count(1), "stock Spark: has no such window"),
        (lambda w: w.watermark_scope("global"), "watermark: one for all keys, by the rows of all"),
        (lambda w: w.watermark_scope(["site"]), "watermark: one for each site, by its own rows"),
        (
            lambda w: w.watermark_scope("key").max_rows_per_batch(2),
            "the watermark moves after 2 rows of its key, and after each batch",
        ),
        (lambda w: w.key_idle_timeout("5m", clock="event_time"), "by the watermark over all keys"),
        (lambda w: w.heartbeat("2s"), "idle keys are checked at least every 2s"),
        (lambda w: w.on_late(handle, on_error="log"), "given to handle, whose errors are logged"),
        (lambda w: w.emit("on_update"), "results: after each batch with rows of it; each of all"),
        (lambda w: w.emit(WindowTrigger.every_rows(9)), "every 9 rows; each of all rows so far"),
        (lambda w: w.emit(WindowTrigger.when("n > 3")), "results: when n > 3; each of all rows"),
        (lambda w: w.emit(WindowTrigger.when(column("n > 3"))), "results: when n > 3; each of"),
    ],
)
def test_an_explanation_says_what_was_asked_for(
    frame: FakeFrame, describe: Callable[[WindowBuilder], WindowBuilder], line: str
) -> None:
    """Each setting in words."""
    assert line in describe(by_device(frame).key_idle_timeout("1m")).explained()


def test_processing_time_is_explained(frame: FakeFrame) -> None:
    """No row can be late."""
    text = et.window(frame).processing_time().tumbling("1m").agg(N).explained()
    assert "event time: none, each row has the time of the batch that reads it" in text
    assert "no row is late: the watermark is the clock, and so is the time of a row" in text
    assert "late rows" not in text.replace("drops late rows", "")
