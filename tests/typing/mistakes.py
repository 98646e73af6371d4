"""Mistakes that a type checker reports before the program runs. Never run, only checked.

The marked lines have an error, and no other line has one: see tests/unit/test_typing.py.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

import eventtide as et
import pandas as pd
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.storm import StormWindow, TupleWindow
from eventtide.voltsp import TimeConfig, Windows
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.streaming.query import StreamingQuery

if TYPE_CHECKING:
    from eventtide.policies import MinOf


def policies() -> None:
    """Write durations, literals and names that do not exist."""
    WatermarkPolicies.with_fixed_lag(10)  # type: ignore[arg-type]
    WatermarkPolicies.limiting_lag_and_lull("5s")  # type: ignore[call-arg]
    WatermarkPolicies.fixed_lag("5s")  # type: ignore[attr-defined]
    WatermarkPolicies.with_fixed_lag("5s").guard_future("1h", on="drop")  # type: ignore[arg-type]
    WatermarkPolicies.min_of("5s", "1m")  # type: ignore[arg-type]
    WatermarkPolicies.by_substream({"eu": "5s"})  # type: ignore[dict-item]
    lag: MinOf = WatermarkPolicies.with_fixed_lag("5s")  # type: ignore[assignment]
    lag.lag = "1m"  # type: ignore[attr-defined]


def watermarks(events: DataFrame) -> None:
    """Write no policy where one belongs, and substreams of the wrong type."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    et.with_watermark(events, "ts")  # type: ignore[call-arg]
    et.with_watermark(events, "ts", "10 seconds")  # type: ignore[arg-type]
    et.with_watermark(events, "ts", timedelta(seconds=10))  # type: ignore[arg-type]
    et.with_watermark(events, "ts", WatermarkPolicies.with_fixed_lag)  # type: ignore[arg-type]
    et.with_watermark(events, "ts", {"eu": "5s"})  # type: ignore[dict-item]
    et.with_watermark(events, "ts", lag, on_restart="no")  # type: ignore[arg-type]
    et.with_watermark(events, "ts", lag, substream=5)  # type: ignore[arg-type]
    et.with_watermark(events, "ts", lag, substream_idle_timeout=60)  # type: ignore[arg-type]
    et.with_watermark(events, "ts", lag, idle_timeout="1m")  # type: ignore[call-arg]
    et.with_watermark("events", "ts", lag)  # type: ignore[arg-type]
    et.with_ingestion_time(events, policy=lag)  # type: ignore[arg-type]
    events.transform(et.watermark("ts"))  # type: ignore[call-arg]


def windows(events: DataFrame) -> None:
    """Write a second kind, unknown words, and names of DataFrames."""
    window = et.window(events)
    window.tumbling("1m").sliding("1m", "10s")  # type: ignore[misc]
    window.tumbling("1m").key_by("user").tumbling("1h")  # type: ignore[misc]
    window.by_count(10).over(events).session("1m")  # type: ignore[misc]
    window.sliding("1m")  # type: ignore[call-arg]
    window.tumbling(60)  # type: ignore[arg-type]
    window.event_time("ts", "10 seconds")  # type: ignore[arg-type]
    window.event_time("ts", policy=WatermarkPolicies.with_fixed_lag)  # type: ignore[arg-type]
    window.event_time("ts", idle_timeout="1m")  # type: ignore[call-arg]
    window.event_time("ts", WatermarkPolicies.storm("1s"), substream=5)  # type: ignore[arg-type]
    window.key_by(5)  # type: ignore[arg-type]
    window.late("drop")  # type: ignore[arg-type]
    window.late_rule("closed")  # type: ignore[arg-type]
    window.profile("beam")  # type: ignore[arg-type]
    window.session("5m", touching="join")  # type: ignore[arg-type]
    window.key_idle_timeout("5m", clock="wall")  # type: ignore[arg-type]
    window.agg("n")  # type: ignore[arg-type]
    window.agg(["count", "sum"])  # type: ignore[list-item]
    window.agg({"amount": "sum"})  # type: ignore[arg-type]
    window.emit(5)  # type: ignore[arg-type]
    window.emit(WindowTrigger.every)  # type: ignore[arg-type]
    window.emit(late_updates="yes")  # type: ignore[arg-type]
    window.on_late("handler")  # type: ignore[arg-type]
    window.early(every="10s")  # type: ignore[attr-defined]
    window.groupBy("user")  # type: ignore[attr-defined]
    window.show()  # type: ignore[attr-defined]
    window.writeStream  # type: ignore[attr-defined] # noqa: B018 - it has no call
    window.over("events")  # type: ignore[arg-type]
    et.window("events")  # type: ignore[arg-type]
    WindowTrigger.every(10)  # type: ignore[arg-type]


def queries(events: DataFrame, query: StreamingQuery) -> None:
    """Write arguments in another order, and names of other modules."""
    counts = et.window(events).tumbling("1m").agg(F.count("*"))
    et.start("events", events.writeStream)  # type: ignore[arg-type]
    et.start(events, events.writeStream, drain="yes")  # type: ignore[arg-type]
    counts.start(events)  # type: ignore[arg-type]
    counts.start(counts.results.writeStream.start())  # type: ignore[arg-type]
    et.repair(events, events, counts)  # type: ignore[call-arg]
    et.read_state(counts, "/data/checkpoint")  # type: ignore[arg-type]
    et.read_late(events)  # type: ignore[arg-type]
    et.read_late(query, missing="ignore")  # type: ignore[arg-type]
    et.progress("orders")  # type: ignore[arg-type]
    et.StormWindow()  # type: ignore[attr-defined]


def others(events: DataFrame) -> None:
    """Read windows as rows of another type, and mix up words of other systems."""

    def told(window: TupleWindow[pd.DataFrame]) -> list[dict[str, object]]:
        rows: list[int] = window.get()  # type: ignore[assignment]
        window.get().no_such_column()  # type: ignore[operator]
        return [{"n": len(rows)}]

    def of_numbers(window: TupleWindow[int]) -> None:
        window.get().bit_length()

    bolt = StormWindow().with_window("20s", "10s")
    bolt.execute(told)  # type: ignore[call-overload]
    bolt.execute(of_numbers, "n int")  # type: ignore[arg-type]
    bolt.execute(told, "n int", rows="rows")  # type: ignore[call-overload]
    bolt.with_window("1s", "1s", "1s")  # type: ignore[call-arg]
    bolt.with_window(20)  # type: ignore[arg-type]
    bolt.with_lag(5)  # type: ignore[arg-type]
    bolt.results  # type: ignore[attr-defined] # noqa: B018 - it has no call
    Windows.tumbling()  # type: ignore[attr-defined]
    Windows.session_window().with_time_config("ts")  # type: ignore[arg-type]
    Windows.session_window().results  # type: ignore[attr-defined] # noqa: B018 - it has no call
    TimeConfig("ts", idle_timeout=5)  # type: ignore[arg-type]
    bolt.over([events])  # type: ignore[arg-type]
