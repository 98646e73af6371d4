"""A stream of the windows that a query has closed, in the driver of that query."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.checker import PLACE
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
        self._spark, self._folder = spark, folder
        self._take = partial(_take, folder / PLACE, run)
        self._query: StreamingQuery | None = None

    def follow(self) -> None:
        """Begin, once the query has committed a batch."""
        commits = self._folder / "checkpoint/commits"
        if self._query is None and any(file.name.isdigit() for file in commits.glob("*")):
            self._query = self._writer().trigger(processingTime="50 milliseconds").start()

    def finish(self) -> None:
        """Read to the end."""
        if self._query is not None:
            self._query.stop()
        with suppress(Exception):  # of a run that was halted: the next one follows it
            self._writer().trigger(availableNow=True).start().awaitTermination()

    def _writer(self) -> DataStreamWriter:
        reader = self._spark.readStream.format("eventtide-completeness")
        closed = reader.load(checkpoint=(self._folder / "checkpoint").as_uri())
        place = (self._folder / PLACE / "checkpoint").as_uri()
        writer = closed.writeStream.foreachBatch(self._take)
        return writer.option("checkpointLocation", place)


def _take(folder: Path, run: str, closed: DataFrame, batch: int) -> None:
    rows = closed.where("rows > 0").select(F.to_json(F.struct("window", "rows")))
    keep(folder, run, batch, [row[0] for row in rows.collect()])
