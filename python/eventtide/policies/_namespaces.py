"""The namespaces of the policies, with Jet's names in snake_case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.names import Namespace
from eventtide.policies._by_clock import (
    LimitingLagAndDelay,
    LimitingLagAndLull,
    LimitingRealTimeLag,
    LimitingTimestampAndWallClockLag,
    WithIngestionTime,
)
from eventtide.policies._by_rows import (
    MaxEventTime,
    MinEventTime,
    MinEventTimeOfAll,
    Storm,
    WatermarkFrom,
    WithFixedLag,
)
from eventtide.policies._by_substream import BySubstream
from eventtide.policies._by_target import WithLateTarget
from eventtide.policies._combined import MaxOf, MinOf
from eventtide.policies._from_jar import FromJar

if TYPE_CHECKING:
    from eventtide._text.durations import Duration
    from eventtide.policies._base import WatermarkPolicy

__all__ = ["PunctuationPolicies", "WatermarkPolicies"]


class WatermarkPolicies(metaclass=Namespace):
    """The policies of Jet 0.5's class of the same name, and later policies.

    Each attribute is the policy's class, so its parameters are documented there. Durations are
    text (``"5s"``, ``"PT5S"``) or ``timedelta``.

    Examples
    --------
    >>> WatermarkPolicies.with_fixed_lag("5s").throttle_by_frame("1s")
    WatermarkPolicies.with_fixed_lag(lag='5s').throttle_by_frame('1s')
    >>> lull = WatermarkPolicies.limiting_lag_and_lull(lag="5s", max_lull="30s")
    >>> WatermarkPolicies.max_of(lull, WatermarkPolicies.limiting_real_time_lag("1h")).explain()
    max_of: the highest of these; known as soon as one of them is
    ...
    """

    with_fixed_lag = WithFixedLag
    with_late_target = WithLateTarget
    limiting_lag_and_delay = LimitingLagAndDelay
    limiting_lag_and_lull = LimitingLagAndLull
    limiting_timestamp_and_wall_clock_lag = LimitingTimestampAndWallClockLag
    limiting_real_time_lag = LimitingRealTimeLag
    with_ingestion_time = WithIngestionTime
    min_event_time = MinEventTime
    min_event_time_of_all = MinEventTimeOfAll
    max_event_time = MaxEventTime
    storm = Storm
    watermark_from = WatermarkFrom

    by_substream = BySubstream

    @staticmethod
    def from_jar(name: str, /, **values: Duration | int) -> FromJar:
        """Return a custom policy in a jar of the session; see `FromJar`.

        Examples
        --------
        >>> WatermarkPolicies.from_jar("trimmed_lag", lag="5s", rows=100).to_options()
        {'policy': 'trimmed_lag', 'lag': 'PT5S', 'rows': '100'}
        """
        return FromJar(name, values)

    @staticmethod
    def min_of(*policies: WatermarkPolicy) -> MinOf:
        """Return the policy that follows the lowest of these; see `MinOf`."""
        return MinOf(policies)

    @staticmethod
    def max_of(*policies: WatermarkPolicy) -> MaxOf:
        """Return the policy that follows the highest of these; see `MaxOf`."""
        return MaxOf(policies)


class PunctuationPolicies(metaclass=Namespace):
    """The Jet policies under their class name before Jet 0.4.

    Examples
    --------
    >>> PunctuationPolicies.with_fixed_lag("5s") == WatermarkPolicies.with_fixed_lag("5s")
    True
    """

    with_fixed_lag = WithFixedLag
    limiting_lag_and_delay = LimitingLagAndDelay
    limiting_lag_and_lull = LimitingLagAndLull
    limiting_timestamp_and_wall_clock_lag = LimitingTimestampAndWallClockLag
