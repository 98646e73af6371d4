"""Checks the table of key policies in docs/reference/voltsp.md by real queries.

What a policy does over time is compared with the kernel, for every one, in test_kernel_script.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.policies._base import WatermarkPolicy
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import ROOT, cells
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, key string"
HIGHEST = WatermarkPolicies.max_event_time()
FAR = "2024-01-01 03:00:00"


@pytest.fixture(autouse=True)
def _without_code(spark: SparkSession) -> Iterator[None]:
    """Let short queries be short."""
    with settings(spark, WITHOUT_CODE):
        yield


def by_key(policy: WatermarkPolicy, **options: object) -> Callable[[DataFrame], DataFrame]:
    """Return a query that counts rows in the time of their keys."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", policy, **options)  # type: ignore[arg-type]
        window = window.key_by("key").watermark_scope("key").tumbling("10s")
        seconds = F.unix_timestamp("window.start") % 86400
        return window.agg(F.count("*").alias("n")).results.select("key", seconds, "n")

    return query


def late(spark: SparkSession, script: Script) -> list[tuple[str, str]]:
    """Return key and reason of the late rows."""
    rows = et.read_late(script.checkpoint, spark=spark).collect()
    return [(row["key"], row["_reason"]) for row in rows]


def test_the_table_has_every_policy_and_decorator() -> None:
    """A new one is not done before it is said what it is for keys."""
    lines = (ROOT / "docs/reference/voltsp.md").read_text("utf-8").splitlines()
    first = lines.index("| policy | for each key |")
    rows = lines[first + 2 :]
    named = "".join(cells(line)[0] for line in rows[: rows.index("")])
    policies = {name for name in vars(WatermarkPolicies) if not name.startswith("_")}
    decorators = {name for name in vars(WatermarkPolicy) if name.startswith(("throttle", "guard"))}
    assert {
        one for one in policies | decorators | {"emit_every"} if f"`{one}`" not in named
    } == set()


def test_the_time_of_ingestion_is_that_of_all_keys(spark: SparkSession) -> None:
    """The clock closes the windows of keys without rows."""
    ingested = by_key(WatermarkPolicies.with_ingestion_time())
    with Script(ingested, ROWS, session=spark) as script:
        script.rows([(at(5), "a"), (at(15), "b")]).expect(results=[])
        script.clock(at(10)).expect(results=[("a", 0, 1)])
        script.clock(at(20)).expect(results=[("b", 10, 1)])


@pytest.mark.parametrize(
    "policy",
    [
        WatermarkPolicies.storm("1s"),
        WatermarkPolicies.min_of(HIGHEST, WatermarkPolicies.storm("1s")),
    ],
    ids=["storm", "min_of"],
)
def test_a_policy_that_waits_for_substreams_is_refused(
    spark: SparkSession, policy: WatermarkPolicy
) -> None:
    """Keys are not named beforehand."""
    events = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "'a' AS key")
    with pytest.raises(et.errors.InvalidArgumentError, match="without declared substreams"):
        by_key(policy, substream="key", expected=["a"])(events)


def test_a_guard_keeps_the_watermark_of_a_key_where_it_may_be(spark: SparkSession) -> None:
    """At the clock and what is allowed beyond it, whatever a row says."""
    guarded = by_key(HIGHEST.guard_future("5s", on="clamp"))
    with Script(guarded, ROWS, session=spark) as script:
        script.rows([(at(1), "a"), (FAR, "a"), (at(1), "b")]).expect(results=[])
        script.clock(at(6)).rows([(FAR, "a"), (at(1), "b")]).expect(results=[("a", 0, 1)])
        script.rows([(at(9), "a"), (at(9), "b"), (at(11), "b")]).expect(results=[("b", 0, 3)])
        assert late(spark, script) == [("a", "window_closed")]


def test_a_guard_refuses_a_row_of_a_key(spark: SparkSession) -> None:
    """With the row's time, and the latest that was allowed."""
    guarded = by_key(HIGHEST.guard_future("1h", on="fail"))
    with (
        Script(guarded, ROWS, session=spark) as script,
        pytest.raises(et.errors.RefusedDataError, match="2024-01-01T03:00:00Z"),
    ):
        script.rows([(FAR, "a")])


@pytest.mark.parametrize(
    "policy",
    [HIGHEST.throttle_by_frame("1h"), HIGHEST.throttle_by_min_step("1h")],
    ids=["frame", "step"],
)
def test_a_throttle_is_not_of_keys(spark: SparkSession, policy: WatermarkPolicy) -> None:
    """The watermark of a key moves as it would without, that over all keys seldom."""
    with Script(by_key(policy), ROWS, session=spark) as script:
        script.rows([("2024-01-01 01:00:05", "a")])
        before = script.watermark
        script.rows([("2024-01-01 01:00:15", "a")]).expect(results=[("a", 3600, 1)])
        assert script.watermark == before
