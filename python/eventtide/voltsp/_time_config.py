"""How a window handles time: VoltSP's ``timeConfig``."""

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
    """How a window handles time; made at once, or by its methods one after the other.

    .. versionadded:: 0.1

    Parameters
    ----------
    event_time_extractor : str or Column, optional
        The event time: a TIMESTAMP column, SQL text or a Column. Without it a row has the time of
        the batch that reads it, and none is late.
    watermark_strategy : WatermarkStrategy or str, optional
        How the watermark follows a batch, by default ``MIN_EVENT_TIME``.
    delay_window_close : str or timedelta, optional
        Zero or more: so much longer a window stays open, by default not at all.
    idle_timeout : str or timedelta, optional
        Positive: a key that is silent for so long gives what it holds. The gap of a session window,
        which must have it.
    idle_timeout_clock : TimeSource or str, optional
        What silence is measured by, by default ``PROCESSING_TIME``.
    scope, late_rule, heartbeat, key_ttl, max_rows_per_batch : optional
        As `watermark_scope`, and the methods of these names, of `WindowBuilder`; by default each
        key has a watermark of its own, one where there is no key extractor.
    policy : WatermarkPolicy, optional
        Any policy in place of a strategy.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        A value is wrong. Whether they go together is seen with the whole window.

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
        """Refuse what is wrong, where the caller can see the line."""
        for name, value in self.given().items():
            _CHECKS[name](name, value)

    def given(self) -> dict[str, object]:
        """Return what was said, as it was written.

        .. versionadded:: 0.1
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if value is not None}

    def with_event_time_extractor(self, extractor: str | Column) -> Self:
        """Take the time of a row from a column or an expression.

        .. versionadded:: 0.1
        """
        return replace(self, event_time_extractor=extractor)

    def with_watermark_strategy(self, strategy: WatermarkStrategy | str) -> Self:
        """Say how the watermark follows the rows of a batch.

        .. versionadded:: 0.1
        """
        return replace(self, watermark_strategy=strategy)

    def with_delay_window_close(self, delay: Duration) -> Self:
        """Keep every window open for longer.

        .. versionadded:: 0.1
        """
        return replace(self, delay_window_close=delay)

    def with_idle_timeout(self, timeout: Duration) -> Self:
        """Give what a key holds when it has been silent for so long.

        .. versionadded:: 0.1
        """
        return replace(self, idle_timeout=timeout)

    def with_idle_timeout_clock(self, clock: TimeSource | str) -> Self:
        """Say what silence is measured by.

        .. versionadded:: 0.1
        """
        return replace(self, idle_timeout_clock=clock)

    def with_scope(self, scope: WatermarkScope) -> Self:
        """Say which keys have a watermark together: ``"key"``, ``"global"``, or columns.

        .. versionadded:: 0.1
        """
        return replace(self, scope=scope)

    def with_late_rule(self, rule: LateRule) -> Self:
        """Say when a row is late.

        .. versionadded:: 0.1
        """
        return replace(self, late_rule=rule)

    def with_heartbeat(self, interval: Duration) -> Self:
        """Look for silent keys at least so often.

        .. versionadded:: 0.1
        """
        return replace(self, heartbeat=interval)

    def with_key_ttl(self, ttl: Duration) -> Self:
        """Forget a key so long after its last row, if it has no open window.

        .. versionadded:: 0.1
        """
        return replace(self, key_ttl=ttl)

    def with_max_rows_per_batch(self, rows: int) -> Self:
        """Move the watermark of a key after so many of its rows, wherever batches are cut.

        .. versionadded:: 0.1
        """
        return replace(self, max_rows_per_batch=rows)

    def with_policy(self, policy: WatermarkPolicy) -> Self:
        """Follow any watermark policy in place of a strategy.

        .. versionadded:: 0.1
        """
        return replace(self, policy=policy)

    def __repr__(self) -> str:
        """Return the expression that makes it."""
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
