"""What Spark's analyser and optimizer make of a plan with a watermark of ours in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame

LAG_2S = WatermarkPolicies.with_fixed_lag("2s")
EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"


def spellings(events: DataFrame) -> list[str | Column]:
    """Return the same column in all the ways in which one can name it."""
    return ["key", F.col("key"), F.col("KEY"), F.col("named.key"), events["key"], events.key]


@pytest.mark.parametrize("position", range(6))
def test_a_substream_may_be_spelled_otherwise_after_a_restart(
    tmp_path: Path, position: int
) -> None:
    """What it is counts, not how it was written; another one is refused."""
    checkpoint = str(tmp_path)

    def spelled(events: DataFrame) -> DataFrame:
        named = events.alias("named")
        substream = spellings(named)[position]
        return et.with_watermark(named, "ts", LAG_2S, substream=substream).select("key")

    def by_name(events: DataFrame) -> DataFrame:
        return et.with_watermark(events, "ts", LAG_2S, substream="key").select("key")

    def other(events: DataFrame) -> DataFrame:
        return et.with_watermark(events, "ts", LAG_2S, substream=F.upper("key")).select("key")

    with Script(spelled, EVENTS, checkpoint=checkpoint) as script:
        script.rows([(at(10), "a")])
    with Script(by_name, EVENTS, checkpoint=checkpoint) as script:
        script.rows([(at(10), "a")], [(at(20), "a")]).expect(watermark=at(18))
    with pytest.raises(et.CheckpointError, match="upper"):
        Script(other, EVENTS, checkpoint=checkpoint).rows([(at(10), "a")])
