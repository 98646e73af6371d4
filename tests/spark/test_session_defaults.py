"""Defaults of a session: settings that queries do not have to repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import CheckpointError, EventtideError, InvalidArgumentError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import Disorder, cut
from tests.spark.queries import at
from tests.spark.window_runs import WindowRun, settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, site string"
BATCHES = cut(Disorder(seed=3, late_by=40, gap=0.8).events(60), seed=3, batches=3)
LAG = WatermarkPolicies.with_fixed_lag("0s")


def by_site(events: DataFrame) -> et.WindowBuilder:
    """Count by site in windows of ten seconds."""
    rows = et.window(events).event_time("ts", LAG, substream="site")
    return rows.key_by("site").tumbling("10s").agg(F.count("*").alias("n"))


def counts(window: et.WindowBuilder) -> DataFrame:
    """Return its results with the start in seconds."""
    return window.results.select(F.second("window.start"), "site", "n")


def test_a_window_has_the_defaults_of_its_session(spark: SparkSession) -> None:
    """It closes a delay later; one with a delay of its own has that."""
    with settings(spark, {"spark.eventtide.delay": "20s"}):
        with Script(lambda events: counts(by_site(events)), ROWS, session=spark) as script:
            script.rows([(at(1), "a"), (at(29), "a")]).expect(results=[])
            script.rows([(at(30), "a")]).expect(results=[(0, "a", 1)])
        own = Script(lambda events: counts(by_site(events).delay("0s")), ROWS, session=spark)
        with own as script:
            script.rows([(at(1), "a"), (at(10), "a")]).expect(results=[(0, "a", 1)])


def test_a_watermark_has_the_defaults_of_its_session(spark: SparkSession) -> None:
    """A query with more substreams than the session allows stops."""
    limits = {"spark.eventtide.maxSubstreams": "1"}
    stops = pytest.raises(EventtideError, match="more than 1 substreams")
    with settings(spark, limits), Script(lambda df: counts(by_site(df)), ROWS) as script, stops:
        script.rows([(at(1), "a"), (at(1), "b")]).expect(results=[])


def test_explain_shows_the_defaults(spark: SparkSession) -> None:
    """As it shows settings."""
    with settings(spark, {"spark.eventtide.delay": "20s"}):
        assert "20s" in by_site(spark.createDataFrame([], ROWS)).explained()
    assert "20s" not in by_site(spark.createDataFrame([], ROWS)).explained()


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("spark.eventtide.delay", "soon", "a duration"),
        ("spark.eventtide.heartbeat", "1ms", "duration"),
        ("spark.eventtide.profile", "beam", "flink"),
        ("spark.eventtide.maxSubstreams", "0", "1"),
        ("spark.eventtide.lateretention", "1d", "spark.eventtide.lateRetention"),
    ],
)
def test_a_wrong_default_is_refused_by_its_key(
    spark: SparkSession, key: str, value: str, allowed: str
) -> None:
    """Before a query starts; a key that no setting has, too."""
    events = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "'a' AS site")
    with settings(spark, {key: value}), pytest.raises(EventtideError) as refused:
        _ = by_site(events).results
    assert key in str(refused.value)
    assert allowed in str(refused.value)


def test_state_is_not_read_under_another_default(spark: SparkSession, tmp_path: Path) -> None:
    """The checkpoint is refused, as that of a changed query."""
    WindowRun(spark, by_site, BATCHES[:2]).to_the_end(tmp_path)
    refused = pytest.raises(CheckpointError, match="delay: none in the checkpoint, 20s")
    with settings(spark, {"spark.eventtide.delay": "20s"}), refused:
        WindowRun(spark, by_site, BATCHES).to_the_end(tmp_path)
    WindowRun(spark, by_site, BATCHES).to_the_end(tmp_path)


def test_a_setting_of_the_warnings_is_checked_before_the_query_starts(
    spark: SparkSession, tmp_path: Path
) -> None:
    """With what is allowed."""
    refused = pytest.raises(InvalidArgumentError, match=r"INVALID_SETTING.*a number from 0 to 1")
    with settings(spark, {"spark.eventtide.warn.lateShare": "some"}), refused:
        WindowRun(spark, by_site, BATCHES).to_the_end(tmp_path)
