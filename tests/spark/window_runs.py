"""Runs of a window query over given batches, from any checkpoint, and checkpoints to go back to."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import _bridge
from eventtide._text.schemas import row_type
from eventtide.testing._values import storable

from tests.spark.batch_results import read_from, told, writes_to
from tests.spark.checkpoints import LOST, set_back
from tests.spark.events import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from eventtide import WindowBuilder
    from eventtide.testing import Script
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.spark.batch_results import Rows
    from tests.spark.events import Batches

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
def scripted(spark: SparkSession, batches: Batches, columns: str = SCHEMA) -> Iterator[DataFrame]:
    """Yield a stream of events; a checkpoint says how many of the batches were read before."""
    schema = row_type(columns)
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
        with scripted(self.spark, self.batches) as events, TemporaryDirectory() as folder:
            window = self.window(events)
            writer = self.followed_by(window.results).writeStream
            writer = writer.foreachBatch(writes_to(Path(folder), after=has))
            writer = writer.option("checkpointLocation", str(checkpoint))
            query = et.start(window, writer.trigger(availableNow=True), drain=self.drain)
            with et.named_errors():
                query.awaitTermination()
            results = read_from(Path(folder))
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


def late_rows(spark: SparkSession, checkpoint: Path, window: int | None = None) -> Rows:
    """Return a late log with all that is the same however often a batch was run."""
    return told(et.read_late(checkpoint, window=window, spark=spark))


def operators(script: Script) -> list[dict[str, Any]]:
    """Return what each batch did to the state of its one window."""
    batches = map(json.loads, _progress(script.streaming_query))
    return [operator for batch in batches for operator in batch["stateOperators"]]


def _progress(query: StreamingQuery) -> Iterator[str]:
    # PySpark's own `recentProgress` cannot read a batch of 0 ms
    if hasattr(query, "_jsq"):
        return (batch.json() for batch in query._jsq.recentProgress())
    from pyspark.sql.connect.proto import StreamingQueryCommand  # noqa: PLC0415 - of a client

    command = StreamingQueryCommand(recent_progress=True)
    answer = query._execute_streaming_query_cmd(command)  # type: ignore[attr-defined] # of a client
    return iter(answer.recent_progress.recent_progress_json)
