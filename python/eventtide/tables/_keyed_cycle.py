"""A cycle that corrects the tumbling windows of keys with their own watermark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventtide.tables._merge import correct
from eventtide.tables._ranges import within

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from eventtide.tables._target import Target

__all__ = ["KeyedCycle"]


@dataclass(frozen=True)
class KeyedCycle:
    """One cycle: a batch of the stream of late rows, whose windows their keys have closed.

    Attributes
    ----------
    target : Target
        The table.
    """

    target: Target

    def signals(self, spark: SparkSession) -> DataFrame:
        """Return the stream of late rows."""
        return self.target.late(spark.readStream)

    def __call__(self, late: DataFrame, _: int) -> None:
        """Recompute the windows of late rows, and merge what differs."""
        spark = late.sparkSession
        chains = self.target.chains(spark)
        touched = chains.of(late).localCheckpoint()
        if touched.isEmpty():
            return
        rows = self.target.rows(spark).where(within(self.target.time, touched))
        rows = chains.rows_of(rows, touched)
        new = chains.overlapping(self.target.results(rows), touched).localCheckpoint()
        old = chains.overlapping(self.target.written(spark, new), touched)
        correct(self.target.table, old=old, new=new, keys=chains.keys)
