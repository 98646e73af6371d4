"""The translation of a VoltSP window to a window of `et.window`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide.policies import WatermarkPolicies
from eventtide.voltsp._aggregates import Aggregate
from eventtide.voltsp._checks import check
from eventtide.voltsp._choices import TimeSource, WatermarkStrategy, member
from eventtide.voltsp._extractors import check_condition, made
from eventtide.windows import WindowBuilder
from eventtide.windows._event_time import PROCESSING_TIME
from eventtide.windows._extractors import EXTRACTED_TIME, extracted, extracted_time, made_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventtide._text.durations import Duration
    from eventtide.policies import WatermarkPolicy
    from eventtide.voltsp._definition import WindowDefinition
    from eventtide.voltsp._time_config import TimeConfig
    from eventtide.windows._key_time import IdleClock
    from eventtide.windows._sizes import Size
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["Bound", "bound", "check_rows"]


@dataclass(frozen=True)
class Bound:
    """A window over rows, built step by step, so that a document error can name its place."""

    window: WindowDefinition
    builder: WindowBuilder
    keys: tuple[str | Column, ...]

    def aggregates(self) -> Iterator[Column]:
        """Yield the aggregates one after the other, each after a check against the rows."""
        rows, name = self._rows(), "aggregate_definition"
        for one in self.window.aggregate_definition.aggregates:
            with made_of(rows, name, one):
                column = made(one) if isinstance(one, Aggregate) else one
                results = rows.groupBy(*self.keys).agg(column)
                _bridge.of(results).schema(results)
            yield column

    def _rows(self) -> DataFrame:
        """Return the rows with all columns that aggregates may use."""
        df = self.builder.df
        if not self.builder.settings.processing_time:
            return df
        return df.selectExpr("*", f"CAST(NULL AS TIMESTAMP) AS {PROCESSING_TIME}")

    def triggers(self, aggregates: Sequence[Column]) -> Iterator[WindowTrigger]:
        """Yield the triggers one after the other, each after a check against the results."""
        for trigger in self.window.triggers:
            if trigger.name == "when":
                check_condition(trigger.value, self._results(aggregates))
            yield trigger

    def _results(self, aggregates: Sequence[Column]) -> DataFrame:
        """Return rows with the columns that a condition may use: the aggregates, not the keys."""
        columns = [F.col(key) if isinstance(key, str) else key for key in self.keys]
        keys = [column.alias(f"_key_{number}") for number, column in enumerate(columns)]
        return (
            self._rows()
            .groupBy(*keys)
            .agg(*aggregates)
            .drop(*(f"_key_{n}" for n in range(len(keys))))
        )

    def finished(
        self, aggregates: Sequence[Column], triggers: Sequence[WindowTrigger]
    ) -> WindowBuilder:
        """Return the window with these aggregates and triggers."""
        builder = self.builder.agg(*aggregates)
        return builder.emit(*triggers) if triggers else builder


def check_rows(df: object) -> None:
    """Reject a value that is not a DataFrame."""
    of_type("df", df, DataFrame, "a Spark DataFrame", "window.over(df)")


def bound(window: WindowDefinition, df: DataFrame) -> Bound:
    """Return the checked window over rows, without its aggregates and triggers."""
    check(window)
    keys = tuple(extracted("key_extractor", key, df) for key in window.key_extractor)
    builder = _timed(window, df)
    builder = builder.key_by(*keys) if keys else builder
    builder = _silent(_shaped(builder, window), window.time_config)
    if "count" not in window.kind:
        builder = builder.profile("voltsp")
    return Bound(window, _given(builder, window), keys)


def _timed(window: WindowDefinition, df: DataFrame) -> WindowBuilder:
    config = window.time_config
    if config.event_time_extractor is None:
        return WindowBuilder(df).processing_time()
    column = extracted_time("event_time_extractor", config.event_time_extractor, df)
    if isinstance(column, Column):
        df, column = df.withColumn(EXTRACTED_TIME, column), EXTRACTED_TIME
    builder = WindowBuilder(df).event_time(column, _policy(config))
    builder = builder.watermark_scope("key" if config.scope is None else config.scope)
    if config.delay_window_close is not None:
        builder = builder.delay(config.delay_window_close)
    if config.max_rows_per_batch is not None:
        builder = builder.max_rows_per_batch(config.max_rows_per_batch)
    return builder if config.late_rule is None else builder.late_rule(config.late_rule)


def _policy(config: TimeConfig) -> WatermarkPolicy:
    if config.policy is not None:
        return config.policy
    strategy = config.watermark_strategy or WatermarkStrategy.MIN_EVENT_TIME
    chosen = member(WatermarkStrategy, "watermark_strategy", strategy)
    if chosen is WatermarkStrategy.MAX_EVENT_TIME:
        return WatermarkPolicies.max_event_time()
    return WatermarkPolicies.min_event_time()


def _shaped(builder: WindowBuilder, window: WindowDefinition) -> WindowBuilder:
    if "count" in window.kind:
        slide = cast("int | None", window.slide)
        return builder.by_count(cast("int", window.window_span), every=slide)
    if window.kind == "session_window":
        gap = cast("Duration", window.time_config.idle_timeout)
        longest, touching = window.maximum_duration, window.touching
        return builder.session(gap, maximum_duration=longest, touching=touching)
    size = cast("Size", window.window_span)
    if window.slide is None:
        return builder.tumbling(size)
    return builder.sliding(size, every=cast("Size", window.slide))


def _silent(builder: WindowBuilder, config: TimeConfig) -> WindowBuilder:
    if config.idle_timeout is not None:
        source = config.idle_timeout_clock or TimeSource.PROCESSING_TIME
        by_events = member(TimeSource, "idle_timeout_clock", source) is TimeSource.EVENT_TIME
        clock: IdleClock = "event_time" if by_events else "processing_time"
        builder = builder.key_idle_timeout(config.idle_timeout, clock=clock)
    if config.key_ttl is not None:
        builder = builder.key_ttl(config.key_ttl)
    return builder if config.heartbeat is None else builder.heartbeat(config.heartbeat)


def _given(builder: WindowBuilder, window: WindowDefinition) -> WindowBuilder:
    """Set the settings that have the same names in both builders."""
    if window.late is not None:
        builder = builder.late(window.late)
    if window.late_to is not None:
        builder = builder.late_to(window.late_to)
    handler = window.exception_handler
    if handler is not None and window.time_config.event_time_extractor is not None:
        builder = builder.on_late(handler.handler, on_error=handler.on_error)
    return builder
