"""Runs of a window query over given batches, from any checkpoint, and checkpoints to go back to."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import eventtide as et
from eventtide import _bridge
from eventtide._text.schemas import row_type
from eventtide.testing._values import storable

from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from eventtide import WindowBuilder
    from eventtide.testing import Script
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.spark.events import Batches

Rows: TypeAlias = list[str]

# Compiling the code of a short query is most of what it costs.
WITHOUT_CODE = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@contextmanager
def settings(spark: SparkSession, changes: Mapping[str, str | int]) -> Iterator[None]:
    """Start queries under other settings."""
    before = {key: spark.conf.get(key, None) for key in changes}
    for key, value in changes.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)


@contextmanager
def scripted(spark: SparkSession, batches: Batches) -> Iterator[DataFrame]:
    """Yield a stream of events; a checkpoint says how many of the batches were read before."""
    schema = row_type(SCHEMA)
    script = _bridge.of(spark).script(spark, schema)
    try:
        for batch in batches:
            rows = [storable(row, schema) for row in batch]
            script.add(rows, partitions=2)
        yield script.stream()
    finally:
        script.close()


@dataclass
class WindowRun:
    """A query over batches of events, which can go on from any checkpoint of it."""

    spark: SparkSession
    window: Callable[[DataFrame], WindowBuilder]
    batches: Batches
    followed_by: Callable[[DataFrame], DataFrame] = lambda results: results
    drain: bool = False
    counts_rows: bool = True  # but for a window over results, which are its rows too

    def to_the_end(self, checkpoint: Path, has: int = -1) -> dict[int, Rows]:
        """Go on from a checkpoint, and return the rows of each batch after the last one it has."""
        results: dict[int, Rows] = {}

        def take(rows: DataFrame, batch: int) -> None:
            if batch > has:
                results[batch] = told(rows)

        with scripted(self.spark, self.batches) as events:
            window = self.window(events)
            writer = self.followed_by(window.results).writeStream.foreachBatch(take)
            writer = writer.option("checkpointLocation", str(checkpoint))
            query = et.start(window, writer.trigger(availableNow=True), drain=self.drain)
            with et.named_errors():
                query.awaitTermination()
            if results and self.counts_rows:
                assert self._rows_known(query) == sum(map(len, self.batches))
        return results

    def gives_the_same_again(self, checkpoint: Path, *, has_late: bool = True) -> None:
        """Run every second batch again, the last one first, and from each on to the end."""
        wanted = self.to_the_end(checkpoint)
        late = late_rows(self.spark, checkpoint)
        assert sum(map(len, wanted.values())) > 20
        assert len(late) > 5 or not has_late
        for n, batch in enumerate(sorted(wanted, reverse=True)[::2]):
            set_back(checkpoint, batch, LOST[n % len(LOST)])
            assert self.to_the_end(checkpoint) == {n: wanted[n] for n in wanted if n >= batch}
            assert late_rows(self.spark, checkpoint) == late

    def _rows_known(self, query: StreamingQuery) -> int:
        """Return how many rows were in a window, were late or were refused; the books balance."""
        report = et.progress(query)
        return report.on_time + sum(report.late.values())


def told(rows: DataFrame) -> Rows:
    """Return rows as text, in an order of their own."""
    return sorted(str(row) for row in rows.collect())


def late_rows(spark: SparkSession, checkpoint: Path, window: int | None = None) -> Rows:
    """Return a late log with all that is the same however often a batch was run."""
    return told(et.read_late(checkpoint, window=window, spark=spark))


def operators(script: Script) -> list[dict[str, Any]]:
    """Return what each batch did to the state of its one window."""
    batches = [json.loads(each.json()) for each in script.streaming_query._jsq.recentProgress()]
    return [operator for batch in batches for operator in batch["stateOperators"]]
