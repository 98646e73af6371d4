"""One query of each kind in Python; queries.sql has them in SQL, `SameResultsSuite` in Scala.

Flows of a pipeline use those without functions, too. The results depend on the input and not on the
clock, so that every API has the rows of results.json.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.storm import Count, StormWindow
from eventtide.voltsp import Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from eventtide import WindowBuilder
    from eventtide.storm import TupleWindow
    from pyspark.sql import Column, DataFrame

LAG = WatermarkPolicies.with_fixed_lag("5s")


def aggregates() -> tuple[Column, Column]:
    """Return those of all queries; columns need a session."""
    return F.count("*").alias("n"), F.max("v").alias("top")


def window(events: DataFrame) -> WindowBuilder:
    """Return what most of the windows share."""
    return et.window(events).event_time("ts", LAG).key_by("device").agg(*aggregates())


def watermark(events: DataFrame) -> DataFrame:
    """Return windows of Spark's under a watermark for each device."""
    timed = et.with_watermark(events, "ts", LAG, substream="device", expected=2)
    counts = timed.groupBy(F.window("ts", "10 seconds"), "device").agg(*aggregates())
    return counts.select(F.col("window.start").alias("start"), "device", "n", "top")


def join(events: DataFrame) -> DataFrame:
    """Return pairs of rows of a device that are at most five seconds apart."""
    first = et.with_watermark(events, "ts", LAG).alias("a")
    second = et.with_watermark(events, "ts", LAG).alias("b")
    near = "a.device = b.device AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL 5 SECONDS"
    return first.join(second, F.expr(near)).selectExpr("a.device", "a.ts", "b.ts AS next")


def sliding(events: DataFrame) -> WindowBuilder:
    """Return windows under a watermark that moves by whole steps of two seconds."""
    policy = WatermarkPolicies.with_fixed_lag("5s").throttle_by_frame("2s")
    timed = window(events).event_time("ts", policy, substream="device", expected=["a", "b"])
    return timed.sliding("10s", every="2s").delay("1s").late_rule("frame_closed")


def row_gap(events: DataFrame) -> WindowBuilder:
    """Return sessions in which each row has its own gap."""
    gap = F.when(F.col("v") > 4, "5 seconds").otherwise("2 seconds")
    return window(events).session(gap)


def key_time(events: DataFrame) -> WindowBuilder:
    """Return windows under a watermark for each key."""
    timed = window(events).tumbling("10s").watermark_scope("key")
    return timed.key_idle_timeout("20s", clock="event_time")


def panes(events: DataFrame) -> WindowBuilder:
    """Return windows with early results, and late ones."""
    triggers = WindowTrigger.every_rows(2), WindowTrigger.when("n >= 3")
    accepted = window(events).tumbling("10s").allowed_lateness("10s")
    return accepted.emit("at_window_end", *triggers, late_updates=True)


def calendar(events: DataFrame) -> WindowBuilder:
    """Return days of Berlin, from midnight to midnight there."""
    return window(events).tumbling("1 day").time_zone("Europe/Berlin")


def bolt(events: DataFrame) -> StormWindow:
    """Return a bolt of Storm's: the last ten seconds, for each two rows."""
    sized = StormWindow().with_window("10s", Count(2)).with_timestamp_field("ts").with_lag("5s")
    often = sized.with_watermark_interval("1ms")  # an interval of the clock, shorter than a batch
    return often.over(events).group_by("device")


def voltsp(events: DataFrame) -> WindowBuilder:
    """Return windows of VoltSP, whose watermark is the lowest of a key's times."""
    hourly = Windows.tumbling_time_window().with_window_span("10s").with_key_extractor("device")
    timed = hourly.with_time_config_builder(lambda time: time.with_event_time_extractor("ts"))
    return timed.with_aggregate_definition(lambda of: of.count("n").max("top", "v")).over(events)


def function(events: DataFrame) -> DataFrame:
    """Return what a function of a bolt returns."""

    def latest(rows: TupleWindow[Any]) -> dict[str, Any]:
        added = int(rows.get_new()["v"].sum())
        return {**rows.key, "n": len(rows.get()), "added": added}

    return bolt(events).execute(latest, "device string, n long, added long").results


WINDOWS: Mapping[str, Callable[[DataFrame], WindowBuilder]] = MappingProxyType(
    {
        "tumbling": lambda events: window(events).tumbling("10s"),
        "sliding": sliding,
        "cumulate": lambda events: window(events).cumulate("10s", step="5s"),
        "session": lambda events: window(events).session("3s", maximum_duration="20s"),
        "row_gap": row_gap,
        "by_count": lambda events: window(events).by_count(3, every=2),
        "key_time": key_time,
        "panes": panes,
        "calendar": calendar,
        "storm": lambda events: bolt(events).agg(*aggregates()),
        "voltsp": voltsp,
    }
)
"""The windows, by name."""
OTHERS: Mapping[str, Callable[[DataFrame], DataFrame]] = MappingProxyType(
    {"watermark": watermark, "join": join, "function": function}
)
"""The other queries."""
NAMES = ("watermark", "join", *WINDOWS)
"""All queries without functions."""


def results(name: str, events: DataFrame) -> DataFrame:
    """Return the results of a query."""
    return WINDOWS[name](events).results if name in WINDOWS else OTHERS[name](events)
