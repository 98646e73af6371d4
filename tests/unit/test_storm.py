"""Storm's builder: what it makes of a bolt, how it prints itself, and Storm's own configuration."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from eventtide.storm import Count, StormWindow
from eventtide.storm._config import KEYS
from eventtide.storm._extents import shape_of

from tests.unit.fakes import FakeFrame, column

if TYPE_CHECKING:
    from eventtide.windows import WindowBuilder

pytestmark = pytest.mark.usefixtures("columns")

FRAME = FakeFrame("ts", "user", "amount")


def bolt() -> StormWindow:
    """Return a bolt that nothing is wrong with."""
    return StormWindow().with_window("20s", "10s").with_timestamp_field("ts").over(FRAME)


def counted(of: StormWindow) -> WindowBuilder:
    """Return the bolt as a window that counts."""
    return of.agg(column("count(1)"))


def top(window: object) -> None:
    """Do nothing with a window."""


def test_a_bolt_never_changes() -> None:
    """Each method makes another one."""
    begun = StormWindow()
    begun.with_window("20s", "10s").with_lag("5s")
    assert repr(begun) == "StormWindow()"


def test_a_bolt_prints_the_calls_that_make_it() -> None:
    """As it was written, in one order."""
    every = (
        StormWindow()
        .with_window(Count(3), timedelta(seconds=10))
        .with_timestamp_extractor({"orders": "at", "clicks": column("clicked")})
        .with_lag("5s")
        .with_watermark_interval("2s")
        .with_late_tuple_stream("late")
        .with_max_events_in_memory(1000)
        .with_late("log")
        .with_late_to("/data/late")
        .group_by("user", key_ttl="1h")
    )
    assert repr(every) == (
        "StormWindow().with_window(Count(3), datetime.timedelta(seconds=10))"
        ".with_timestamp_extractor({'orders': 'at', 'clicks': Column<'clicked'>})"
        ".with_lag('5s').with_watermark_interval('2s').with_late_tuple_stream('late')"
        ".with_max_events_in_memory(1000).with_late('log').with_late_to('/data/late')"
        ".group_by('user', key_ttl='1h')"
    )
    assert repr(bolt()).endswith(".with_timestamp_field('ts').over(default)")


def test_the_watermark_is_that_of_the_declared_streams() -> None:
    """The lowest of their latest times, minus the lag, told every second."""
    time = counted(bolt()).settings.event_time
    assert time is not None
    assert repr(time.policy) == "WatermarkPolicies.storm(lag='0s').emit_every('1s')"
    assert time.expected == ("default",)
    told = bolt().with_lag("5s").with_watermark_interval("250ms")
    time = counted(told).settings.event_time
    assert time is not None
    assert repr(time.policy) == "WatermarkPolicies.storm(lag='5s').emit_every('250ms')"


def test_streams_of_one_frame_are_declared() -> None:
    """A column says which one a row is of."""
    one = bolt().over(FRAME, stream="user", declared=["a", "b"])
    time = counted(one).settings.event_time
    assert time is not None
    assert (time.substream, time.expected) == ("user", ("a", "b"))


def test_without_a_timestamp_rows_have_the_time_of_the_clock() -> None:
    """And none is late."""
    window = counted(StormWindow().with_window(Count(3), Count(2)).over(FRAME))
    assert window.settings.processing_time
    assert window.settings.event_time is None


@pytest.mark.parametrize(
    ("length", "slide", "shape"),
    [
        ("20s", "10s", "sliding('20s', every='10s')"),
        ("20s", "20s", "tumbling('20s')"),
        ("20s", "20000ms", "tumbling('20s')"),
        ("25s", "10s", "with_window('25s', '10s')"),
        ("5s", "10s", "with_window('5s', '10s')"),
        ("30m", "1ms", "with_window('30m', '1ms')"),
        (Count(3), "10s", "with_window(Count(3), '10s')"),
        ("20s", Count(1), "with_window('20s', Count(1))"),
        (Count(3), Count(3), "with_window(Count(3), Count(3))"),
    ],
)
def test_aggregates_are_made_of_frames_where_they_can(length: Any, slide: Any, shape: str) -> None:
    """A function needs the rows, whatever the sizes."""
    assert repr(shape_of(length, slide, None)) == shape
    executed = bolt().with_tumbling_window(length).execute(top, "n long")
    assert repr(executed.settings.shape) == f"with_window({length!r}, {length!r})"


def test_a_window_without_a_slide_slides_with_each_row() -> None:
    """As Storm's does."""
    assert bolt().with_window("20s").slide == Count(1)


def test_a_slide_above_the_length_is_allowed_and_warned_of() -> None:
    """Rows between windows are in none."""
    with pytest.warns(UserWarning, match="slide='10s' is longer than length='5s'"):
        bolt().with_window("5s", "10s")
    with pytest.warns(UserWarning, match=r"slide=Count\(5\) is longer than length=Count\(3\)"):
        bolt().with_window(Count(3), Count(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bolt().with_window(Count(3), "10s")
        bolt().with_window("20s", Count(50))


def test_the_window_is_explained() -> None:
    """By Storm's rules, with what the function is told."""
    text = counted(bolt().with_lag("5s").group_by("user")).explained()
    assert "windows of 20s, one begins every 10s" in text
    assert "holds rows with start < time <= end, closes when watermark > end" in text
    assert "a row is late when its time is below the watermark" in text
    rows = bolt().with_window(Count(3), Count(2)).execute(top, "user string").explained()
    assert "windows of the last 3 rows, one every 2 rows" in rows
    assert "closes when watermark >= the times of its rows" in rows
    assert "execute(top, 'user string')" in rows
    assert "results: the rows that the function returns for each window" in rows
    made = bolt().with_window(Count(3)).execute(top, "user string", rows="arrow")
    assert repr(made).endswith(".execute(top, 'user string', rows='arrow')")


def test_storms_own_configuration_is_read() -> None:
    """Every key, with numbers as Storm has them; others are of no concern."""
    config = {
        "topology.workers": 4,
        "topology.bolts.outgoing.overflow.buffer.enable": False,
        "topology.bolts.window.length.duration.ms": 20_000,
        "topology.bolts.window.sliding.interval.count": 3,
        "topology.bolts.tuple.timestamp.field.name": "ts",
        "topology.bolts.tuple.timestamp.max.lag.ms": 5_000,
        "topology.bolts.watermark.event.interval.ms": 250,
        "topology.bolts.late.tuple.stream": "late",
    }
    assert repr(StormWindow.from_config(config)) == (
        "StormWindow().with_window('20s', Count(3)).with_timestamp_field('ts').with_lag('5s')"
        ".with_watermark_interval('250ms').with_late_tuple_stream('late')"
    )
    others = {
        "topology.bolts.window.length.count": 100,
        "topology.bolts.window.sliding.interval.duration.ms": 1_500,
    }
    read = StormWindow.from_config(others)
    assert repr(read) == "StormWindow().with_window(Count(100), '1s 500ms')"
    assert set(KEYS) == {
        key for key in {**config, **others} if ".bolts." in key and "buffer" not in key
    }


def test_a_configuration_may_leave_out_what_it_does_not_say() -> None:
    """Windows slide with each row then."""
    read = StormWindow.from_config({"topology.bolts.window.length.count": 5})
    assert repr(read) == "StormWindow().with_window(Count(5), Count(1))"
    assert repr(StormWindow.from_config({})) == "StormWindow()"
