"""A query over an archive of files that writes into a table, and the healing of the table."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, TypeAlias

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.tables import heal, prove
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.tables.conftest import iceberg_catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.spark.tables import Table

Part: TypeAlias = list[tuple[float, str]]
"""Rows of a file: their second and their device."""

ARCHIVE = "ts timestamp, device string, reading double"


def timed(events: DataFrame) -> WindowBuilder:
    """Return a window over the events, before its size."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    return et.window(events).event_time("ts", lag).key_by("device")


def tumbling(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds, with an aggregate that needs all rows."""
    return (
        timed(events)
        .tumbling("10s")
        .agg(F.count("*").alias("n"), F.median("reading").alias("middle"))
    )


def sliding(events: DataFrame) -> WindowBuilder:
    """Return sliding windows whose late rows may belong to windows that are still open."""
    window = timed(events).sliding("30s", every="10s").late_rule("frame_closed")
    return window.agg(F.count("*").alias("n"))


def cumulating(events: DataFrame) -> WindowBuilder:
    """Return growing windows, of which a row may miss the short ones without being late."""
    return timed(events).cumulate("30s", step="10s").agg(F.count("*").alias("n"))


def sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions, which late rows extend and merge."""
    return timed(events).session("4s").agg(F.count("*").alias("n"), F.max("reading").alias("most"))


def cut_sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions that a maximum duration cuts, by the order of their rows."""
    window = timed(events).session("4s", maximum_duration="9s")
    return window.agg(F.count("*").alias("n"))


def by_key(events: DataFrame) -> WindowBuilder:
    """Return windows that each device closes in its own time."""
    return timed(events).watermark_scope("key").tumbling("10s").agg(F.count("*").alias("n"))


class Job:
    """A query over an archive of files that writes into a table, in parts."""

    def __init__(
        self, spark: SparkSession, folder: Path, table: Table, window: Callable[..., WindowBuilder]
    ) -> None:
        self.spark, self.folder, self.kind, self.window = spark, folder, table, window
        self.table = f"delta.`{folder}/results`"
        if table == "iceberg":
            self.table = f"{iceberg_catalog(spark, folder)}.results"
        self.checkpoint = str(folder / "checkpoint")
        self.archive = folder / "archive"
        self.archive.mkdir(parents=True, exist_ok=True)

    def add(self, rows: Part) -> None:
        """Add a file to the archive, and run the query over it."""
        self.write(len(list(self.archive.glob("*.json"))), rows)
        self.run()

    def write(self, number: int, rows: Part) -> None:
        """Write a file of the archive, whole or not at all."""
        lines = [
            json.dumps({"ts": f"2024-01-01T{_clock(second)}Z", "device": device, "reading": second})
            for second, device in rows
        ]
        part = self.archive / f".{number}"
        part.write_text("\n".join(lines))
        part.replace(self.archive / f"{number}.json")

    def run(self) -> None:
        """Run the query over what it has not read yet."""
        self.start().awaitTermination()

    def start(self) -> StreamingQuery:
        """Start the query over what it has not read yet."""
        counts = self.window(self.spark.readStream.schema(ARCHIVE).json(str(self.archive)))
        into = counts.results.writeStream.option("checkpointLocation", self.checkpoint)
        into = into.trigger(availableNow=True)
        if self.kind == "iceberg":
            return into.toTable(self.table, format="iceberg")
        return into.format("delta").start(f"{self.folder}/results")

    def read(self, spark: SparkSession) -> DataFrame:
        """Return all rows."""
        return spark.read.schema(ARCHIVE).json(str(self.archive))

    def heal(self) -> None:
        """Correct what there is to correct."""
        window = self.window(self.read(self.spark))
        once = heal(window, self.checkpoint, source=self.read, table=self.table, once=True)
        once.awaitTermination()

    def prove(self) -> et.tables.Proof:
        """Compare the table with the batch query."""
        window = self.window(self.read(self.spark))
        return prove(window, self.checkpoint, source=self.read, table=self.table)


def _clock(second: float) -> str:
    minutes, seconds = divmod(second, 60)
    return f"12:{int(minutes):02d}:{seconds:06.3f}"


def parts(seed: int) -> list[Part]:
    """Return what is added to an archive; rows come up to a minute late."""
    random = Random(seed)  # noqa: S311 - rows of a test
    made = []
    for part in range(1, 5):
        rows = [(part * 20 + random.uniform(0, 20), random.choice("abc")) for _ in range(20)]
        late = [(part * 20 + random.uniform(-60, 0), random.choice("abcd")) for _ in range(5)]
        made.append([(max(second, 0), device) for second, device in rows + late])
    return made
