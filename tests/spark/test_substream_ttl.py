"""Substreams that come and go: when they are forgotten, and when there will be too many."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script

from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_LAG = WatermarkPolicies.with_fixed_lag("0s")


def names(script: Script) -> set[str]:
    """Return the substreams that a query knows."""
    return {one.name for one in et.progress(script.streaming_query).inputs[0].substreams}


@pytest.mark.smoke
def test_a_fleet_whose_devices_come_and_go_never_reaches_the_limit() -> None:
    """Each device is there for one batch; the watermark goes on, also over a restart."""
    query = counts(
        NO_LAG, substream="key", substream_idle_timeout="1s", substream_ttl="16s", max_substreams=30
    )
    with Script(query, EVENTS) as script:
        for second in range(1, 40):
            script.clock(at(second)).rows([(at(second), f"device {second}")])
            if second == 25:
                script.restart()
        assert len(names(script)) < 20
        script.expect(watermark=at(39))


def test_a_substream_that_is_forgotten_counts_by_the_watermark_that_it_had() -> None:
    """When all are idle, the highest watermark of any is released; one that comes again is new."""
    query = counts(NO_LAG, substream="key", substream_idle_timeout="10s", substream_ttl="32s")
    with Script(query, EVENTS) as script:
        script.rows([(at(50), "a"), (at(20), "b")]).expect(watermark=at(20))
        script.clock("+5s").rows([(at(21), "b")]).clock("+6s").expect(watermark=at(21))
        script.rows([(at(22), "b")]).clock("+9s").rows([(at(23), "b")]).clock("+9s")
        script.rows([(at(24), "b")]).clock("+9s").rows([(at(25), "b")]).expect(watermark=at(25))
        assert names(script) == {"b"}
        script.clock("+10s").expect(watermark=at(50))
        script.rows([(at(60), "a")]).expect(watermark=at(60))
        assert names(script) == {"a", "b"}


def test_one_that_is_expected_is_not_forgotten_before_it_was_seen() -> None:
    """It was named, and is in the report for good."""
    query = counts(
        NO_LAG,
        substream="key",
        substream_idle_timeout="1s",
        substream_ttl="2s",
        expected=["a", "b"],
    )
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a")]).clock("+1h").rows([(at(2), "c")])
        assert names(script) == {"b", "c"}


def test_those_that_are_gone_make_room_in_the_batch_that_brings_others() -> None:
    """Also when that is the first one after they have gone; those that come again stay."""
    query = counts(
        NO_LAG, substream="key", substream_idle_timeout="1s", substream_ttl="16s", max_substreams=3
    )
    with Script(query, EVENTS) as script:
        script.rows([(at(1), "a"), (at(1), "b"), (at(1), "c")]).clock("+1h")
        script.rows([(at(2), "c"), (at(2), "d"), (at(2), "e")])
        assert names(script) == {"c", "d", "e"}
        with pytest.raises(et.errors.RefusedDataError, match="more than 3"), et.named_errors():
            script.clock("+1h").rows([(at(3), name) for name in "abcd"])


def test_a_query_says_when_its_substreams_reach_the_limit() -> None:
    """From four fifths of it on, at the rate of the last half hour or so."""
    query = counts(NO_LAG, substream="key", max_substreams=10)
    with Script(query, EVENTS) as script:
        for second in range(7):
            script.clock(at(60 * second)).rows([(at(second), f"{second}")])
        told = et.progress(script.streaming_query).inputs[0]
        assert (told.substream_count, told.max_substreams) == (7, 10)
        assert told.limit_reached_in is None
        script.clock(at(60 * 7)).rows([(at(7), "7")])
        told = et.progress(script.streaming_query).inputs[0]
        assert told.limit_reached_in == timedelta(minutes=2)
        advice = et.read_checkpoint(script.checkpoint).advice
        assert any("8 substreams, of at most 10" in text for text in advice)
        assert any("reach the limit in 2m" in text for text in advice)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"substream_ttl": "1m"}, "substream_ttl"),
        ({"substream_ttl": "1m", "substream_idle_timeout": "2m"}, "at least the idle timeout"),
    ],
)
def test_a_time_that_is_no_longer_than_the_idle_timeout_is_refused(
    spark: SparkSession, options: dict[str, Any], match: str
) -> None:
    """What is not idle is waited for, and cannot be forgotten."""
    events = spark.readStream.format("rate").load()
    with pytest.raises(et.errors.InvalidArgumentError, match=match):
        et.with_watermark(events, "timestamp", NO_LAG, substream="value", **options)
