"""Partitions of a real Kafka broker as substreams: which are waited for, and for how long."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count, takewhile
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from eventtide.testing.values import moment

from tests.spark.checkpoints import LEDGER, files, set_back
from tests.spark.gate import Gate
from tests.spark.kafka import PATIENCE
from tests.spark.queries import at, counts, stock, windowed

if TYPE_CHECKING:
    from eventtide.testing.script import Query
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.kafka import Broker

LAG = WatermarkPolicies.with_fixed_lag("0s")
TIMED = "CAST(CAST(value AS STRING) AS TIMESTAMP) AS ts"


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> str:
    """Return a topic of the test's own, with two partitions."""
    name = re.sub(r"\W+", "-", request.node.name)
    broker.create(name, 2)
    return name


def timed(rows: DataFrame) -> DataFrame:
    """Read times from values."""
    return rows.selectExpr(TIMED)


def play(query: Query, rows: DataFrame, **options: Any) -> Script:
    """Run a query over Kafka under a scripted clock; the script has no rows of its own."""
    return Script(lambda _: query(timed(rows)), "ts timestamp", clock=at(0), **options)


def settle(script: Script) -> Script:
    """Wait until the query has read what there is."""
    return script.clock("+0s")


def substreams(script: Script) -> dict[str, tuple[str, str]]:
    """Return the state of each substream, and the reason, by its name without the topic's."""
    progress = et.progress(script.streaming_query)
    return {
        one.name.rpartition("/")[2]: (one.state, one.reason)
        for one in progress.inputs[0].substreams
    }


def await_steps(script: Script, seconds: int) -> None:
    """Wait until the watermark has come so much further; the query reads meanwhile."""
    until = max(moment(script.watermark), moment(at(0))) + timedelta(seconds=seconds)
    lost = time.monotonic() + PATIENCE
    while moment(script.watermark) < until:
        assert time.monotonic() < lost, f"the watermark stays at {script.watermark}"
        time.sleep(0.01)


def assert_never_goes_back(script: Script) -> None:
    """Compare the watermarks of all batches of all runs, as Spark has written them down."""
    batches = [file for file in Path(script.checkpoint, "offsets").iterdir() if file.name.isdigit()]
    written = [
        json.loads(batch.read_text("utf-8").splitlines()[1])["batchWatermarkMs"]
        for batch in sorted(batches, key=lambda batch: int(batch.name))
    ]
    assert len(set(written)) > 2
    assert written == sorted(written)


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
            settle(theirs)
            settle(ours)
        theirs.expect([(0, 1), (40, 1), (60, 1)], late=2)
        ours.expect([(0, 2)], late=0, watermark=at(31))


def test_a_silent_partition_is_idle_once_all_of_it_was_read(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """The reason says what is known of it: that it was read, or only that it is silent."""
    rows = broker.stream(spark, topic)
    by_name = counts(LAG, substream="partition", idle_timeout="10s")
    named = rows.selectExpr(TIMED, "partition")
    with (
        play(counts(LAG, idle_timeout="10s"), rows) as ours,
        Script(lambda _: by_name(named), "x int", clock=at(0)) as other,
    ):
        broker.send_all(topic, [(0, at(45)), (1, at(2))])
        for script, reason in (ours, "caught up"), (other, "timeout"):
            settle(script).expect([], watermark=at(2))
            script.clock("+9s")
            broker.send(topic, 0, at(46))
            settle(script).expect([], watermark=at(2))
            script.clock("+1s").expect([(0, 1)], watermark=at(46) if script is ours else at(47))
            broker.send(topic, 0, at(47))
            settle(script)
            assert substreams(script) == {"0": ("active", "rows"), "1": ("idle", reason)}


@pytest.mark.smoke
def test_a_partition_with_a_backlog_is_not_idle(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """It is silent only because what was read of it so far is filtered out."""
    rows = broker.stream(spark, topic, maxOffsetsPerTrigger=3)
    keeping = timed(rows.where("value != 'ping'"))
    query = counts(LAG, idle_timeout="10s", on_restart="resume")
    broker.send_all(topic, [(0, at(5)), (1, at(5))])
    with Script(lambda _: query(keeping), "x int", clock=at(0)) as script:
        script.stop()
        broker.send(topic, 0, at(45))
        broker.send(topic, 1, *["ping"] * 8, at(6))
        script.restart(clock="+1h")
        script.expect([], late=0, watermark=at(6))
        broker.send(topic, 1, at(31))
        settle(script).expect([(0, 3)], late=0, watermark=at(31))


def test_rows_that_wait_to_be_read_are_a_backlog(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """As behind a least number for each trigger; progress says so while no batch runs."""
    rows = broker.stream(spark, topic, minOffsetsPerTrigger=10, maxTriggerDelay="1h")
    broker.send_all(topic, [(0, at(45)), (1, at(2))])
    with play(counts(LAG, idle_timeout="10s"), rows) as script:
        settle(script).expect([], watermark=at(2))
        broker.send(topic, 1, at(3))
        settle(script).clock("+10s").expect([], watermark=at(2))
        assert substreams(script)["1"] == ("active", "backlog")


def test_a_lull_does_not_go_on_while_rows_wait_to_be_read(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    """A burst, and a batch with a part of it that takes longer than the lull."""
    gate = Gate(tmp_path)
    query = counts(WatermarkPolicies.limiting_lag_and_lull("0s", "30s"))
    rows = broker.stream(spark, topic, maxOffsetsPerTrigger=1)
    broker.send(topic, 0, at(1))
    with play(lambda rows: query(gate.passed(rows)), rows) as script, ThreadPoolExecutor(1) as pool:
        settle(script).expect([], watermark=at(1))
        gate.close()
        broker.send(topic, 0, *map(at, (2, 3, 4, 5, 12)))
        settling = pool.submit(settle, script)
        with gate.reached_by(settling):
            script._run.set_clock_ms(script._run.now_ms() + 60_000)
        settling.result()
        script.expect([(0, 5)], late=0)


def test_a_partition_that_has_never_delivered_is_waited_for_until_it_is_idle(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Without a timeout nobody would ever know, so that it is not waited for at all."""
    rows = broker.stream(spark, topic)
    broker.send(topic, 0, at(5), at(45))
    with (
        play(counts(LAG, idle_timeout="10s"), rows) as patient,
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
        settle(script).expect(watermark=at(5))
        broker.widen(topic, 3)
        broker.send(topic, 2, *["ping"] * 5, at(7))
        broker.send_all(topic, [(0, at(45)), (1, at(45))])
        settle(script).expect([], late=0, watermark=at(7))


def test_a_partition_whose_rows_are_all_filtered_out_is_not_waited_for(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Once all of it was read: without a timeout it would hold the others back for ever."""
    rows = broker.stream(spark, topic)
    with Script(lambda _: counts(LAG)(timed(rows.where("value != 'ping'"))), "x int") as script:
        for second in 5, 25, 45:
            broker.send_all(topic, [(0, at(second)), (1, "ping")])
            settle(script)
        script.expect([(0, 1), (20, 1)], late=0, watermark=at(45))


def test_a_batch_that_is_run_again_waits_for_partitions_that_were_new_in_it(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """No entry of the ledger has them; the first run has waited for them too."""
    broker.send(topic, 0, at(45))
    with play(counts(LAG, idle_timeout="10m"), broker.stream(spark, topic)) as script:
        settle(script).expect([], watermark="1970-01-01")
        script.stop()
        set_back(Path(script.checkpoint), 0, (LEDGER,))
        script.restart()
        for partition, second in (0, 60), (1, 2), (1, 55):
            broker.send(topic, partition, at(second))
            settle(script)
        script.expect([(0, 1), (40, 1)], late=0, watermark=at(55))


def test_two_topics_are_known_from_the_first_trigger_of_a_restart_on(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Also when the batch that was begun last is run again, before Spark asks for data.

    Nor is anything idle by the hour that has passed: each has rows that nobody has read.
    """

    def query(_: DataFrame) -> DataFrame:
        streams = [timed(broker.stream(spark, name)) for name in (topic, f"{topic}-too")]
        both = [
            et.with_watermark(of, "ts", LAG, idle_timeout="10s", on_restart="resume")
            for of in streams
        ]
        return windowed(both[0].union(both[1]))

    broker.create(f"{topic}-too", 1)
    broker.send_all(topic, [(0, at(5)), (1, at(6))])
    broker.send(f"{topic}-too", 0, at(7))
    with Script(query, "x int", clock=at(0)) as script:
        settle(script).expect([], watermark=at(5))
        script.stop()
        checkpoint = Path(script.checkpoint)
        set_back(checkpoint, max(files(checkpoint, "commits").values()), ())
        broker.send_all(topic, [(0, at(15)), (1, at(36))])
        broker.send(f"{topic}-too", 0, at(17))
        script.restart(clock="+1h").expect([(0, 3)], late=0, watermark=at(15))


@pytest.mark.smoke
def test_a_topic_that_is_deleted_is_not_waited_for(spark: SparkSession, broker: Broker) -> None:
    """Topics come and go; nobody has to wait for an idle timeout then."""
    for name in "come-and-go-a", "come-and-go-b":
        broker.create(name, 1)
        broker.send(name, 0, at(5))
    rows = broker.stream(spark, "come-and-go-.*", failOnDataLoss="false")
    with play(counts(LAG), rows) as script:
        broker.send("come-and-go-a", 0, at(45))
        settle(script).expect([], watermark=at(5))
        broker.delete("come-and-go-b")
        broker.send("come-and-go-a", 0, at(46))
        settle(script).expect([(0, 2)], late=0, watermark=at(46))
        broker.create("come-and-go-b", 1)
        broker.send("come-and-go-b", 0, at(47))
        broker.send("come-and-go-a", 0, at(55))
        settle(script).expect([], late=0, watermark=at(47))
        broker.send("come-and-go-b", 0, at(58))
        settle(script).expect([(40, 3)], late=0, watermark=at(55))


def test_a_stream_whose_topics_are_all_gone_holds_nobody_back(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Its source has no offsets then; the other stream goes on, until there is a topic again."""

    def query(_: DataFrame) -> DataFrame:
        patterned = broker.stream(spark, "all-gone-.*", failOnDataLoss="false")
        streams = [timed(patterned), timed(broker.stream(spark, topic))]
        both = [et.with_watermark(of, "ts", LAG) for of in streams]
        return windowed(both[0].union(both[1]))

    broker.create("all-gone-a", 1)
    broker.send("all-gone-a", 0, at(5))
    broker.send_all(topic, [(0, at(45)), (1, at(45))])
    with Script(query, "x int", clock=at(0)) as script:
        settle(script).expect([], watermark=at(5))
        broker.delete("all-gone-a")
        broker.send_all(topic, [(0, at(46)), (1, at(46))])
        settle(script).expect([(0, 1)], late=0, watermark=at(46))
        broker.create("all-gone-b", 1)
        broker.send("all-gone-b", 0, at(57))
        settle(script)
        broker.send_all(topic, [(0, at(78)), (1, at(78))])
        settle(script).expect([(40, 4)], late=0, watermark=at(57))


@pytest.mark.parametrize("available_now", [False, True], ids=["runs on", "runs once"])
def test_a_topic_that_is_deleted_while_the_query_is_down_is_not_waited_for(
    spark: SparkSession, broker: Broker, *, available_now: bool
) -> None:
    """The restart holds the clock until it has read the others, so that none of them is idle."""
    prefix = f"gone-{available_now}"
    for name in "abc":
        broker.create(f"{prefix}-{name}", 1)
        broker.send(f"{prefix}-{name}", 0, at(5))
    rows = broker.stream(spark, f"{prefix}-.*", failOnDataLoss="false", maxOffsetsPerTrigger=2)
    with play(counts(LAG, idle_timeout="5m"), rows) as script:
        script.stop()
        broker.delete(f"{prefix}-a")
        broker.send(f"{prefix}-b", 0, *map(at, range(100, 140, 5)))
        script.restart(clock="+1d", available_now=available_now)
        broker.send(f"{prefix}-c", 0, at(7))
        if available_now:
            script.restart()
        else:
            settle(script)
        script.expect([], late=0, watermark=at(7))


def test_a_run_without_rows_does_not_wait_for_a_topic_that_is_gone(
    spark: SparkSession, broker: Broker
) -> None:
    """As of a job that runs every hour; nothing but the missing topic is new."""
    for name, second in ("none-new-a", 5), ("none-new-b", 25):
        broker.create(name, 1)
        broker.send(name, 0, at(second))
    rows = broker.stream(spark, "none-new-.*", failOnDataLoss="false")
    with play(counts(LAG), rows) as script:
        script.stop()
        broker.delete("none-new-a")
        script.restart(available_now=True).expect([(0, 1)])


@pytest.mark.parametrize("limit", [{}, {"maxOffsetsPerTrigger": 7}], ids=["at once", "in parts"])
def test_a_day_of_backlog_is_read_without_a_late_row(
    spark: SparkSession, broker: Broker, topic: str, limit: dict[str, int]
) -> None:
    """While the query was down time has passed that its rows do not show yet."""
    policy = WatermarkPolicies.limiting_lag_and_lull("0s", "30s")
    query = counts(policy, idle_timeout="1m")
    broker.send_all(topic, [(0, at(1)), (1, at(2))])
    with play(query, broker.stream(spark, topic, **limit)) as script:
        script.stop()
        broker.send_all(topic, [(0, at(second)) for second in range(20, 600, 20)])
        broker.send_all(topic, [(1, at(second)) for second in range(10, 300, 10)])
        script.restart(clock="+1d")
        windows = script.results()
        assert sum(row["n"] for row in windows) == 2 + 14 + 28  # all below 00:04:50
        script.expect([], late=0, watermark=at(290))


def test_rows_that_come_while_a_backlog_is_read_are_waited_for(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    """The batch of the backlog takes longer than the idle timeout, and ends the hold."""
    gate = Gate(tmp_path)
    query = counts(LAG, idle_timeout="5m")
    broker.send_all(topic, [(0, at(5)), (1, at(5))])
    with play(lambda rows: query(gate.passed(rows)), broker.stream(spark, topic)) as script:
        script.stop()
        broker.send_all(topic, [(0, at(600)), (1, at(20))])
        gate.close()
        with ThreadPoolExecutor(1) as thread:
            restarting = thread.submit(script.restart, clock="+1d")
            with gate.reached_by(restarting):
                broker.send_all(topic, [(0, at(620)), (1, at(40))])
                script._run.set_clock_ms(script._run.now_ms() + 600_000)
            restarting.result()
        script.expect([(0, 2), (20, 1)], late=0, watermark=at(40))


def test_rows_that_come_while_a_batch_runs_are_waited_for_in_each_stream(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    """Also of a stream that Spark asks for new rows after the clock."""
    gate = Gate(tmp_path)

    def query(_: DataFrame) -> DataFrame:
        streams = [gate.passed(timed(broker.stream(spark, name))) for name in (topic, other)]
        both = [et.with_watermark(of, "ts", LAG, idle_timeout="5m") for of in streams]
        return windowed(both[0].union(both[1]))

    other = f"{topic}-too"
    broker.create(other, 2)
    for name in topic, other:
        broker.send_all(name, [(0, at(5)), (1, at(5))])
    with Script(query, "x int", clock=at(0)) as script:
        gate.close()
        broker.send_all(topic, [(0, at(600)), (1, at(600))])
        with ThreadPoolExecutor(1) as thread:
            settling = thread.submit(settle, script)
            with gate.reached_by(settling):
                broker.send_all(other, [(0, at(620)), (1, at(40))])
                script._run.set_clock_ms(script._run.now_ms() + 600_000)
            settling.result()
        script.expect([(0, 4)], late=0, watermark=at(40))


def test_rows_that_come_while_another_source_is_asked_are_waited_for(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    """A batch's own time is when all have answered; what Kafka said may be old by then."""
    rows, source = Gate(tmp_path / "rows"), Gate(tmp_path / "source")

    def query(_: DataFrame) -> DataFrame:
        streams = [rows.passed(timed(broker.stream(spark, topic))), source.stream(spark)]
        both = [et.with_watermark(of, "ts", LAG, idle_timeout="5m") for of in streams]
        return windowed(both[0].union(both[1]))

    broker.send_all(topic, [(0, at(5)), (1, at(5))])
    with Script(query, "x int", clock=at(0)) as script, ThreadPoolExecutor(1) as thread:
        script.clock("+4m")
        broker.send_all(topic, [(0, at(6)), (1, at(6))])
        settle(script)
        rows.close()
        broker.send(topic, 0, at(7))
        settling = thread.submit(settle, script)
        with rows.reached_by(settling):
            source.close()
            broker.send(topic, 0, at(600))
        with source.reached_by(settling):
            broker.send(topic, 1, at(20))
            script._run.set_clock_ms(script._run.now_ms() + 360_000)
        settling.result()
        broker.send_all(topic, [(1, at(21)), (0, at(610))])
        settle(script)
        broker.send(topic, 1, at(40))
        settle(script).expect([(0, 5), (20, 2)], late=0, watermark=at(40))


def test_a_broker_that_is_killed_and_comes_back_loses_nothing(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """The watermark never goes back either, also when the query is started again."""
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "10000")
    with play(counts(LAG), broker.stream(spark, topic)) as script:
        for second in range(0, 60, 5):
            if second in {15, 40}:
                broker.kill()
                broker.start()
            if second == 40:
                script.restart()
            broker.send_all(topic, [(0, at(second)), (1, at(second + 1))])
            settle(script)
        script.expect([(start, 4) for start in range(0, 50, 10)], late=0, watermark=at(55))
        assert_never_goes_back(script)


def test_a_broker_that_dies_under_load_loses_nothing(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Somebody sends all the time, and the query reads on as soon as it can."""
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "10000")
    enough = Event()
    seconds = takewhile(lambda _: not enough.is_set(), count())
    values = ((second % 2, at(second)) for second in seconds)
    with play(counts(LAG), broker.stream(spark, topic)) as script, ThreadPoolExecutor(1) as thread:
        sending = thread.submit(broker.send_steadily, topic, values, pause=0.02)
        try:
            for _ in range(2):
                await_steps(script, 50)
                assert not sending.done()
                broker.kill()
                broker.start()
            await_steps(script, 50)
        finally:
            enough.set()
        last = sending.result() - 1
        settle(script)
        full = range(0, (last - 1) // 10 * 10, 10)
        script.expect([(start, 10) for start in full], late=0, watermark=at(last - 1))
        assert_never_goes_back(script)
