"""Partitions of a real Kafka broker as substreams: which are waited for, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.kafka_runs import LAG, TIMED, await_idle, play, substreams, timed
from tests.spark.queries import at, counts, stock, windowed
from tests.spark.test_golden_field import CASES

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.kafka import Broker

# Spark asks for a topic while it is being deleted, now and then. Kafka's client says that there is
# none only when its time is up, of which it has a minute.
DELETED: dict[str, str | int] = {
    "failOnDataLoss": "false",
    "kafka.request.timeout.ms": 3000,
    "kafka.default.api.timeout.ms": 3000,
}


def test_a_partition_that_lags_behind_loses_nothing(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Stock Spark goes by the fast one; the partition is the substream, and nobody has named it."""

    def send(fast: int, slow: int) -> None:
        broker.send_all(topic, [(0, at(fast)), (1, at(slow))])

    with (
        play(stock("0 seconds"), broker.stream(spark, topic)) as theirs,
        play(counts(LAG), broker.stream(spark, topic)) as ours,
    ):
        for fast, slow in [(45, 2), (60, 3), (75, 31)]:
            send(fast, slow)
            await_idle(theirs)
            await_idle(ours)
        theirs.expect([(0, 1), (40, 1), (60, 1)], late=2)
        ours.expect([(0, 2)], late=0, watermark=at(31))


def test_the_late_log_knows_partitions_that_were_projected_away(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """The job keeps the time alone; topic and partition are no columns of the log either."""

    def tens(rows: DataFrame) -> WindowBuilder:
        return et.window(rows).event_time("ts", LAG).tumbling("10s").agg(F.count("*").alias("n"))

    with play(tens, broker.stream(spark, topic)) as script:
        broker.send_all(topic, [(0, at(2)), (1, at(3))])
        await_idle(script)
        broker.send_all(topic, [(0, at(45)), (1, at(40))])
        await_idle(script)
        broker.send_all(topic, [(0, at(46)), (1, at(2))])
        await_idle(script)
        late = et.read_late(script.checkpoint)
        assert late.columns[:2] == ["ts", "_substream"]
        assert [row._substream for row in late.collect()] == [f"{topic}/1"]


def test_a_silent_partition_is_idle_once_all_of_it_was_read(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """The reason says what is known of it: that it was read, or only that it is silent."""
    rows = broker.stream(spark, topic)
    by_name = counts(LAG, substream="partition", substream_idle_timeout="10s")
    named = rows.selectExpr(TIMED, "partition")
    with (
        play(counts(LAG, substream_idle_timeout="10s"), rows) as ours,
        Script(lambda _: by_name(named), "x int", clock=at(0)) as other,
    ):
        broker.send_all(topic, [(0, at(45)), (1, at(2))])
        for script, reason in (ours, "caught up"), (other, "timeout"):
            await_idle(script).expect([], watermark=at(2))
            script.clock("+9s")
            broker.send(topic, 0, at(46))
            await_idle(script).expect([], watermark=at(2))
            script.clock("+1s").expect([(0, 1)], watermark=at(46) if script is ours else at(47))
            broker.send(topic, 0, at(47))
            await_idle(script)
            assert substreams(script) == {"0": ("active", "rows"), "1": ("idle", reason)}


@pytest.mark.parametrize("case", ["FC04", "FC06", "FC11"])
def test_cases_of_the_field_are_followed_by_partitions(
    spark: SparkSession, broker: Broker, golden: Callable[[str], None], case: str
) -> None:
    """Idle channels and splits of other systems: one is idle when the others alone have rows."""
    golden(case)
    steps, channels = CASES[case]["steps"], CASES[case]["config"].get("channels", 0)
    splits = [step["split"] for step in steps if step["op"] == "register"]
    partitions = [*range(channels), *splits]
    broker.create(case, len(partitions))
    alive: dict[int, str] = {}
    last = [0] * len(partitions)  # the clock at the last row of each
    now, expected = 0, "1970-01-01"
    with play(counts(LAG, substream_idle_timeout="10s"), broker.stream(spark, case)) as script:
        for step in steps[len(splits) :]:
            partition = partitions.index(step.get("channel", step.get("split")))
            if "at" in step:
                alive[partition] = at(step["at"])
                broker.send(case, partition, alive[partition])
                await_idle(script)
                last[partition] = now
            else:
                alive.pop(partition, None)
                until_idle = last[partition] + 10 - now
                script.clock(f"+{until_idle // 2}s")
                broker.send_all(case, list(alive.items()))
                await_idle(script)
                for other in alive:
                    last[other] = now + until_idle // 2
                script.clock(f"+{until_idle - until_idle // 2}s")
                now += until_idle
            for output in step.get("expect", []):
                expected = at(output["watermark"]) if "watermark" in output else expected
            script.expect(late=0, watermark=expected)


def test_a_partition_that_has_never_delivered_is_waited_for_until_it_is_idle(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Without a timeout nobody would ever know, so that it is not waited for at all."""
    rows = broker.stream(spark, topic)
    broker.send(topic, 0, at(5), at(45))
    with (
        play(counts(LAG, substream_idle_timeout="10s"), rows) as patient,
        play(counts(LAG), rows) as other,
    ):
        patient.expect([], watermark="1970-01-01")
        other.expect([(0, 1)], watermark=at(45))
        assert substreams(patient) == {"0": ("active", "rows"), "1": ("expected", "never seen")}
        patient.clock("+10s").expect([(0, 1)], watermark=at(45))


def test_a_partition_that_is_added_holds_back_as_soon_as_it_has_rows(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Also while those that were read are filtered out; the watermark never goes back."""
    rows = broker.stream(spark, topic, maxOffsetsPerTrigger=2)
    with Script(lambda _: counts(LAG)(timed(rows.where("value != 'ping'"))), "x int") as script:
        broker.send_all(topic, [(0, at(5)), (1, at(5))])
        await_idle(script).expect(watermark=at(5))
        broker.widen(topic, 3)
        broker.send(topic, 2, *["ping"] * 5, at(7))
        broker.send_all(topic, [(0, at(45)), (1, at(45))])
        await_idle(script).expect([], late=0, watermark=at(7))


def test_a_partition_whose_rows_are_all_filtered_out_is_not_waited_for(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Once all of it was read: without a timeout it would hold the others back for ever."""
    rows = broker.stream(spark, topic)
    with Script(lambda _: counts(LAG)(timed(rows.where("value != 'ping'"))), "x int") as script:
        for second in 5, 25, 45:
            broker.send_all(topic, [(0, at(second)), (1, "ping")])
            await_idle(script)
        script.expect([(0, 1), (20, 1)], late=0, watermark=at(45))


def test_a_topic_that_is_deleted_is_not_waited_for(spark: SparkSession, broker: Broker) -> None:
    """Topics come and go; nobody has to wait for an idle timeout then."""
    for name in "come-and-go-a", "come-and-go-b":
        broker.create(name, 1)
        broker.send(name, 0, at(5))
    rows = broker.stream(spark, "come-and-go-.*", **DELETED)
    with play(counts(LAG), rows) as script:
        broker.send("come-and-go-a", 0, at(45))
        await_idle(script).expect([], watermark=at(5))
        broker.delete("come-and-go-b")
        broker.send("come-and-go-a", 0, at(46))
        await_idle(script).expect([(0, 2)], late=0, watermark=at(46))
        broker.create("come-and-go-b", 1)
        broker.send("come-and-go-b", 0, at(47))
        broker.send("come-and-go-a", 0, at(55))
        await_idle(script).expect([], late=0, watermark=at(47))
        broker.send("come-and-go-b", 0, at(58))
        await_idle(script).expect([(40, 3)], late=0, watermark=at(55))


def test_a_stream_whose_topics_are_all_gone_holds_nobody_back(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Its source has no offsets then; the other stream goes on, until there is a topic again."""

    def query(_: DataFrame) -> DataFrame:
        patterned = broker.stream(spark, "all-gone-.*", **DELETED)
        streams = [timed(patterned), timed(broker.stream(spark, topic))]
        both = [et.with_watermark(of, "ts", LAG) for of in streams]
        return windowed(both[0].union(both[1]))

    broker.create("all-gone-a", 1)
    broker.send("all-gone-a", 0, at(5))
    broker.send_all(topic, [(0, at(45)), (1, at(45))])
    with Script(query, "x int", clock=at(0)) as script:
        await_idle(script).expect([], watermark=at(5))
        broker.delete("all-gone-a")
        broker.send_all(topic, [(0, at(46)), (1, at(46))])
        await_idle(script).expect([(0, 1)], late=0, watermark=at(46))
        broker.create("all-gone-b", 1)
        broker.send("all-gone-b", 0, at(57))
        await_idle(script)
        broker.send_all(topic, [(0, at(78)), (1, at(78))])
        await_idle(script).expect([(40, 4)], late=0, watermark=at(57))


@pytest.mark.parametrize("available_now", [False, True], ids=["runs on", "runs once"])
def test_a_topic_that_is_deleted_while_the_query_is_down_is_not_waited_for(
    spark: SparkSession, broker: Broker, *, available_now: bool
) -> None:
    """The restart holds the clock until it has read the others, so that none of them is idle."""
    prefix = f"gone-{available_now}"
    for name in "abc":
        broker.create(f"{prefix}-{name}", 1)
        broker.send(f"{prefix}-{name}", 0, at(5))
    rows = broker.stream(spark, f"{prefix}-.*", **DELETED, maxOffsetsPerTrigger=2)
    with play(counts(LAG, substream_idle_timeout="5m"), rows) as script:
        script.stop()
        broker.delete(f"{prefix}-a")
        broker.send(f"{prefix}-b", 0, *map(at, range(100, 140, 5)))
        script.restart(clock="+1d", available_now=available_now)
        broker.send(f"{prefix}-c", 0, at(7))
        if available_now:
            script.restart()
        else:
            await_idle(script)
        script.expect([], late=0, watermark=at(7))


def test_a_run_without_rows_does_not_wait_for_a_topic_that_is_gone(
    spark: SparkSession, broker: Broker
) -> None:
    """As of a job that runs every hour; nothing but the missing topic is new."""
    for name, second in ("none-new-a", 5), ("none-new-b", 25):
        broker.create(name, 1)
        broker.send(name, 0, at(second))
    rows = broker.stream(spark, "none-new-.*", **DELETED)
    with play(counts(LAG), rows) as script:
        script.stop()
        broker.delete("none-new-a")
        script.restart(available_now=True).expect([(0, 1)])
