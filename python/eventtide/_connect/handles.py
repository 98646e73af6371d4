"""Handles of the test kit on a Spark Connect server: scripts and scripted queries."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.streaming.query import StreamingQuery
from pyspark.sql.types import IntegerType, StructField, StructType

from eventtide._connect.answers import ask
from eventtide._connect.plans import RequestPlan
from eventtide._request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.connect.session import SparkSession

__all__ = ["ScriptHandle", "ScriptedQueryHandle"]


class ScriptHandle:
    """The rows of a scripted source, kept on the server."""

    def __init__(self, session: SparkSession, schema: StructType) -> None:
        """Create a script whose rows have this schema."""
        self._session, self._schema = session, schema
        self._id = str(ask(session, Request.of("script", {"schema": schema.json()})))

    def stream(self) -> DataFrame:
        """Return the stream that reads the script."""
        reader = self._session.readStream.format("io.eventtide.spark.testkit.ScriptProvider")
        return reader.option("script", self._id).load()

    def add(self, *batches: Sequence[tuple[Any, ...]], partitions: int = 1) -> None:
        """Add rows to the source, each list as a batch of `partitions` partitions, atomically."""
        numbered = StructType([StructField("_batch", IntegerType()), *self._schema])
        rows = [(number, *row) for number, batch in enumerate(batches) for row in batch]
        frame: Any = self._session.createDataFrame(rows, numbered)
        options = {"batches": str(len(batches)), "partitions": str(partitions)}
        ask(self._session, Request.of("script_add", {"script": self._id, **options}), frame)

    def close(self) -> None:
        """Release the rows."""
        with suppress(PySparkException):  # the server may be gone
            ask(self._session, Request.of("script_close", {"script": self._id}))


class ScriptedQueryHandle:
    """A scripted query on the server; times are milliseconds since the epoch."""

    def __init__(
        self,
        df: DataFrame,
        output_mode: str,
        checkpoint: str,
        start_ms: int,
        *,
        real_time: bool = False,
    ) -> None:
        """Create a query, without starting it."""
        options = {
            "output_mode": output_mode,
            "checkpoint": checkpoint,
            "start_ms": str(start_ms),
            "real_time": str(real_time).lower(),
        }
        self._session = df.sparkSession
        self._id = str(ask(self._session, Request.of("scripted_query", options), df))

    def _call(self, call: str, value: object = "") -> str:
        options = {"scripted": self._id, "call": call, "value": str(value)}
        return str(ask(self._session, Request.of("scripted", options)))

    def start(self, *, available_now: bool) -> None:
        """Start a run from the checkpoint."""
        self._call("start", str(available_now).lower())

    def drain(self) -> None:
        """Start a run that reads all available rows, closes every window, and ends."""
        self._call("drain")

    def stop(self) -> None:
        """Stop the run, if there is one."""
        self._call("stop")

    def close(self) -> None:
        """Release the query."""
        with suppress(PySparkException):  # the server may be gone
            self._call("close")

    def await_idle(self) -> None:
        """Wait until the query has no more work at the clock's current time."""
        self._call("await_idle")

    def query(self) -> StreamingQuery:
        """Return the run as a PySpark query."""
        query, run = self._call("run").split()
        return StreamingQuery(self._session, query, run)

    def now_ms(self) -> int:
        """Return the time of the clock."""
        return int(self._call("now"))

    def set_clock_ms(self, now_ms: int) -> None:
        """Set the time of the clock."""
        self._call("set_clock", now_ms)

    def jump_clock_ms(self, now_ms: int) -> None:
        """Set the time of the clock without elapsed time, as a clock step."""
        self._call("jump_clock", now_ms)

    def watermark_ms(self) -> int:
        """Return the watermark for the next batch, 0 while there is no watermark."""
        return int(self._call("watermark"))

    def last_batch_id(self) -> int:
        """Return the id of the run's last batch, -1 before the first batch."""
        return int(self._call("last_batch"))

    def new_results(self) -> DataFrame:
        """Return the result rows since the last call."""
        plan = RequestPlan(None, Request.of("scripted_results", {"scripted": self._id}))
        return DataFrame(plan, self._session)

    def newly_dropped(self) -> int:
        """Return the number of late rows in Spark's progress since the last call."""
        return int(self._call("dropped"))
