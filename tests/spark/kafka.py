"""A real Kafka broker, which is controller too: one process on free ports."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.jars import BROKER
from tests.jvms import java

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Self

PATIENCE = 60.0  # seconds until something that has to happen is taken for lost

SERVER = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/log
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=200
broker.session.timeout.ms=1000
auto.create.topics.enable=false
"""


class Broker:
    """A broker that a test may kill and start again; its log is in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port, controller = _free_ports()
        self._properties = folder / "server.properties"
        self._properties.write_text(
            SERVER.format(port=self._port, controller=controller, folder=folder), "utf-8"
        )
        storage = "kafka.tools.StorageTool", "format", "-t", "eventtide-test-broker"
        formatted = self._java(*storage, "-c", str(self._properties)).wait(PATIENCE)
        assert formatted == 0, self._output
        self.start()

    @property
    def address(self) -> str:
        """What clients connect to."""
        return f"127.0.0.1:{self._port}"

    @property
    def _sender(self) -> dict[str, str | int | bool]:
        """Settings of producers, which keep the order of a partition and send nothing twice."""
        return {
            "bootstrap.servers": self.address,
            "enable.idempotence": True,
            "linger.ms": 1,
            "log_level": 0,
        }

    def start(self) -> Self:
        """Start the process, and wait until it answers."""
        self._process = self._java("kafka.Kafka", str(self._properties))
        until = time.monotonic() + PATIENCE
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                self.kill()
                raise RuntimeError(f"the broker does not answer\n{self._output}")
        return self

    def kill(self) -> None:
        """End the process as a crash does."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE)

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        _done(self._admin.create_topics([NewTopic(topic, partitions, 1)]))
        self._await_partitions(topic, partitions)

    def widen(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions: `partitions` in all."""
        _done(self._admin.create_partitions([NewPartitions(topic, partitions)]))
        self._await_partitions(topic, partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic, and wait until it is not listed any more."""
        _done(self._admin.delete_topics([topic]))
        self._await_partitions(topic, 0)

    def _await_partitions(self, topic: str, count: int) -> None:
        """Wait until a topic is listed with `count` partitions; new ones come later."""
        until = time.monotonic() + PATIENCE
        while True:
            listed = self._admin.list_topics(timeout=PATIENCE).topics.get(topic)
            if (0 if listed is None else len(listed.partitions)) == count:
                return
            assert time.monotonic() < until

    def send(self, topic: str, partition: int, *values: str) -> None:
        """Append values to a partition, and wait until they are there."""
        self.send_all(topic, [(partition, value) for value in values])

    def send_all(self, topic: str, values: Sequence[tuple[int, str]]) -> None:
        """Append values, each to its partition, and wait until they are there."""
        producer = Producer(self._sender)
        failed: list[object] = []
        for partition, value in values:
            producer.produce(
                topic,
                value.encode(),
                partition=partition,
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
        assert producer.flush(PATIENCE) == 0
        assert not failed

    def send_steadily(self, topic: str, values: Iterable[tuple[int, str]], pause: float) -> int:
        """Append values one after the other, also while there is no broker for some of the time.

        Returns how many they were.
        """
        producer = Producer({**self._sender, "retry.backoff.max.ms": 200})
        sent = 0
        for partition, value in values:
            producer.produce(topic, value.encode(), partition=partition)
            producer.poll(0)
            time.sleep(pause)
            sent += 1
        assert producer.flush(PATIENCE) == 0
        return sent

    def stream(self, spark: SparkSession, topic: str, **options: str | int) -> DataFrame:
        """Return a stream over a topic, or over all whose names fit, from their beginning."""
        subscribe = "subscribePattern" if "*" in topic else "subscribe"
        reader = spark.readStream.format("kafka").option(subscribe, topic)
        return (
            reader.option("kafka.bootstrap.servers", self.address)
            .option("startingOffsets", "earliest")
            .option("kafka.metadata.max.age.ms", 100)  # to see new partitions and topics at once
            .option("kafka.fetch.max.wait.ms", 10)  # else half of a second a batch
            .options(**options)
            .load()
        )

    def batch(self, spark: SparkSession, topic: str, **options: str) -> DataFrame:
        """Return what a topic has, read once."""
        reader = spark.read.format("kafka").option("subscribe", topic).options(**options)
        return reader.option("kafka.bootstrap.servers", self.address).load()

    def values(self, topic: str) -> list[str]:
        """Return the values that a topic's first partition has."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "tests"})
        until = time.monotonic() + PATIENCE
        try:
            while True:
                try:
                    _, count = consumer.get_watermark_offsets(TopicPartition(topic, 0), PATIENCE)
                    break
                except KafkaException:  # a broker that has just started leads nothing yet
                    assert time.monotonic() < until
                    time.sleep(0.1)
        finally:
            consumer.close()
        return self.await_values(topic, count)

    def await_values(self, topic: str, count: int) -> list[str]:
        """Return the values of a topic's first partition, once there are that many."""
        settings = {"bootstrap.servers": self.address, "group.id": "tests"}
        consumer = Consumer({**settings, "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, 0, 0)])
        values: list[str] = []
        until = time.monotonic() + PATIENCE
        try:
            while len(values) < count:
                assert time.monotonic() < until, values
                message = consumer.poll(1)
                if message is not None and message.error() is None:
                    values.append((message.value() or b"").decode())
            return values
        finally:
            consumer.close()

    @property
    def _output(self) -> str:
        return (self._folder / "output").read_text("utf-8")

    def _answers(self) -> bool:
        try:
            self._admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
            self._admin.list_topics(timeout=1)
        except KafkaException:
            return False
        return True

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        with (self._folder / "output").open("ab") as output:
            return subprocess.Popen(  # noqa: S603
                [java(), "-Xmx512m", "-cp", f"{BROKER}/*", *command],
                stdout=output,
                stderr=output,
                cwd=self._folder,
            )


def _done(futures: Mapping[str, Future[None]]) -> None:
    for future in futures.values():
        future.result(PATIENCE)


def _free_ports() -> tuple[int, int]:
    """Return two ports that nobody listens to, both held until both are known."""
    with socket.socket() as one, socket.socket() as other:
        for each in one, other:
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
