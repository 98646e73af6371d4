"""What Spark's own progress says of a window: late rows by reason, and keys with open windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at
from tests.spark.window_runs import operators

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame

DROPPED = "numRowsDroppedByWatermark"
POLICY = WatermarkPolicies.with_fixed_lag("0s").guard_future("1h", on="late")


def tumbling(events: DataFrame) -> WindowBuilder:
    """Count by key in windows of the query's watermark, aggregated before the shuffle."""
    window = et.window(events).event_time("ts", POLICY).key_by("key")
    return window.tumbling("10s").agg(F.count("*").alias("n"))


def per_key(events: DataFrame) -> WindowBuilder:
    """Count by key in windows of the key's own watermark: rows are judged at their partition."""
    window = et.window(events).event_time("ts", POLICY).watermark_scope("key").key_by("key")
    return window.tumbling("10s").agg(F.count("*").alias("n"))


@pytest.mark.smoke
@pytest.mark.parametrize("query", [tumbling, per_key])
def test_late_rows_are_in_sparks_progress_by_reason(
    query: Callable[[DataFrame], WindowBuilder],
) -> None:
    """Spark's own number has those behind the watermark; refused rows are beside them."""
    with Script(query, EVENTS) as script:
        script.rows([(at(5), "a"), (at(25), "a"), (at(25), "b")]).expect(late=0)
        last = [(at(5), "a"), (at(6), "a"), (at(26), "b"), (at(7200), "a"), (None, "a")]
        script.rows(last).expect(late=2)
        counted = [operator for operator in operators(script) if operator[DROPPED]]
    assert [operator[DROPPED] for operator in counted] == [2]
    metrics = counted[0]["customMetrics"]
    assert metrics["numOpenKeys"] == 2
    assert {name: metrics[name] for name in metrics if name.startswith("numLate")} == {
        "numLateBehindWatermark": 0,
        "numLateFrameClosed": 0,
        "numLateWindowClosed": 2,
        "numLateFuture": 1,
        "numLateBadTime": 1,
        "numLateBadGap": 0,
    }


def test_a_script_that_expects_no_late_row_fails_where_one_is_late() -> None:
    """Which it could not before windows said theirs."""
    with Script(tumbling, EVENTS) as script:
        script.rows([(at(5), "a"), (at(25), "a")]).rows([(at(5), "a")])
        with pytest.raises(AssertionError, match="late: expected 0, got 1"):
            script.expect(late=0)
        script.expect(late=0)
