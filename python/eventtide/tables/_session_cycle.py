"""A cycle that corrects the sessions of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import StructField, StructType, TimestampType

from eventtide._text.times import time_of
from eventtide.tables._merge import correct

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from eventtide.tables._chains import Chains
    from eventtide.tables._target import Target

__all__ = ["SessionCycle"]

_WINDOW, _CLOSED_BY = "window", "_closed_by"


@dataclass(frozen=True)
class SessionCycle:
    """One cycle: a batch of the stream of late rows, also of batches without any.

    A late row may belong to a session that is still open: then its chain of rows is corrected by
    the cycle that finds it closed. Until then the time that it covers is pending, in a file.

    Attributes
    ----------
    target : Target
        The table.
    folder : str
        Where the pending times are, of this cycle and of the one before.
    """

    target: Target
    folder: str

    def signals(self, spark: SparkSession) -> DataFrame:
        """Return the stream of late rows."""
        return self.target.late(spark.readStream.option("everyBatch", "true"))

    def __call__(self, late: DataFrame, batch_id: int) -> None:
        """Recompute the chains that have closed, and merge what differs."""
        spark = late.sparkSession
        chains, closed_by = self.target.chains(spark), self.target.closed_by(spark)
        pending, before = self._read(chains.of(late), batch_id - 1)
        touched = chains.of(late).union(pending).union(self._merged(spark, chains, before))
        touched = touched.distinct().localCheckpoint()
        waiting = touched
        if closed_by is not None and not touched.isEmpty():
            waiting = self._correct(touched, chains, closed_by)
        self._write(waiting, closed_by, batch_id)

    def _merged(self, spark: SparkSession, chains: Chains, before: datetime | None) -> DataFrame:
        """Return the sessions since a watermark that a row on time has merged with others.

        The query has written them apart. With a maximum duration, all may be cut differently.
        """
        written = self.target.written(spark, self.target.results(self.target.rows(spark)))
        new = written if before is None else written.where(~chains.is_closed(before))
        if chains.splits:
            return chains.spans(new)
        first = new.agg(F.min(f"{_WINDOW}.start").alias("start"))
        near = written.join(
            F.broadcast(first), F.col(_WINDOW)["end"] >= F.col("start"), "left_semi"
        )
        return chains.spans(chains.merged(near))

    def _correct(self, touched: DataFrame, chains: Chains, closed_by: datetime) -> DataFrame:
        """Correct the chains that have closed, and return those that have not."""
        spark = touched.sparkSession
        rows = chains.rows_of(self.target.rows(spark), touched)
        found = chains.overlapping(chains.of(rows), touched).localCheckpoint()
        closed = found.where(chains.is_closed(closed_by))
        if closed.isEmpty():
            return found
        new = chains.overlapping(self.target.results(rows), closed).localCheckpoint()
        old = chains.overlapping(self.target.written(spark, new), closed).localCheckpoint()
        gone = chains.absent(old, new)
        correct(self.target.table, old=old, new=new, keys=chains.keys, chains=closed, gone=gone)
        return found.where(~chains.is_closed(closed_by))

    def _read(self, like: DataFrame, batch_id: int) -> tuple[DataFrame, datetime | None]:
        """Return what was pending after a cycle, and the watermark that it knew."""
        if batch_id < 0:
            return like.limit(0), None
        schema = StructType([*like.schema.fields, StructField(_CLOSED_BY, TimestampType())])
        kept = like.sparkSession.read.schema(schema).parquet(self._path(batch_id))
        [row] = kept.agg(F.unix_micros(F.max(_CLOSED_BY)).alias("micros")).collect()
        before = None if row.micros is None else time_of(row.micros)
        return kept.where(F.col(_WINDOW).isNotNull()).drop(_CLOSED_BY), before

    def _write(self, waiting: DataFrame, closed_by: datetime | None, batch_id: int) -> None:
        known = F.lit(closed_by).cast(TimestampType()).alias(_CLOSED_BY)
        one = waiting.sparkSession.range(1).select(known)
        kept = waiting.unionByName(one, allowMissingColumns=True).coalesce(1)
        kept.write.mode("overwrite").parquet(self._path(batch_id))

    # A repeated cycle reads what the cycle before it has written.
    def _path(self, batch_id: int) -> str:
        return f"{self.folder}/{batch_id % 2}"
