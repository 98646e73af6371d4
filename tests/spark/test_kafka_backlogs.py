"""Rows in a real Kafka broker that nobody has read yet: no partition is silent by that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script

from tests.spark.checkpoints import LEDGER, files, set_back
from tests.spark.gate import Gate
from tests.spark.kafka_runs import LAG, await_idle, play, substreams, timed
from tests.spark.queries import at, counts, windowed

if TYPE_CHECKING:
    from eventtide import WatermarkPolicy
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.kafka import Broker


@pytest.mark.smoke
def test_a_partition_with_a_backlog_is_not_idle(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """It is silent only because what was read of it so far is filtered out."""
    rows = broker.stream(spark, topic, maxOffsetsPerTrigger=3)
    keeping = timed(rows.where("value != 'ping'"))
    query = counts(LAG, substream_idle_timeout="10s", on_restart="resume")
    broker.send_all(topic, [(0, at(5)), (1, at(5))])
    with Script(lambda _: query(keeping), "x int", clock=at(0)) as script:
        script.stop()
        broker.send(topic, 0, at(45))
        broker.send(topic, 1, *["ping"] * 8, at(6))
        script.restart(clock="+1h")
        script.expect([], late=0, watermark=at(6))
        broker.send(topic, 1, at(31))
        await_idle(script).expect([(0, 3)], late=0, watermark=at(31))


def test_rows_that_wait_to_be_read_are_a_backlog(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """As behind a least number for each trigger; progress says so while no batch runs."""
    rows = broker.stream(spark, topic, minOffsetsPerTrigger=10, maxTriggerDelay="1h")
    broker.send_all(topic, [(0, at(45)), (1, at(2))])
    with play(counts(LAG, substream_idle_timeout="10s"), rows) as script:
        await_idle(script).expect([], watermark=at(2))
        broker.send(topic, 1, at(3))
        await_idle(script).clock("+10s").expect([], watermark=at(2))
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
        await_idle(script).expect([], watermark=at(1))
        gate.close()
        broker.send(topic, 0, *map(at, (2, 3, 4, 5, 12)))
        settling = pool.submit(await_idle, script)
        with gate.reached_by(settling):
            script._run.set_clock_ms(script._run.now_ms() + 60_000)
        settling.result()
        script.expect([(0, 5)], late=0)


def test_a_batch_that_is_run_again_waits_for_partitions_that_were_new_in_it(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """No entry of the ledger has them; the first run has waited for them too."""
    broker.send(topic, 0, at(45))
    with play(counts(LAG, substream_idle_timeout="10m"), broker.stream(spark, topic)) as script:
        await_idle(script).expect([], watermark="1970-01-01")
        script.stop()
        set_back(Path(script.checkpoint), 0, (LEDGER,))
        script.restart()
        for partition, second in (0, 60), (1, 2), (1, 55):
            broker.send(topic, partition, at(second))
            await_idle(script)
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
            et.with_watermark(of, "ts", LAG, substream_idle_timeout="10s", on_restart="resume")
            for of in streams
        ]
        return windowed(both[0].union(both[1]))

    broker.create(f"{topic}-too", 1)
    broker.send_all(topic, [(0, at(5)), (1, at(6))])
    broker.send(f"{topic}-too", 0, at(7))
    with Script(query, "x int", clock=at(0)) as script:
        await_idle(script).expect([], watermark=at(5))
        script.stop()
        checkpoint = Path(script.checkpoint)
        set_back(checkpoint, max(files(checkpoint, "commits").values()), ())
        broker.send_all(topic, [(0, at(15)), (1, at(36))])
        broker.send(f"{topic}-too", 0, at(17))
        script.restart(clock="+1h").expect([(0, 3)], late=0, watermark=at(15))


@pytest.mark.parametrize("limit", [{}, {"maxOffsetsPerTrigger": 7}], ids=["at once", "in parts"])
def test_a_day_of_backlog_is_read_without_a_late_row(
    spark: SparkSession, broker: Broker, topic: str, limit: dict[str, int]
) -> None:
    """While the query was down time has passed that its rows do not show yet."""
    policy = WatermarkPolicies.limiting_lag_and_lull("0s", "30s")
    query = counts(policy, substream_idle_timeout="1m")
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
    query = counts(LAG, substream_idle_timeout="5m")
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
        both = [et.with_watermark(of, "ts", LAG, substream_idle_timeout="5m") for of in streams]
        return windowed(both[0].union(both[1]))

    other = f"{topic}-too"
    broker.create(other, 2)
    for name in topic, other:
        broker.send_all(name, [(0, at(5)), (1, at(5))])
    with Script(query, "x int", clock=at(0)) as script:
        gate.close()
        broker.send_all(topic, [(0, at(600)), (1, at(600))])
        with ThreadPoolExecutor(1) as thread:
            settling = thread.submit(await_idle, script)
            with gate.reached_by(settling):
                broker.send_all(other, [(0, at(620)), (1, at(40))])
                script._run.set_clock_ms(script._run.now_ms() + 600_000)
            settling.result()
        script.expect([(0, 4)], late=0, watermark=at(40))


@pytest.mark.parametrize(
    "silence",
    [
        (LAG, "5m", "+4m"),
        pytest.param(
            (WatermarkPolicies.limiting_lag_and_lull("0s", "30s"), None, "+0s"),
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["idle", "lull"],
)
def test_rows_that_come_while_another_source_is_asked_are_waited_for(
    spark: SparkSession,
    broker: Broker,
    topic: str,
    tmp_path: Path,
    silence: tuple[WatermarkPolicy, str | None, str],
) -> None:
    """A batch's own time is when all have answered; what Kafka said may be old by then."""
    rows, source = Gate(tmp_path / "rows"), Gate(tmp_path / "source")
    policy, idle_timeout, before = silence

    def query(_: DataFrame) -> DataFrame:
        events = rows.passed(timed(broker.stream(spark, topic)))
        ours = et.with_watermark(events, "ts", policy, substream_idle_timeout=idle_timeout)
        other = et.with_watermark(source.stream(spark), "ts", LAG, substream_idle_timeout="5m")
        return windowed(ours.union(other))

    broker.send_all(topic, [(0, at(5)), (1, at(5))])
    with Script(query, "x int", clock=at(0)) as script, ThreadPoolExecutor(1) as thread:
        script.clock(before)
        broker.send_all(topic, [(0, at(6)), (1, at(6))])
        await_idle(script)
        rows.close()
        broker.send(topic, 0, at(7))
        settling = thread.submit(await_idle, script)
        with rows.reached_by(settling):
            source.close()
            broker.send(topic, 0, at(600))
        with source.reached_by(settling):
            broker.send(topic, 1, at(20))
            script._run.set_clock_ms(script._run.now_ms() + 360_000)
        settling.result()
        broker.send_all(topic, [(1, at(21)), (0, at(610))])
        await_idle(script)
        broker.send(topic, 1, at(40))
        await_idle(script).expect([(0, 5), (20, 2)], late=0, watermark=at(40))
