"""Milliseconds of a micro-batch of a thousand rows: what a batch takes however few rows it has."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from turns import ROCKSDB, Measured, millis_figure, rates, session, take_turn, warm_up
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from figures import Figure, Settings
    from pyspark.sql import DataFrame, SparkSession

ROWS, KEYS = 1_000, 100
WINDOWS = Windows(10, 10)
TURNS, BATCHES = 5, 60
PARTITIONS = "spark.sql.shuffle.partitions"

_STREAMING = "org.apache.spark.sql.execution.streaming"
# What Spark chooses for a checkpoint on a local disk if nothing is set.
SPARKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        f"{_STREAMING}.state.HDFSBackedStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "1",
    f"{ROCKSDB}.changelogCheckpointing.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileContextBasedCheckpointFileManager"
    ),
}


@dataclass
class Side:
    """A query, and the settings with which it starts."""

    name: str
    query: DataFrame
    settings: Mapping[str, str] = field(default_factory=dict)
    measured: Measured = field(default_factory=Measured)

    def turn(self, spark: SparkSession, batches: int) -> None:
        """Run it for a number of batches."""
        with _set(spark, self.settings):
            take_turn(self.query, batches, self.measured)


def run(*, quick: bool) -> Iterator[Figure]:
    """Compare with Spark's windows with Spark's own settings, and with those of `et.configure`."""
    with session() as spark:
        warm_up(*(side.query for side in _sides(spark)))
        for partitions in (2,) if quick else (2, 1):
            with _set(spark, {PARTITIONS: str(partitions)}):
                yield from _compare(spark, partitions, 1 if quick else TURNS)


def _sides(spark: SparkSession) -> tuple[Side, ...]:
    rows = events(rates(spark, ROWS), even(KEYS), rate=ROWS)
    ours, stock = WINDOWS.ours(rows), WINDOWS.stock(rows)
    return (
        Side("ours", ours),
        Side("groupBy(window), Spark's own settings", stock, SPARKS),
        Side("groupBy(window), the same settings", stock),
    )


def _compare(spark: SparkSession, partitions: int, turns: int) -> Iterator[Figure]:
    print(f"floor: {partitions} shuffle partitions", flush=True)
    ours, *others = sides = _sides(spark)
    for _ in range(turns):
        for side in sides:
            side.turn(spark, BATCHES)
    for other in others:
        settings: Settings = {
            "windows": str(WINDOWS),
            "keys": KEYS,
            "rows_per_batch": ROWS,
            "shuffle_partitions": partitions,
            "batches": len(ours.measured.millis),
        }
        yield millis_figure("floor", settings, other.name, ours.measured, other.measured)


@contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Use settings for the queries that start in this block."""
    before = {key: str(spark.conf.get(key)) for key in settings}
    _set_all(spark, settings)
    try:
        yield
    finally:
        _set_all(spark, before)


def _set_all(spark: SparkSession, settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        spark.conf.set(key, value)
