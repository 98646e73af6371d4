"""Policies that the clock moves too: the watermark can advance without rows.

The clock is Spark's batch timestamp. A query with such a policy runs a batch without rows only
when the clock would move the emitted watermark. So throttle the policy by the slide of the windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from eventtide._text.arguments import count
from eventtide._text.durations import micros, to_iso
from eventtide.errors import InvalidDurationError, refused
from eventtide.policies._base import ON_CLOCK, ON_ROWS_AND_CLOCK, WatermarkPolicy

if TYPE_CHECKING:
    from eventtide._text.durations import Duration

__all__ = [
    "LimitingLagAndDelay",
    "LimitingLagAndLull",
    "LimitingRealTimeLag",
    "LimitingTimestampAndWallClockLag",
    "WithIngestionTime",
]


@dataclass(frozen=True, eq=False, repr=False)
class LimitingLagAndDelay(WatermarkPolicy):
    """Stay `lag` behind the highest event time, and reach it within `max_delay` of the clock.

    Parameters
    ----------
    lag : str or timedelta
        Allowed disorder, zero or more.
    max_delay : str or timedelta
        Positive, at least one microsecond for each sample. After this time the watermark has
        reached every event time seen, even if no more rows arrived.
    samples : int
        The number of slots in the history that measures `max_delay`, one or more. More slots are
        more precise.

    Raises
    ------
    InvalidDurationError
        The lag is negative, the delay is too short for the samples, or a duration is not valid.
    InvalidArgumentError
        The number of samples is below one or not a whole number.

    Notes
    -----
    The watermark is unknown until the first row. In a lull it advances to the highest event time
    and stops there. The policy makes no assumption about event times. With several substreams, the
    slowest substream still delays the watermark. Source: Jet, ``limitingLagAndDelay``.

    Examples
    --------
    >>> LimitingLagAndDelay("5s", max_delay="1m")
    WatermarkPolicies.limiting_lag_and_delay(lag='5s', max_delay='1m')
    """

    name: ClassVar[str] = "limiting_lag_and_delay"
    moves: ClassVar[str] = ON_ROWS_AND_CLOCK
    summary: ClassVar[str] = (
        "{lag} behind the highest event time, which it reaches within {max_delay} of the clock"
    )
    lag: Duration
    max_delay: Duration
    samples: int = 16

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        samples = count("samples", self.samples, "16")
        if micros("max_delay", self.max_delay, positive=True) < self.samples:
            allowed = f"at least samples={samples} microseconds, one a slot"
            raise refused(
                "max_delay",
                self.max_delay,
                "is short",
                allowed=allowed,
                fix="max_delay='1s'",
                error=InvalidDurationError,
            )
        return {
            "lag": to_iso("lag", self.lag),
            "max_delay": to_iso("max_delay", self.max_delay, positive=True),
            "samples": samples,
        }


@dataclass(frozen=True, eq=False, repr=False)
class LimitingLagAndLull(WatermarkPolicy):
    """Stay `lag` behind the highest event time; in a lull, advance with the clock.

    Parameters
    ----------
    lag : str or timedelta
        Allowed disorder, zero or more: ``"5s"``, ISO 8601 text or a ``timedelta``.
    max_lull : str or timedelta
        Zero or more. After this time without an advance by rows, the clock moves the watermark.

    Raises
    ------
    InvalidDurationError
        A duration is negative or not valid.

    Notes
    -----
    The watermark is unknown until the first row. Without an idle timeout, an expected substream
    that never has a row stops the watermark permanently. In a lull the watermark keeps a constant
    distance to the clock; only an advance by rows ends the lull. Source: Jet,
    ``limitingLagAndLull``.

    Examples
    --------
    >>> LimitingLagAndLull("5s", max_lull="1m").to_options()
    {'policy': 'limiting_lag_and_lull', 'lag': 'PT5S', 'max_lull': 'PT60S'}
    """

    name: ClassVar[str] = "limiting_lag_and_lull"
    moves: ClassVar[str] = ON_ROWS_AND_CLOCK
    summary: ClassVar[str] = (
        "{lag} behind the highest event time;"
        " after {max_lull} without an advance, moves with the clock"
    )
    lag: Duration
    max_lull: Duration


@dataclass(frozen=True, eq=False, repr=False)
class LimitingTimestampAndWallClockLag(WatermarkPolicy):
    """Stay behind the highest event time or behind the clock, whichever watermark is higher.

    Parameters
    ----------
    timestamp_lag : str or timedelta
        The lag behind the highest event time, zero or more.
    wall_clock_lag : str or timedelta
        The lag behind the clock, zero or more.

    Raises
    ------
    InvalidDurationError
        A duration is negative or not valid.

    Notes
    -----
    The policy assumes that event times follow the clock of the driver: an event time that lags the
    clock by more than `wall_clock_lag` is late. A substream without rows does not delay the
    watermark. Source: Jet, ``limitingTimestampAndWallClockLag``.
    """

    name: ClassVar[str] = "limiting_timestamp_and_wall_clock_lag"
    moves: ClassVar[str] = ON_ROWS_AND_CLOCK
    summary: ClassVar[str] = (
        "{timestamp_lag} behind the highest event time"
        " or {wall_clock_lag} behind the clock, whichever is higher"
    )
    timestamp_lag: Duration
    wall_clock_lag: Duration


@dataclass(frozen=True, eq=False, repr=False)
class LimitingRealTimeLag(WatermarkPolicy):
    """Stay `lag` behind the clock, regardless of the rows.

    Parameters
    ----------
    lag : str or timedelta
        The lag behind the clock, zero or more.

    Raises
    ------
    InvalidDurationError
        The lag is negative or not a duration.

    Notes
    -----
    The latency is fixed, even with few rows. The policy assumes that event times follow the clock.
    After a downtime longer than the lag, ``on_restart="hold_until_caught_up"`` prevents rows from
    being late only because the query was down. Source: Jet 4.3, ``limitingRealTimeLag``.
    """

    name: ClassVar[str] = "limiting_real_time_lag"
    moves: ClassVar[str] = ON_CLOCK
    summary: ClassVar[str] = "{lag} behind the clock"
    lag: Duration


@dataclass(frozen=True, eq=False, repr=False)
class WithIngestionTime(WatermarkPolicy):
    """Follow the clock without a lag, for rows whose time is the clock at ingestion.

    Notes
    -----
    `eventtide.with_ingestion_time` adds the column for this policy, under which no row is ever
    late. With any other event time, almost every row is late. A row that is read again after a
    crash may get another time. Source: Jet, ``withIngestionTimestamps``.
    """

    name: ClassVar[str] = "with_ingestion_time"
    moves: ClassVar[str] = ON_CLOCK
    summary: ClassVar[str] = "the clock itself; for a column with the ingestion time"
