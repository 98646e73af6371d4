"""Profiles by which each step of the watermark counts, under watermarks that follow the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at
from tests.thorough import pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BY_CLOCK = {
    "real time": WatermarkPolicies.limiting_real_time_lag("2s"),
    "wall clock": WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("1s", "2s"),
    "lull": WatermarkPolicies.limiting_lag_and_lull("1s", "3s"),
    "delay": WatermarkPolicies.limiting_lag_and_delay("1s", "3s"),
    "timer": WatermarkPolicies.max_event_time().emit_every("1s"),
}
PROFILES = ["spark", "storm", "voltsp"]


@pytest.mark.parametrize(("policy", "profile"), pairs(BY_CLOCK, PROFILES))
def test_a_clock_that_moves_the_watermark_step_by_step(
    policy: str, profile: Literal["spark", "storm", "voltsp"]
) -> None:
    """After each kind of batch: with rows, by the clock, and with rows while the clock moves."""

    def query(events: DataFrame) -> DataFrame:
        window = (
            et.window(events).event_time("ts", BY_CLOCK[policy]).tumbling("10s").profile(profile)
        )
        return window.agg(F.count("*").alias("n")).results.select("n")

    with Script(query, EVENTS, clock=at(5)) as script:
        script.rows([(at(4), "a")]).clock("+1s").clock("+1s")
        script.rows([(at(8), "b")]).rows([(at(9), "c")]).clock("+2s").clock("+4s")
        script.waiting([(at(13), "d")]).clock("+2s").clock("+20s")
        script.clock(at(299)).rows([(at(299), "open")]).clock("+1s")
        late = et.read_late(script.checkpoint).count()
        assert sum(row.n for row in script.results()) + late == 4
