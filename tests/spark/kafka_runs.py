"""Queries over Kafka under a scripted clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.testing import Script

from tests.spark.queries import at

if TYPE_CHECKING:
    from eventtide.testing._script import Query
    from pyspark.sql import DataFrame


LAG = WatermarkPolicies.with_fixed_lag("0s")
TIMED = "CAST(CAST(value AS STRING) AS TIMESTAMP) AS ts"


def timed(rows: DataFrame) -> DataFrame:
    """Read times from values."""
    return rows.selectExpr(TIMED)


def play(query: Query, rows: DataFrame, **options: Any) -> Script:
    """Run a query over Kafka under a scripted clock; the script has no rows of its own."""
    return Script(lambda _: query(timed(rows)), "ts timestamp", clock=at(0), **options)


def await_idle(script: Script) -> Script:
    """Wait until the query has read what there is."""
    return script.clock("+0s")


def substreams(script: Script) -> dict[str, tuple[str, str]]:
    """Return the state of each substream, and the reason, by its name without the topic's."""
    progress = et.progress(script.streaming_query)
    return {
        one.name.rpartition("/")[2]: (one.state, one.reason)
        for one in progress.inputs[0].substreams
    }
