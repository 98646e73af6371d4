"""What competes: stock Spark with several delays, and eventtide with three policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import eventtide as et
from eventtide import WatermarkPolicies

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

__all__ = ["BY_BAND", "BY_BAND_WITH_LULL", "FULL", "LULL", "QUICK", "Setting", "stock"]


@dataclass(frozen=True)
class Setting:
    """One way to give the stream of reports its watermark.

    Attributes
    ----------
    name : str
        As it is shown.
    side : {"stock Spark", "eventtide"}
        Whose watermark it is.
    apply : callable
        Takes the stream with ``ts`` and ``band``, returns it with a watermark.
    """

    name: str
    side: Literal["stock Spark", "eventtide"]
    apply: Callable[[DataFrame], DataFrame]

    @property
    def is_ours(self) -> bool:
        """Whether its watermark is eventtide's."""
        return self.side == "eventtide"


def stock(hours: int) -> Setting:
    """Return Spark's own watermark with a delay of some hours."""
    return Setting(f"{hours} h", "stock Spark", lambda df: df.withWatermark("ts", f"{hours} hours"))


def _one_policy(df: DataFrame) -> DataFrame:
    policy = WatermarkPolicies.limiting_lag_and_lull(lag="6 hours", max_lull="1 hour")
    return et.with_watermark(df, "ts", policy.throttle_by_frame("1 hour"))


def _by_band(df: DataFrame) -> DataFrame:
    policy = WatermarkPolicies.with_fixed_lag("1 hour").throttle_by_frame("1 hour")
    return et.with_watermark(df, "ts", policy, substream="band", idle_timeout="3 hours")


def _by_band_with_lull(df: DataFrame) -> DataFrame:
    policy = WatermarkPolicies.limiting_lag_and_lull(lag="1 hour", max_lull="1 hour")
    return et.with_watermark(
        df, "ts", policy.throttle_by_frame("1 hour"), substream="band", idle_timeout="3 hours"
    )


LULL = Setting("6 h + lull", "eventtide", _one_policy)
"""The lag that hindsight gives stock Spark, and a lull: one substream."""

BY_BAND = Setting("1 h by band", "eventtide", _by_band)
"""A lag of one hour for each distance band; a band that is silent for 3 hours is left out."""

BY_BAND_WITH_LULL = Setting("1 h by band + lull", "eventtide", _by_band_with_lull)
"""The same, and where the night brings no report for an hour the clock goes on."""

QUICK = (stock(2), stock(6), LULL, BY_BAND, BY_BAND_WITH_LULL)
FULL = (stock(2), stock(4), stock(6), stock(8), LULL, BY_BAND, BY_BAND_WITH_LULL)
