"""A stream of the windows that a query has closed, in the driver of that query."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.checker import PLACE
from tests.chaos.late_log import numbers
from tests.chaos.results import keep

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Follower:
    """A query of the format `eventtide-completeness` over the checkpoint of a trial.

    Parameters
    ----------
    spark : SparkSession
        That of the query which is followed.
    folder : Path
        Of the trial. What it is given is kept in `followed`.
    run : str
        The name of the run.
    """

    def __init__(self, spark: SparkSession, folder: Path, run: str) -> None:
        self._spark, self._folder, self._run = spark, folder, run
        self._query: StreamingQuery | None = None

    def follow(self) -> None:
        """Begin, once the query has committed a batch."""
        if self._query is None and numbers(self._folder / "checkpoint/commits"):
            writer = self._writer(self._run)
            self._query = writer.trigger(processingTime="50 milliseconds").start()

    def finish(self) -> None:
        """Read to the end; raise what any of it has failed with."""
        if self._query is not None:
            failed = self._query.exception()
            self.stop()
            if failed is not None:
                raise failed
        ended = self._writer(f"{self._run}-end").trigger(availableNow=True).start()
        ended.awaitTermination()

    def stop(self) -> None:
        """Stop where it is."""
        if self._query is not None:
            self._query.stop()

    def _writer(self, run: str) -> DataStreamWriter:
        reader = self._spark.readStream.format("eventtide-completeness")
        closed = reader.load(checkpoint=(self._folder / "checkpoint").as_uri())
        place = (self._folder / PLACE / "checkpoint").as_uri()
        writer = closed.writeStream.foreachBatch(partial(_take, self._folder / PLACE, run))
        return writer.option("checkpointLocation", place)


def _take(folder: Path, run: str, closed: DataFrame, batch: int) -> None:
    rows = closed.where("rows > 0").select(F.to_json(F.struct("window", "rows")))
    keep(folder, run, batch, [row[0] for row in rows.collect()])
