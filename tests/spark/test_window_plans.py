"""What may stand around a window in the plan of a query: the results stay what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from eventtide.windows._profiles import PROFILES
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import Disorder, cut
from tests.spark.queries import EVENTS, at
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, settings
from tests.thorough import sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from eventtide.windows._profiles import Profile
    from pyspark.sql import Column, DataFrame, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("0s")


def n() -> Column:
    """Return the number of rows."""
    return F.count("*").alias("n")


# At boundaries, beside them, and of keys that fall silent.
ROWS = [(at(s), key) for s in range(1, 61) for key in ("a", "b" if s < 20 else "c")]
END = [(at(300), "end")]


def chained(events: DataFrame, profile: Profile) -> DataFrame:
    """Count in windows of windows."""
    keyed = et.window(events).event_time("ts", LAG).key_by("key").tumbling("5s").profile(profile)
    above = et.window(keyed.agg(n()).results).event_time("window").tumbling("15s").profile(profile)
    return above.agg(F.sum("n").alias("n"), F.count("*").alias("windows")).results


def keyed(events: DataFrame) -> DataFrame:
    """Count by key."""
    by_key = et.window(events).event_time("ts", LAG).key_by("key").sliding("10s", every="5s")
    return by_key.agg(n()).results


def whole(events: DataFrame) -> WindowBuilder:
    """Count all rows together."""
    return et.window(events).event_time("ts", LAG).sliding("10s", every="5s").agg(n())


def shown(results: DataFrame) -> DataFrame:
    """Return windows as seconds, and the rest."""
    bounds = [F.unix_timestamp(f"window.{bound}").alias(bound) for bound in ("start", "end")]
    return results.select(*bounds, *(name for name in results.columns if name != "window"))


def played(spark: SparkSession, query: Callable[[DataFrame], DataFrame]) -> set[Any]:
    """Return the results of a stream in many batches, which ends long after the last row."""
    with (
        settings(spark, WITHOUT_CODE),
        Script(lambda events: shown(query(events)), EVENTS) as script,
    ):
        return {tuple(row) for row in script.rows(*cut(ROWS, 5, 12), END).results()}


def at_once(spark: SparkSession, query: Callable[[DataFrame], DataFrame]) -> set[Any]:
    """Return the results of a batch of the same rows."""
    rows = spark.createDataFrame(ROWS, "ts string, key string")
    return {tuple(r) for r in shown(query(rows.withColumn("ts", F.to_timestamp("ts")))).collect()}


@pytest.mark.parametrize("profile", sampled(PROFILES, quick=[*PROFILES][::2]))
def test_windows_of_windows_wait_for_all_that_is_below(
    spark: SparkSession, profile: Profile
) -> None:
    """Whichever side of a window its rows at the boundary are on."""
    results = played(spark, lambda events: chained(events, profile))
    wanted = at_once(spark, lambda events: chained(events, profile))
    assert len(wanted) >= 4
    assert results == wanted


@pytest.mark.parametrize("profile", sampled(PROFILES, quick=[*PROFILES][1::2]))
def test_windows_of_sessions_wait_for_the_sessions(spark: SparkSession, profile: Profile) -> None:
    """However long before its end one has begun."""

    def query(events: DataFrame) -> DataFrame:
        talking = events.where(F.second("ts") % 13 < 7)
        below = et.window(talking).event_time("ts", LAG).key_by("key").session("3s")
        sessions = below.profile(profile).agg(n()).results
        above = et.window(sessions).event_time("window").tumbling("15s").profile(profile)
        return above.agg(F.sum("n").alias("n"), F.count("*").alias("sessions")).results

    wanted = at_once(spark, query)
    assert len(wanted) >= 4
    assert played(spark, query) == wanted


def test_partitions_may_be_put_together_above_a_window(spark: SparkSession) -> None:
    """One task then has the state of several, and each says what it is due."""
    results = played(spark, lambda events: keyed(events).coalesce(1))
    assert results == at_once(spark, keyed)


def test_windows_without_a_key_have_one_partition_also_in_foreach_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whatever the session says."""
    batches = cut(Disorder(seed=4, late_by=1, nulls=0).events(60), 4, 4)
    with settings(spark, {"spark.sql.shuffle.partitions": 5, **WITHOUT_CODE}):
        given = WindowRun(spark, whole, batches).to_the_end(tmp_path)
    rows = [row for batch in given.values() for row in batch]
    assert len(rows) > 5
    assert len({row.partition("n=")[0] for row in rows}) == len(rows)  # each window once
    assert len(list(tmp_path.glob("state/*/[0-9]"))) == 1
