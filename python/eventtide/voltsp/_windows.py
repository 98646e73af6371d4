"""The entry point of VoltSP windows."""

from __future__ import annotations

from eventtide._text.names import Namespace
from eventtide.voltsp._window import VoltSPWindow

__all__ = ["Windows"]


class Windows(metaclass=Namespace):
    """VoltSP's windows, with VoltSP's names in snake_case.

    Each method returns a builder; `VoltSPWindow.over` creates the window over rows.

    Examples
    --------
    >>> from eventtide import WindowTrigger
    >>> from eventtide.voltsp import WatermarkStrategy, Windows
    >>> hourly = (
    ...     Windows.tumbling_time_window()
    ...     .with_window_span("1h")
    ...     .with_key_extractor("user_id")
    ...     .with_time_config_builder(
    ...         lambda builder: builder.with_event_time_extractor("ts")
    ...         .with_watermark_strategy(WatermarkStrategy.MIN_EVENT_TIME)
    ...         .with_idle_timeout("5m")
    ...     )
    ...     .with_aggregate_definition(lambda builder: builder.count().sum("total", "amount"))
    ...     .emit(WindowTrigger.at_window_end)
    ... )
    >>> hourly.over(events).results.writeStream.format("console")  # doctest: +SKIP
    """

    @staticmethod
    def tumbling_time_window() -> VoltSPWindow:
        """Begin adjacent windows, which require a span."""
        return VoltSPWindow("tumbling_time_window")

    @staticmethod
    def sliding_time_window() -> VoltSPWindow:
        """Begin overlapping windows, which require a span and a slide."""
        return VoltSPWindow("sliding_time_window")

    @staticmethod
    def session_window() -> VoltSPWindow:
        """Begin sessions, which require an idle timeout as their gap."""
        return VoltSPWindow("session_window")

    @staticmethod
    def tumbling_count_window() -> VoltSPWindow:
        """Begin adjacent count windows, which require a span in rows."""
        return VoltSPWindow("tumbling_count_window")

    @staticmethod
    def sliding_count_window() -> VoltSPWindow:
        """Begin overlapping count windows, which require a span and a slide in rows."""
        return VoltSPWindow("sliding_count_window")
