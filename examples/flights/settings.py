"""The compared settings: stock Spark, Spark's windows under our policies, eventtide windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Literal

import eventtide as et
from eventtide import WatermarkPolicies
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame

__all__ = [
    "BY_AIRPORT",
    "BY_BAND",
    "BY_BAND_WITH_LULL",
    "FULL",
    "HOURLY",
    "LAST_HOURS",
    "LULL",
    "OWN_BY_BAND",
    "QUICK",
    "QUICK_SLIDING",
    "SLIDING",
    "Setting",
    "Windows",
    "stock",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Windows:
    """The windows in which departures are counted, by destination."""

    size: timedelta
    every: timedelta

    def ends(self, moment: datetime) -> list[datetime]:
        """Return the ends of the windows that hold a time, the earliest first."""
        first = _EPOCH + ((moment - _EPOCH) // self.every + 1) * self.every
        return [first + n * self.every for n in range(self.size // self.every)]


HOURLY = Windows(timedelta(hours=1), timedelta(hours=1))
LAST_HOURS = Windows(timedelta(hours=3), timedelta(minutes=15))


@dataclass(frozen=True)
class Setting:
    """One way to count the stream of reports.

    Attributes
    ----------
    name : str
        The displayed name: its watermark.
    side : {"stock Spark", "eventtide", "own windows"}
        Stock Spark, Spark's windows under eventtide's watermark, or also eventtide's windows.
    apply : callable
        A function from the stream with ``ts`` and ``band`` to the stream with a watermark.
    windows : Windows
        The counted windows.
    idle_timeout : timedelta, optional
        Each destination has its own watermark, by the same policy, and emits its windows when it
        has had no rows for this time.
    """

    name: str
    side: Literal["stock Spark", "eventtide", "own windows"]
    apply: Callable[[DataFrame], DataFrame]
    windows: Windows = HOURLY
    idle_timeout: timedelta | None = None

    @property
    def label(self) -> str:
        """The name among settings that count other windows."""
        return self.name if self.windows == HOURLY else f"{self.name}, sliding"

    @property
    def is_ours(self) -> bool:
        """Whether the watermark is eventtide's."""
        return self.side != "stock Spark"

    @property
    def keeps_late_rows(self) -> bool:
        """Whether the windows are eventtide's, which have a late log."""
        return self.side == "own windows"

    def counts(self, stream: DataFrame) -> DataFrame:
        """Return ``window``, ``dest`` and ``rows``."""
        if self.keeps_late_rows:
            return self.window(stream).results
        spans = (_text(self.windows.size), _text(self.windows.every))
        return self.apply(stream).groupBy(F.window("ts", *spans), "dest").agg(_rows())

    def window(self, rows: DataFrame) -> WindowBuilder:
        """Return the same windows as eventtide windows, over a stream or over a batch.

        By Jet's rule, a row is in all of its windows or in the late log, so the log can correct
        every count. By the default rule, a row that is late for some of its windows is in the other
        windows.
        """
        timed = et.window(self.apply(rows)).event_time("ts").key_by("dest")
        if self.idle_timeout is not None:
            timed = timed.watermark_scope("key").key_idle_timeout(self.idle_timeout)
        slid = timed.sliding(self.windows.size, every=self.windows.every)
        return slid.late_rule("frame_closed").agg(_rows())


def _rows() -> Column:
    return F.count("*").alias("rows")  # created when there is a session


def _text(length: timedelta) -> str:
    return f"{length // timedelta(minutes=1)} minutes"


def stock(hours: int) -> Setting:
    """Return Spark's watermark with a delay of some hours."""
    return Setting(f"{hours} h", "stock Spark", lambda df: df.withWatermark("ts", f"{hours} hours"))


def _one_policy(df: DataFrame) -> DataFrame:
    policy = WatermarkPolicies.limiting_lag_and_lull(lag="6 hours", max_lull="1 hour")
    return et.with_watermark(df, "ts", policy.throttle_by_frame("1 hour"))


def _by_band(df: DataFrame) -> DataFrame:
    policy = WatermarkPolicies.with_fixed_lag("1 hour").throttle_by_frame("1 hour")
    return et.with_watermark(df, "ts", policy, substream="band", substream_idle_timeout="3 hours")


def _by_band_with_lull(df: DataFrame) -> DataFrame:
    policy = WatermarkPolicies.limiting_lag_and_lull(lag="1 hour", max_lull="1 hour")
    return et.with_watermark(
        df,
        "ts",
        policy.throttle_by_frame("1 hour"),
        substream="band",
        substream_idle_timeout="3 hours",
    )


LULL = Setting("6 h + lull", "eventtide", _one_policy)
"""Stock Spark's best lag in hindsight, and a lull: one substream."""

BY_BAND = Setting("1 h by band", "eventtide", _by_band)
"""A lag of one hour for each distance band; a band without rows for 3 hours is idle."""

OWN_BY_BAND = replace(BY_BAND, side="own windows")
"""The same with eventtide windows, which keep late rows."""

BY_BAND_WITH_LULL = Setting("1 h by band + lull", "eventtide", _by_band_with_lull)
"""The same; if there is no report for an hour at night, the clock advances the watermark."""

BY_AIRPORT = Setting(
    "1 h by airport",
    "own windows",
    lambda df: et.with_watermark(df, "ts", WatermarkPolicies.with_fixed_lag("1 hour")),
    idle_timeout=timedelta(hours=3),
)
"""A watermark for each destination, an hour behind its flights; idle after 3 hours."""

QUICK = (stock(1), OWN_BY_BAND)
FULL = (
    *(stock(hours) for hours in (1, 2, 4, 6, 8)),
    LULL,
    BY_BAND_WITH_LULL,
    OWN_BY_BAND,
    BY_AIRPORT,
)

SLIDING = (
    replace(stock(6), windows=LAST_HOURS),
    replace(BY_BAND, windows=LAST_HOURS),
    replace(OWN_BY_BAND, windows=LAST_HOURS),
)
"""The last three hours, every quarter of an hour: the best of each side, and eventtide windows."""

QUICK_SLIDING = (SLIDING[-1],)
