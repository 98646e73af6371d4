"""What a query's windows hold can be read from its checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at
from tests.spark.test_windows import flat

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("2s")
ROWS = [(at(1), "a"), (at(3), "a"), (at(5), "b"), (at(14), "c")]


def sliding(events: DataFrame) -> et.WindowBuilder:
    """Count by key over ten seconds, every five."""
    window = et.window(events).event_time("ts", LAG).key_by("key").sliding("10s", every="5s")
    return window.agg(F.count("*").alias("n"), F.collect_set("key").alias("keys"))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
            "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        },
    ],
)
def test_open_windows_are_read_while_the_query_runs_and_after(
    spark: SparkSession, tmp_path: Path, settings: dict[str, str]
) -> None:
    """With what they would give if they closed now; windows that have closed are not there."""
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        expected = {(5, 15, "b", 1), (5, 15, "c", 1), (10, 20, "c", 1)}
        checkpoint = str(tmp_path)
        query = lambda events: flat(sliding(events).results).drop("keys")  # noqa: E731
        with Script(query, EVENTS, checkpoint=checkpoint) as script:
            script.rows(ROWS).expect(results=[(3595, 5, "a", 2), (0, 10, "a", 2), (0, 10, "b", 1)])
            assert held(spark, checkpoint) == expected
        assert held(spark, checkpoint) == expected
    finally:
        for name in settings:
            spark.conf.unset(name)


def held(spark: SparkSession, checkpoint: str) -> set[Any]:
    """Read the state with a builder over a batch of the same columns."""
    rows = et.read_state(sliding(spark.createDataFrame([], EVENTS)), checkpoint)
    return {tuple(row) for row in flat(rows).drop("keys").collect()}


def test_a_checkpoint_without_state_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """By name."""
    with pytest.raises(et.CheckpointError, match="no state of a window"):
        et.read_state(sliding(spark.createDataFrame([], EVENTS)), tmp_path)
