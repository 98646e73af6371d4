"""What a query says about its watermark: to Python, to Spark's progress, and in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from eventtide.testing._values import moment
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.streaming.listener import StreamingQueryListener

from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from eventtide import WatermarkPolicy
    from eventtide.testing._script import Query
    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.listener import (
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )

POLICY = WatermarkPolicies.with_fixed_lag("2s").throttle_by_frame("10s")


@pytest.mark.smoke
def test_progress_has_ideal_and_emitted_watermark_and_every_substream() -> None:
    """Tops, lag behind the leader, state and reason, rows."""
    with Script(counts(POLICY, substream="key", substream_idle_timeout="1m"), EVENTS) as script:
        script.rows([(at(47), "fast"), (at(27), "slow"), (at(26), "slow")])
        script.clock("+30s").rows([(at(48), "fast")])
        progress = et.progress(script.streaming_query)
    assert (progress.ideal, progress.emitted) == (moment(at(25)), moment(at(20)))
    fast, slow = sorted(progress.inputs[0].substreams, key=lambda line: line.name)
    assert (fast.top, fast.rows, fast.rows_total) == (moment(at(48)), 1, 2)
    assert (slow.top, slow.rows, slow.rows_total) == (moment(at(27)), 0, 2)
    assert slow.lag_behind_leader is not None
    assert slow.lag_behind_leader.total_seconds() == 21
    assert (slow.state, slow.reason, slow.since) == ("active", "rows", moment(at(0)))


def test_an_idle_substream_says_since_when() -> None:
    """Its deadline, by the clock."""
    with Script(counts(POLICY, substream="key", substream_idle_timeout="1m"), EVENTS) as script:
        script.rows([(at(47), "fast"), (at(27), "slow")]).clock("+30s").rows([(at(48), "fast")])
        script.clock("+31s").rows([(at(49), "fast")])
        progress = et.progress(script.streaming_query)
    slow = next(line for line in progress.inputs[0].substreams if line.name == "slow")
    assert (slow.state, slow.reason, slow.since) == ("idle", "timeout", moment(at(60)))


@pytest.mark.parametrize(
    ("expected", "names"), [(None, []), (1, ["1 of 1"]), (2, ["1 of 2", "2 of 2"])]
)
def test_substreams_that_were_never_seen_are_shown_if_they_were_asked_for(
    expected: int | None, names: list[str]
) -> None:
    """By their number; the one that every input waits for is nobody's."""
    options = {} if expected is None else {"expected": expected}
    with Script(counts(POLICY, substream="key", **options), EVENTS) as script:
        substreams = et.progress(script.streaming_query).inputs[0].substreams
        assert [line.name for line in substreams] == names
        assert all((line.state, line.reason) == ("expected", "never seen") for line in substreams)
        script.rows([(at(47), "north")])
        seen = et.progress(script.streaming_query).inputs[0].substreams
        assert sorted(line.name for line in seen) == sorted(["north", *names[1:]])


class _Asking(StreamingQueryListener):
    """Asks when the query has started; its own thread waits for that before it opens a source."""

    def __init__(self, of: SparkSession) -> None:
        self._session = of
        self.answers: list[str] = []

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - PySpark's name
        """Keep the answer of this moment."""
        query = self._session.streams.get(str(event.id))
        assert query is not None
        self.answers.append(et.blame(query))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - PySpark's name
        """Ask no more."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - PySpark's name
        """Ask no more."""


def test_a_query_that_is_starting_has_a_report(spark: SparkSession) -> None:
    """Its sources are opened on its own thread, which may be later than the first question."""
    events = spark.readStream.format("rate").load()
    asking = _Asking(spark)
    spark.streams.addListener(asking)
    try:
        et.with_watermark(events, "timestamp", POLICY).writeStream.format("noop").start().stop()
    finally:
        spark.streams.removeListener(asking)
    (answer,) = asking.answers
    assert "no row has been read yet" in answer


def test_the_same_numbers_are_in_sparks_progress(spark: SparkSession) -> None:
    """Among the metrics of the clock's source, on the real clock."""
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10)
    events = rate.option("startTimestamp", 1704067200000).load().limit(1000)
    watermarked = et.with_watermark(events, "timestamp", POLICY, substream=F.col("value") % 2)
    query = watermarked.writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination()
    metrics = next(source.metrics for source in query.recentProgress[0].sources if source.metrics)
    assert metrics["emittedWatermark"] == "2023-12-31T23:59:50Z"
    assert metrics["idealWatermark"] == "2023-12-31T23:59:58Z"
    assert metrics["substreams"] == "2"
    assert "top 2024-01-01T00:00:00Z" in metrics["substream.1"]


def test_blame_names_who_holds_the_watermark_back() -> None:
    """In one sentence, with what would happen were it idle."""
    with Script(counts(POLICY, substream="key"), EVENTS) as script:
        script.rows([(at(47), "fast"), (at(27), "slow")])
        sentence = et.blame(script.streaming_query)
    assert "'slow'" in sentence
    assert "00:00:45" in sentence


def counted(policy: WatermarkPolicy, scope: str = "global", **options: Any) -> Query:
    """Count by key in windows of ten seconds of Eventtide's own."""

    def query(events: DataFrame) -> WindowBuilder:
        window = et.window(events).event_time("ts", policy, **options).watermark_scope(scope)
        return window.key_by("key").tumbling("10s").agg(F.count("*").alias("n"))

    return query


def test_blame_names_the_keys_that_are_furthest_behind_where_each_has_a_watermark() -> None:
    """The query's own closes nothing; one that is silent is still known after other batches."""
    policy = WatermarkPolicies.with_fixed_lag("2s")
    with Script(counted(policy, "key"), EVENTS) as script:
        assert "Each key has its own watermark" in et.blame(script.streaming_query)
        script.rows([(at(47), "fast"), (at(27), "slow"), (at(58), "first")])
        script.rows([(at(59), "fast")]).rows([(at(60), "first")])
        sentence = et.blame(script.streaming_query)
        restarted = et.blame(script.restart().rows([(at(59), "fast")]).streaming_query)
    assert sentence == (
        "Each key has its own watermark; the watermark of the query closes no window. "
        "Furthest behind: "
        "'slow' at 2024-01-01 00:00:25 UTC, 'fast' at 2024-01-01 00:00:57 UTC, 'first' at "
        "2024-01-01 00:00:58 UTC. Next to close is window [2024-01-01 00:00:20, "
        "2024-01-01 00:00:30) UTC of 'slow', when its watermark reaches 2024-01-01 00:00:30 UTC."
    )
    assert "'slow' at 2024-01-01 00:00:25 UTC" in restarted


def test_blame_names_the_groups_of_keys_that_are_furthest_behind() -> None:
    """Each with the next window of any of its keys; one without rows stays known."""

    def grouped(events: DataFrame) -> WindowBuilder:
        parts = events.withColumn("site", F.substring("key", 1, 1))
        window = et.window(parts).event_time("ts", WatermarkPolicies.with_fixed_lag("2s"))
        by_site = window.key_by("site", "key").watermark_scope("site")
        return by_site.tumbling("10s").agg(F.count("*").alias("n"))

    with Script(grouped, EVENTS) as script:
        script.rows([(at(47), "a1"), (at(27), "b1"), (at(25), "b2"), (at(58), "c1")])
        script.rows([(at(59), "a1"), (at(59), "a2")])
        sentence = et.blame(script.streaming_query)
        restarted = et.blame(script.restart().rows([(at(59), "a1")]).streaming_query)
    assert sentence == (
        "Each group of keys has its own watermark; the watermark of the query closes no window. "
        "Furthest behind: 'b' at 2024-01-01 00:00:25 UTC, 'c' at 2024-01-01 00:00:56 UTC, 'a' at "
        "2024-01-01 00:00:57 UTC. Next to close is window [2024-01-01 00:00:20, "
        "2024-01-01 00:00:30) UTC of 'b', when its watermark reaches 2024-01-01 00:00:30 UTC."
    )
    assert "'b' at 2024-01-01 00:00:25 UTC" in restarted


def test_blame_forgets_a_key_whose_windows_have_closed() -> None:
    """It is not behind any more, whatever its watermark."""
    with Script(counted(WatermarkPolicies.with_fixed_lag("0s"), "key"), EVENTS) as script:
        script.rows([(at(5), "a"), (at(50), "b")]).rows([(at(70), "a")])
        sentence = et.blame(script.streaming_query)
    assert "Furthest behind: 'b' at 2024-01-01 00:00:50 UTC, 'a'" in sentence


def test_blame_accuses_nobody_in_a_lull() -> None:
    """The clock moves the watermark; which window it closes, and in how long."""
    policy = WatermarkPolicies.limiting_lag_and_lull("0s", "10s")
    with Script(counted(policy), EVENTS) as script:
        script.rows([(at(5), "a")]).rows([(at(6), "a")]).clock("+5s")
        sentence = et.blame(script.streaming_query)
    assert sentence == (
        "No rows for 5s: the clock advances the watermark, which is at 2024-01-01 00:00:06 UTC. "
        "Next to close is window [2024-01-01 00:00:00, 2024-01-01 00:00:10) UTC, in 9s "
        "by the clock, without rows."
    )


def test_blame_says_what_closes_next_where_only_rows_can_close_it() -> None:
    """The watermark at which it does."""
    with Script(counted(WatermarkPolicies.with_fixed_lag("2s")), EVENTS) as script:
        script.rows([(at(5), "a")])
        sentence = et.blame(script.streaming_query)
    assert sentence.endswith(
        "Next to close is window [2024-01-01 00:00:00, 2024-01-01 00:00:10) UTC, when the "
        "watermark reaches 2024-01-01 00:00:10 UTC."
    )


def test_a_start_does_not_hold_a_watermark_that_only_rows_move() -> None:
    """Though an idle timeout goes by the clock."""
    policy = WatermarkPolicies.with_fixed_lag("2s")
    with Script(counted(policy, substream="key", substream_idle_timeout="1m"), EVENTS) as script:
        script.rows([(at(5), "a"), (at(6), "b")])
        script.stop().waiting([(at(7), "a")])
        script.restart()
        sentence = et.blame(script.streaming_query)
    assert "The restart holds" not in sentence


def test_a_stopped_query_can_still_be_asked() -> None:
    """For its last batch."""
    with Script(counts(POLICY), EVENTS) as script:
        script.rows([(at(47), "")])
        query = script.streaming_query
        script.stop()
        assert et.progress(query).emitted == moment(at(40))


def test_explain_says_what_is_used_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    """Policy tree, substream, clock, and what stock Spark does."""

    def query(events: DataFrame) -> DataFrame:
        watermarked = et.with_watermark(
            events, "ts", POLICY, substream=F.upper("key"), substream_idle_timeout="1m"
        )
        et.explain(watermarked)
        return watermarked.select("key")

    with Script(query, EVENTS):
        printed = capsys.readouterr().out
    for part in (
        "throttle_by_frame(size=PT10S",
        "+- with_fixed_lag(lag=PT2S)",
        "upper(key)",
        "after PT1M",
        "stock Spark",
    ):
        assert part in printed


def test_a_query_without_a_policy_has_no_progress() -> None:
    """The error says what to ask instead."""
    with (
        Script(lambda events: events.select("key"), EVENTS) as script,
        pytest.raises(et.errors.InvalidArgumentError),
    ):
        et.progress(script.streaming_query)
