"""VoltSP's builder: each window is one of `et.window`, and prints the calls that make it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import timedelta
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide import WindowTrigger as Trigger
from eventtide.voltsp import TimeConfig, TimeSource, WatermarkStrategy, Windows
from eventtide.windows._event_time import EventTime

from tests.unit.fakes import FakeFrame, called, column

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from eventtide.voltsp import VoltSPWindow

    from tests.unit.fakes import FakeDoor

pytestmark = pytest.mark.usefixtures("columns")

MIN, MAX = WatermarkPolicies.min_event_time(), WatermarkPolicies.max_event_time()
N = called("count", "*").alias("count")
BY_TS = TimeConfig(event_time_extractor="ts")


def handle(df: object, context: object) -> None:
    """Take late rows."""


def hourly() -> VoltSPWindow:
    """Return the window of the page's first example, but for its time."""
    return (
        Windows.tumbling_time_window()
        .with_window_span("1h")
        .with_key_extractor("device")
        .with_aggregate_definition(lambda builder: builder.count())
    )


def native(frame: FakeFrame) -> WindowBuilder:
    """Return what all windows by device and event time have in common."""
    keyed = et.window(frame).event_time("ts", MIN).key_by("device").watermark_scope("key")
    return keyed.profile("voltsp").agg(N)


def session() -> VoltSPWindow:
    """Return a session window without a time config."""
    return (
        Windows.session_window()
        .with_key_extractor("device")
        .with_aggregate_definition(lambda builder: builder.count())
    )


def counted(window: VoltSPWindow) -> VoltSPWindow:
    """Return a window of rows that counts them."""
    return window.with_aggregate_definition(lambda builder: builder.count())


SAME: list[tuple[VoltSPWindow, Callable[[FakeFrame], WindowBuilder]]] = [
    # the scenarios of the page, in its order
    (
        hourly().with_exception_handler(handle),
        lambda f: (
            et.window(f).processing_time().key_by("device").tumbling("1h").profile("voltsp").agg(N)
        ),
    ),
    (hourly().with_time_config(BY_TS), lambda f: native(f).tumbling("1h")),
    (
        hourly().with_time_config_builder(
            lambda builder: builder.with_event_time_extractor("ts").with_delay_window_close("5s")
        ),
        lambda f: native(f).tumbling("1h").delay("5s"),
    ),
    (
        hourly()
        .with_time_config_builder(
            lambda builder: (
                builder.with_event_time_extractor("ts")
                .with_watermark_strategy(WatermarkStrategy.MAX_EVENT_TIME)
                .with_delay_window_close(timedelta(seconds=3))
                .with_idle_timeout("5m")
            )
        )
        .with_exception_handler(handle, "log"),
        lambda f: (
            native(f)
            .event_time("ts", MAX)
            .tumbling("1h")
            .delay(timedelta(seconds=3))
            .key_idle_timeout("5m")
            .on_late(handle, on_error="log")
        ),
    ),
    (
        hourly().with_time_config_builder(
            lambda builder: (
                builder.with_event_time_extractor("ts")
                .with_idle_timeout("5m")
                .with_idle_timeout_clock(TimeSource.EVENT_TIME)
            )
        ),
        lambda f: native(f).tumbling("1h").key_idle_timeout("5m", clock="event_time"),
    ),
    # names of enumerations as text
    (
        hourly().with_time_config(
            TimeConfig("ts", "max_event_time", None, "5m", idle_timeout_clock="Processing_Time")
        ),
        lambda f: native(f).event_time("ts", MAX).tumbling("1h").key_idle_timeout("5m"),
    ),
    # no key extractor: one watermark, of the one key that all rows have
    (
        counted(Windows.tumbling_time_window().with_window_span("1m")).with_time_config(BY_TS),
        lambda f: (
            et.window(f)
            .event_time("ts", MIN)
            .watermark_scope("key")
            .tumbling("1m")
            .profile("voltsp")
            .agg(N)
        ),
    ),
    (
        counted(Windows.sliding_time_window().with_slide("1s").with_window_span("1m"))
        .with_key_extractor("device")
        .with_time_config(BY_TS),
        lambda f: native(f).sliding("1m", every="1s"),
    ),
    # sessions: the idle timeout is the gap, and that of the key
    (
        session().with_time_config(TimeConfig("ts", idle_timeout="5m")),
        lambda f: native(f).session("5m").key_idle_timeout("5m"),
    ),
    (
        session()
        .with_time_config(TimeConfig(idle_timeout="5m"))
        .with_maximum_duration("1h")
        .with_touching("merge"),
        lambda f: (
            et.window(f)
            .processing_time()
            .key_by("device")
            .session("5m", maximum_duration="1h", touching="merge")
            .key_idle_timeout("5m")
            .profile("voltsp")
            .agg(N)
        ),
    ),
    # rows are counted whatever their time
    (
        counted(Windows.tumbling_count_window().with_window_span(100)),
        lambda f: et.window(f).processing_time().by_count(100).agg(N),
    ),
    (
        counted(Windows.sliding_count_window().with_window_span(100).with_slide(10))
        .with_key_extractor("device", "site")
        .with_time_config(TimeConfig(idle_timeout="5m", heartbeat="1s")),
        lambda f: (
            et.window(f)
            .processing_time()
            .key_by("device", "site")
            .by_count(100, every=10)
            .key_idle_timeout("5m")
            .heartbeat("1s")
            .agg(N)
        ),
    ),
    # what is ours
    (
        hourly()
        .with_time_config(
            BY_TS.with_scope(["device"])
            .with_late_rule("behind_watermark")
            .with_heartbeat("2s")
            .with_key_ttl("1h")
            .with_policy(WatermarkPolicies.with_fixed_lag("5s"))
        )
        .with_late("log")
        .with_late_to("/data/late")
        .emit(Trigger.at_window_end, Trigger.every("10s"), "on_update"),
        lambda f: (
            native(f)
            .event_time("ts", WatermarkPolicies.with_fixed_lag("5s"))
            .watermark_scope(["device"])
            .tumbling("1h")
            .late_rule("behind_watermark")
            .heartbeat("2s")
            .key_ttl("1h")
            .late("log")
            .late_to("/data/late")
            .emit(Trigger.at_window_end, Trigger.every("10s"), Trigger.on_update)
        ),
    ),
    (
        hourly().with_key_extractor("device").with_time_config(BY_TS.with_max_rows_per_batch(1)),
        lambda f: (
            native(f).key_by("device").watermark_scope("key").tumbling("1h").max_rows_per_batch(1)
        ),
    ),
    (
        hourly().with_time_config(BY_TS.with_scope("global")),
        lambda f: native(f).watermark_scope("global").tumbling("1h"),
    ),
]


@pytest.mark.parametrize(("fluent", "same"), SAME, ids=lambda case: getattr(case, "kind", ""))
def test_both_ways_make_the_same_window(
    frame: FakeFrame, fluent: VoltSPWindow, same: Callable[[FakeFrame], WindowBuilder]
) -> None:
    """The same settings, the same options, the same words, and it is whole."""
    window, expected = fluent.over(frame), same(frame)
    assert window.settings.to_options() == expected.settings.to_options()
    assert repr(window) == repr(expected)
    assert window.explained() == expected.explained()


def test_the_results_are_those_of_the_window(door: FakeDoor, frame: FakeFrame) -> None:
    """They cross as any window does."""
    assert hourly().with_time_config(BY_TS).over(frame).results._jdf == "a java frame"
    assert native(frame).tumbling("1h").results is not None
    first, second = door.calls
    assert first == second


def test_extractors_may_be_expressions(frame: FakeFrame) -> None:
    """Keys cross as columns; an event time becomes a column of the rows first."""
    window = (
        hourly()
        .with_key_extractor("upper(site)", column("day"), "meta.user")
        .with_time_config(BY_TS.with_event_time_extractor("to_timestamp(at)"))
        .over(frame)
    )
    assert window.df.columns[-1] == "_extracted_event_time"
    assert "to_timestamp(at)" in str(window.df._jdf)
    time = window.settings.event_time
    assert isinstance(time, EventTime)
    assert time.column == "_extracted_event_time"
    keys = "[Column<'expr upper(site)'>, Column<'day'>, 'meta.user']"
    assert str(list(window.settings.key_by)) == keys
    given = hourly().with_time_config(TimeConfig(column("at")))
    assert "Column<'at'>" in str(given.over(frame).df._jdf)


@pytest.mark.parametrize("name", ["user id", "user-id", "`a b`"])
def test_a_column_of_any_name_is_a_column(name: str) -> None:
    """If it is there, or quoted."""
    frame = FakeFrame("user id", "user-id", "a b")
    assert hourly().with_key_extractor(name).over(frame).settings.key_by == (name,)


@pytest.mark.parametrize("extractor", ["ts::timestamp", "meta.ts::timestamp", "a.b", "Amount"])
def test_a_cast_is_no_method_of_java(extractor: str) -> None:
    """A class has an upper-case letter in front of its method."""
    assert TimeConfig(extractor).event_time_extractor == extractor


def test_aggregates_are_made_for_the_rows(frame: FakeFrame) -> None:
    """Of columns, of expressions, and of any kind."""
    window = hourly().with_aggregate_definition(
        lambda builder: (
            builder.count()
            .count("seen", "Amount")
            .sum("total", "Amount")
            .avg("mean", "Amount * 2")
            .min("first", "ts")
            .max("last", column("ts"))
            .expression("ok", "count_if(Amount > 0)")
            .agg(column("collect_set(site)"))
        )
    )
    assert [str(one) for one in window.over(frame).settings.agg] == [
        "Column<'count(*) AS count'>",
        "Column<'count(Amount) AS seen'>",
        "Column<'sum(Amount) AS total'>",
        "Column<'avg(java expr Amount * 2) AS mean'>",
        "Column<'min(ts) AS first'>",
        "Column<'max(java ts) AS last'>",
        "Column<'expr count_if(Amount > 0) AS ok'>",
        "Column<'collect_set(site)'>",
    ]


def test_a_window_never_changes() -> None:
    """A method leaves it as it was; called again it replaces what it said."""
    window = hourly()
    assert window.with_window_span("2h").window_span == "2h"
    assert window.window_span == "1h"
    assert window.with_time_config(BY_TS).with_time_config(TimeConfig()).time_config == TimeConfig()
    with pytest.raises(FrozenInstanceError):
        window.slide = "1s"  # type: ignore[misc]


def test_a_window_prints_the_calls_that_make_it() -> None:
    """With every argument as it was written."""
    window = (
        session()
        .with_key_extractor("device", column("day"))
        .with_time_config(
            TimeConfig("ts", WatermarkStrategy.MAX_EVENT_TIME, idle_timeout=timedelta(minutes=5))
        )
        .with_aggregate_definition(lambda a: a.count().sum("total", "amount").agg(column("n")))
        .with_exception_handler(handle, "log")
        .with_maximum_duration("1h")
        .with_late_to("/data/late")
        .emit("at_window_end", Trigger.every_rows(9))
    )
    assert repr(window) == (
        "Windows.session_window().with_key_extractor('device', Column<'day'>)"
        ".with_time_config(TimeConfig(event_time_extractor='ts',"
        " watermark_strategy=WatermarkStrategy.MAX_EVENT_TIME,"
        " idle_timeout=datetime.timedelta(seconds=300)))"
        ".with_aggregate_definition(lambda a: a.count().sum('total', 'amount')"
        ".agg(Column<'n'>)).with_exception_handler(handle, on_handler_error='log')"
        ".with_maximum_duration('1h').with_late_to('/data/late')"
        ".emit(WindowTrigger.at_window_end, WindowTrigger.every_rows(9))"
    )
    slides = Windows.sliding_count_window().with_window_span(9).with_slide(3)
    assert repr(slides) == "Windows.sliding_count_window().with_window_span(9).with_slide(3)"
    assert eval(repr(slides), {"Windows": Windows}).slide == 3  # noqa: S307 - our own text


def test_each_method_of_a_time_config_sets_its_value() -> None:
    """Both ways to write it are equal."""
    policy = WatermarkPolicies.with_fixed_lag("5s")
    given = {
        "event_time_extractor": "ts",
        "watermark_strategy": "MIN_EVENT_TIME",
        "delay_window_close": "5s",
        "idle_timeout": "5m",
        "idle_timeout_clock": TimeSource.EVENT_TIME,
        "scope": "global",
        "late_rule": "frame_closed",
        "heartbeat": "1s",
        "policy": policy,
    }
    config = TimeConfig()
    for name, value in given.items():
        config = getattr(config, f"with_{name}")(value)
    assert config == TimeConfig(**given)  # type: ignore[arg-type]
    assert config.given() == given
