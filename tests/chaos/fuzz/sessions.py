"""The Spark of a round: it starts with the first input that needs it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.chaos.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVENTS = "timestamp AS ts", "'a' AS device", "'b' AS kind", "value AS v"
"""The columns of events, of a stream of numbers."""

KEPT_EVENTS = "'a' AS key", "value AS n", "timestamp AS ts"
"""Those of the queries whose checkpoints are kept."""


@cache
def classic() -> SparkSession:
    """Return a classic session, whose checkpoints are as `et.configure` has them."""
    return session(faults=False, more={"spark.sql.shuffle.partitions": "1"})


@cache
def stream(*columns: str) -> DataFrame:
    """Return a stream of events, or with other columns, which is never started."""
    return classic().readStream.format("rate").load().selectExpr(*(columns or EVENTS))
