"""The time settings of a window: VoltSP's ``timeConfig``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from eventtide._text.arguments import choice, count, of_type
from eventtide._text.durations import to_iso
from eventtide.policies import WatermarkPolicy
from eventtide.voltsp._choices import TimeSource, WatermarkStrategy, member
from eventtide.windows._extractors import check_extractor
from eventtide.windows._key_time import scope_columns
from eventtide.windows._profiles import LateRule
from eventtide.windows._timing import check_heartbeat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column
    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide.windows._key_time import WatermarkScope

__all__ = ["TimeConfig"]


@dataclass(frozen=True, repr=False)
class TimeConfig:
    """The time settings of a window, from the constructor or from its methods.

    Parameters
    ----------
    event_time_extractor : str or Column, optional
        The event time: a TIMESTAMP column, SQL text or a Column. Without it a row has the time of
        the batch that reads it, and no row is late.
    watermark_strategy : WatermarkStrategy or str, optional
        The rule by which the watermark follows a batch, by default ``MIN_EVENT_TIME``.
    delay_window_close : str or timedelta, optional
        The additional time that a window stays open, zero or more; by default zero.
    idle_timeout : str or timedelta, optional
        Positive. When a key has had no rows for this time, its windows are closed. For a session
        window this is the gap, and required.
    idle_timeout_clock : TimeSource or str, optional
        The time that measures idleness, by default ``PROCESSING_TIME``.
    scope, late_rule, heartbeat, key_ttl, max_rows_per_batch : optional
        As the methods of `WindowBuilder` with the same names; `scope` is `watermark_scope`. By
        default each key has its own watermark; without a key extractor there is one watermark.
    policy : WatermarkPolicy, optional
        Any watermark policy, in place of a strategy.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        A value is not valid. Combinations are checked with the complete window.

    Examples
    --------
    >>> TimeConfig("ts", delay_window_close="5s", idle_timeout_clock="event_time")
    TimeConfig(event_time_extractor='ts', delay_window_close='5s', idle_timeout_clock='event_time')
    """

    event_time_extractor: str | Column | None = None
    watermark_strategy: WatermarkStrategy | str | None = None
    delay_window_close: Duration | None = None
    idle_timeout: Duration | None = None
    idle_timeout_clock: TimeSource | str | None = None
    scope: WatermarkScope | None = None
    late_rule: LateRule | None = None
    heartbeat: Duration | None = None
    key_ttl: Duration | None = None
    max_rows_per_batch: int | None = None
    policy: WatermarkPolicy | None = None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        for name, value in self.given().items():
            _CHECKS[name](name, value)

    def given(self) -> dict[str, object]:
        """Return the settings that are set, as the user wrote them."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if value is not None}

    def with_event_time_extractor(self, extractor: str | Column) -> Self:
        """Set the column or expression of the event time."""
        return replace(self, event_time_extractor=extractor)

    def with_watermark_strategy(self, strategy: WatermarkStrategy | str) -> Self:
        """Set the rule by which the watermark follows the rows of a batch."""
        return replace(self, watermark_strategy=strategy)

    def with_delay_window_close(self, delay: Duration) -> Self:
        """Set the additional time that every window stays open."""
        return replace(self, delay_window_close=delay)

    def with_idle_timeout(self, timeout: Duration) -> Self:
        """Set the time without rows after which the windows of a key close."""
        return replace(self, idle_timeout=timeout)

    def with_idle_timeout_clock(self, clock: TimeSource | str) -> Self:
        """Set the time that measures idleness."""
        return replace(self, idle_timeout_clock=clock)

    def with_scope(self, scope: WatermarkScope) -> Self:
        """Set which keys share a watermark: ``"key"``, ``"global"``, or columns."""
        return replace(self, scope=scope)

    def with_late_rule(self, rule: LateRule) -> Self:
        """Set the rule by which a row is late."""
        return replace(self, late_rule=rule)

    def with_heartbeat(self, interval: Duration) -> Self:
        """Set the maximum interval between checks for idle keys."""
        return replace(self, heartbeat=interval)

    def with_key_ttl(self, ttl: Duration) -> Self:
        """Set the time after its last row at which a key without open windows is purged."""
        return replace(self, key_ttl=ttl)

    def with_max_rows_per_batch(self, rows: int) -> Self:
        """Set the number of rows of a key after which its watermark moves, within batches too."""
        return replace(self, max_rows_per_batch=rows)

    def with_policy(self, policy: WatermarkPolicy) -> Self:
        """Set a watermark policy, in place of a strategy."""
        return replace(self, policy=policy)

    def __repr__(self) -> str:
        """Return the expression that creates this configuration."""
        arguments = (f"{name}={value!r}" for name, value in self.given().items())
        return f"TimeConfig({', '.join(arguments)})"


def _policy(name: str, policy: object) -> None:
    fix = "policy=WatermarkPolicies.with_fixed_lag('5s')"
    of_type(name, policy, WatermarkPolicy, "a WatermarkPolicy", fix)


_CHECKS: Mapping[str, Callable[[str, Any], object]] = MappingProxyType(
    {
        "event_time_extractor": check_extractor,
        "watermark_strategy": lambda name, value: member(WatermarkStrategy, name, value),
        "delay_window_close": to_iso,
        "idle_timeout": lambda name, value: to_iso(name, value, positive=True),
        "idle_timeout_clock": lambda name, value: member(TimeSource, name, value),
        "scope": scope_columns,
        "late_rule": lambda name, value: choice(name, value, get_args(LateRule)),
        "heartbeat": lambda _, value: check_heartbeat(value),
        "key_ttl": to_iso,
        "max_rows_per_batch": lambda name, value: count(name, value, "1"),
        "policy": _policy,
    }
)
