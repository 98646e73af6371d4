"""Random streams: what `et.repair` returns are the results of a batch query over all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide._text.schemas import row_type
from eventtide.testing import Script
from eventtide.testing._values import storable
from hypothesis import Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.batch_results import told
from tests.spark.events import SCHEMA, Disorder, cut, merged
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings
from tests.thorough import EXAMPLES, sampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import SparkSession

    from tests.spark.events import Event

LAST: Event = (-1, at(3000), *[None] * 6)  # closes every window but its own

KINDS: dict[str, Callable[[WindowBuilder], WindowBuilder]] = {
    "tumbling": lambda window: window.key_by("user").tumbling("10s"),
    "sliding": lambda window: window.sliding("9s", every="3s").late_rule("frame_closed"),
    "growing": lambda window: window.key_by("user").cumulate("12s", step="4s"),
    "growing by frames": lambda window: window.cumulate("12s", step="4s").profile("jet"),
    "sessions": lambda window: window.key_by("user", "site").session("4s"),
    "sessions together": lambda window: window.key_by("ok").session("3s", touching="merge"),
    "sessions by gaps of rows": lambda window: window.key_by("site").session(
        F.concat((F.col("amount") % 6).cast("string"), F.lit(" seconds"))
    ),
    "sessions with a maximum": lambda window: window.session("1s", maximum_duration="5s"),
}


@pytest.mark.parametrize("kind", sampled(KINDS, quick=[*KINDS][::2]))
@hypothesis_settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    stream=st.builds(
        Disorder,
        seed=st.integers(0, 10**9),
        late_by=st.sampled_from([40, 8, 100, 0]),
        nulls=st.sampled_from([0.1, 0, 0.3]),
        gap=st.sampled_from([2.0, 0.2]),
    ),
    lag=st.sampled_from([3, 0, 10]),
)
def test_repaired_results_are_those_of_a_batch(
    spark: SparkSession, stream: Disorder, lag: int, kind: str
) -> None:
    """Of all rows, however late; rows without a time are in neither."""
    policy = WatermarkPolicies.with_fixed_lag(f"{lag}s")
    rows = stream.events(100)
    schema = row_type(SCHEMA)
    source = spark.createDataFrame([storable(row, schema) for row in rows], schema)
    window = KINDS[kind](et.window(source).event_time("ts", policy)).agg(*merged())
    with settings(spark, WITHOUT_CODE), Script(window.over, SCHEMA) as script:
        script.rows(*cut(rows, stream.seed, 5), [LAST])
        results = spark.createDataFrame(script.results(), script.result.schema)
        late = et.read_late(script.checkpoint).where("id >= 0")
        repaired = et.repair(results, late, window, source=source)
        assert told(repaired.drop("changed")) == told(window.results)
        kept = repaired.where("changed = 'unchanged'").drop("changed")
        assert kept.exceptAll(results).isEmpty()
        assert repaired.where("changed <> 'unchanged'").drop("changed").intersect(results).isEmpty()
