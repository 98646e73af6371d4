"""A timer emits only at its instants, also where event times have microseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.storm import StormWindow
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame

FRACTIONS = pytest.mark.parametrize("fraction", ["", ".000001", ".000999", ".001"])


def at(second: str) -> str:
    """Return a time of a day in January."""
    return f"2024-01-01 12:{second}"


@FRACTIONS
@pytest.mark.usefixtures("spark")
def test_rows_between_two_instants_move_no_watermark(fraction: str) -> None:
    """A floored watermark is not behind its own policy for ever."""

    def every_half_minute(events: DataFrame) -> DataFrame:
        policy = WatermarkPolicies.with_fixed_lag("0s").emit_every("30s")
        return et.with_watermark(events, "ts", policy)

    with Script(every_half_minute, "ts timestamp", clock=at("00:10")) as script:
        script.rows([(at(f"00:05{fraction}"),)])
        script.clock(at("00:30")).clock(at("00:40")).clock(at("01:00")).clock(at("01:10"))
        emitted = script.watermark
        assert emitted.startswith("2024-01-01T12:00:05")
        script.rows([(at("01:05"),)])
        assert script.watermark == emitted
        assert script.clock(at("01:30")).watermark == "2024-01-01T12:01:05Z"


@FRACTIONS
def test_nothing_closes_between_two_instants_of_storm(fraction: str) -> None:
    """Rows that come within one interval of its timer are not late to each other."""

    def bolt(events: DataFrame) -> WindowBuilder:
        window = StormWindow().with_tumbling_window("10s").with_timestamp_field("ts")
        return window.over(events).agg(F.collect_list("id").alias("ids"))

    with Script(bolt, "ts timestamp, id int", clock=at("00:00.5")) as script:
        script.rows([(at(f"00:05{fraction}"), 1)]).clock(at("00:01.5")).clock(at("00:02.5"))
        for number, second in enumerate(["00:30", "00:06", "00:25"]):
            script.rows([(at(second), number)])
        assert script.results() == []
        assert et.read_late(script.checkpoint).isEmpty()
