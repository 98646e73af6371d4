"""A real Kafka broker dies and comes back."""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count, takewhile
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest
from eventtide.testing._values import moment

from tests.spark.kafka import PATIENCE
from tests.spark.kafka_runs import LAG, await_idle, play, timed
from tests.spark.queries import at, counts

if TYPE_CHECKING:
    from eventtide.testing import Script
    from pyspark.sql import SparkSession

    from tests.spark.kafka import Broker


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


@pytest.mark.thorough
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
            await_idle(script)
        script.expect([(start, 4) for start in range(0, 50, 10)], late=0, watermark=at(55))
        assert_never_goes_back(script)


def test_a_broker_that_dies_under_load_loses_nothing(
    spark: SparkSession, broker: Broker, topic: str
) -> None:
    """Somebody sends all the time, and the query reads on as soon as it can.

    A producer whose broker dies may send a record twice, so the topic says which rows there are.
    """
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
        sent = sending.result()
        await_idle(script)
        times = [moment(row.ts) for row in timed(broker.batch(spark, topic)).collect()]
        assert set(times) == {moment(at(second)) for second in range(sent)}
        rows = Counter((time - moment(at(0))) // timedelta(seconds=10) * 10 for time in times)
        full = range(0, (sent - 2) // 10 * 10, 10)
        script.expect([(start, rows[start]) for start in full], late=0, watermark=at(sent - 2))
        assert_never_goes_back(script)
