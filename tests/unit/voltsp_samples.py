"""Windows of VoltSP's that nothing is wrong with, to go wrong from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventtide.voltsp import TimeConfig, Windows

from tests.unit.fakes import FakeFrame

if TYPE_CHECKING:
    from eventtide.voltsp import VoltSPWindow

FRAME = FakeFrame("ts", "device", "Amount")


def hourly() -> VoltSPWindow:
    """Return a window by device and event time that nothing is wrong with."""
    return (
        Windows.tumbling_time_window()
        .with_window_span("1h")
        .with_key_extractor("device")
        .with_time_config(TimeConfig("ts"))
        .with_aggregate_definition(lambda a: a.count())
    )


def counted() -> VoltSPWindow:
    """Return a window of rows that nothing is wrong with."""
    rows = Windows.sliding_count_window().with_window_span(100).with_slide(10)
    return rows.with_aggregate_definition(lambda a: a.count())


def session(**config: Any) -> VoltSPWindow:
    """Return a session window with a time config."""
    window = Windows.session_window().with_aggregate_definition(lambda a: a.count())
    return window.with_time_config(TimeConfig(**config))
