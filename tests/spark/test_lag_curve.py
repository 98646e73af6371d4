"""The curve of a query says how many rows each fixed lag would have cost: it equals replays."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import InvalidArgumentError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import SCHEMA, Disorder
from tests.spark.queries import EVENTS, at, counts
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide.observe import LagCurve
    from eventtide.windows import WindowBuilder
    from eventtide.windows._profiles import LateRule
    from pyspark.sql import DataFrame, SparkSession

TWO_SECONDS = WatermarkPolicies.with_fixed_lag("2s")
STREAM = Disorder(seed=11, late_by=40, nulls=0, gap=1).events(240)
BATCHES = [STREAM[i : i + 20] for i in range(0, len(STREAM), 20)]


def windows(
    lag: timedelta, substream: str | None, rule: LateRule = "behind_watermark"
) -> Callable[[DataFrame], WindowBuilder]:
    """Return windows of ten seconds, in which a row is late by a rule."""
    policy = WatermarkPolicies.with_fixed_lag(lag)

    def query(events: DataFrame) -> WindowBuilder:
        window = et.window(events).event_time("ts", policy, substream=substream)
        return window.tumbling("10s").late_rule(rule).agg(F.count("*").alias("rows"))

    return query


def played(lag: timedelta, substream: str | None, rule: LateRule) -> tuple[int, LagCurve]:
    """Return the number of late rows of a run, and its curve."""
    with Script(windows(lag, substream, rule), SCHEMA) as script:
        script.rows(*BATCHES)
        query = script.streaming_query
        return sum(et.progress(query).late.values()), et.lag_curve(query)


@pytest.mark.parametrize(
    ("substream", "rule"),
    [
        (None, "behind_watermark"),
        ("user", "window_closed"),
        pytest.param(None, "window_closed", marks=pytest.mark.thorough),
        pytest.param("site", "behind_watermark", marks=pytest.mark.thorough),
    ],
)
def test_the_curve_of_one_run_equals_runs_with_other_lags(
    substream: str | None, rule: LateRule
) -> None:
    """At the end of each step that is tried, with one and with many substreams."""
    _, curve = played(timedelta(seconds=3), substream, rule)
    assert len(STREAM) - 60 <= curve.rows < len(STREAM)  # nothing is known of the first rows
    ends = [disorder for disorder, _ in curve.steps]
    assert len(ends) > 5
    for lag in (ends[0], ends[len(ends) // 3], ends[-2], ends[-1]):
        whole = timedelta(milliseconds=-(-lag // timedelta(milliseconds=1)))
        late, same = played(whole, substream, rule)
        assert same == curve  # it does not depend on the lag
        assert late <= curve.late_share(lag) * curve.rows + 1e-9
        below = sum(rows for disorder, rows in curve.steps if disorder > whole * 9 / 8)
        assert late >= below
    assert late == 0


@pytest.mark.thorough
@pytest.mark.parametrize("substream", [None, "dest"])
def test_the_curve_of_the_flights_equals_replays(substream: str | None) -> None:
    """Four weeks of flights of New York, by their scheduled departure, read each half a day."""
    from examples.flights.data import load  # noqa: PLC0415 - a client of Spark Connect has no data

    hours = list(load(days=28).by_hour.values())
    batches = [
        [(report.scheduled, report.dest) for reports in hours[i : i + 12] for report in reports]
        for i in range(0, len(hours), 12)
    ]

    def replayed(lag: timedelta) -> tuple[int, LagCurve]:
        with Script(windows(lag, substream), "ts timestamp, dest string") as script:
            script.rows(*filter(None, batches))
            query = script.streaming_query
            return sum(et.progress(query).late.values()), et.lag_curve(query)

    _, curve = replayed(timedelta(days=2))
    assert curve.rows > 20_000
    for share in ("1%", "0.1%"):
        lag = curve.lag_for(share)
        late, _ = replayed(lag)
        assert late <= curve.late_share(lag) * curve.rows + 1e-9
        assert late >= sum(rows for disorder, rows in curve.steps if disorder > lag * 9 / 8)


def test_a_row_is_counted_by_its_distance_to_what_was_reached_before_its_batch() -> None:
    """The lowest top of the active substreams; the order inside a batch does not matter."""
    with Script(counts(TWO_SECONDS, substream="key"), EVENTS) as script:
        script.rows([(at(47), "a"), (at(27), "b"), (at(20), "a")])
        script.rows([(at(48), "a"), (at(20), "b"), (at(26.5), "a")])
        script.rows([(at(49), "a"), (at(40), "b"), (at(30), "a")])
        curve = et.lag_curve(script.streaming_query)
    assert curve.rows == 6  # without the first batch
    assert [rows for _, rows in curve.steps] == [4, 1, 1]
    assert timedelta(seconds=0.5) <= curve.steps[1][0] < timedelta(seconds=0.57)
    assert curve.steps[2][0] == timedelta(seconds=7)  # the longest is exact
    assert curve.lag_for("50%") == timedelta(0)
    assert curve.lag_for(0) == timedelta(seconds=7)


def test_the_advice_is_a_sentence_for_a_share_and_for_a_lag() -> None:
    """With a lag that can be read; and not both."""
    with Script(counts(TWO_SECONDS), EVENTS) as script:
        script.rows([(at(47), "a")], [], [(at(47 - i), "a") for i in range(9)])
        query = script.streaming_query
        assert et.advise(query, late="23%") == (
            "With a lag of 6s 300ms, 22.2222% of the last 9 rows of input 0 would have been late."
        )
        assert et.advise(query, lag="30s") == (
            "With a lag of 30s, 0% of the last 9 rows of input 0 would have been late."
        )
        with pytest.raises(InvalidArgumentError, match=r"late.*or lag is needed"):
            et.advise(query)
        with pytest.raises(InvalidArgumentError, match="input='web' is unknown"):
            et.lag_curve(query, input="web")
        with pytest.raises(InvalidArgumentError, match="input=True is unknown"):
            et.lag_curve(query, input=True)
        with pytest.raises(InvalidArgumentError, match="span='week' has no rows"):
            et.advise(query, lag="30s", span="week")


def test_the_curve_goes_on_after_a_restart() -> None:
    """It is in the ledger, and can be read without a query."""
    with Script(windows(timedelta(seconds=3), "site"), SCHEMA) as script:
        script.rows(*BATCHES[:9])
        before = et.lag_curve(script.streaming_query)
        script.restart()
        assert et.lag_curve(script.streaming_query) == before
        script.rows(*BATCHES[9:]).stop()
        curve = et.lag_curve(script.checkpoint)
    assert before.rows == sum(map(len, BATCHES[2:9]))
    assert curve.rows == sum(map(len, BATCHES[2:]))


def test_disorder_is_not_counted_if_the_session_says_so(spark: SparkSession) -> None:
    """The error says which setting does it."""
    with (
        settings(spark, {"spark.eventtide.lagCurve.rows": "0"}),
        Script(counts(TWO_SECONDS), EVENTS) as script,
    ):
        script.rows([(at(47), "a")])
        assert et.progress(script.streaming_query).inputs[0].disorder is None
        with pytest.raises(InvalidArgumentError, match=r"lagCurve\.rows above 0"):
            et.lag_curve(script.streaming_query)
