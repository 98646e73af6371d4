"""JVM handles of the test kit: scripts, scripted queries, windows in the kernel without Spark."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import _make_type_verifier

from eventtide._jvm.failures import named_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["KernelRunHandle", "ScriptHandle", "ScriptedQueryHandle", "pickled"]

_NEWEST_THAT_SPARK_READS = 5  # a pickle protocol version


class KernelRunHandle:
    """A window in the kernel, without Spark; times are epoch microseconds, results are JSON."""

    def __init__(self, java: Any) -> None:
        """Wrap `io.eventtide` 's ``KernelOracle``."""
        self._java = java

    def batch(self, now: int, rows: Sequence[tuple[int, str, str, int, int]]) -> str:
        """Process rows: each has a number, the names of its key and its group, a time and a gap."""
        columns = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [], [])
        return str(self._java.batch(now, *columns))

    def tick(self, now: int) -> str:
        """Advance the clock."""
        return str(self._java.tick(now))


class ScriptHandle:
    """The rows of a scripted source, kept in the JVM."""

    def __init__(self, api: Any, session: SparkSession, schema: StructType) -> None:
        """Create a script whose rows have this schema."""
        self._api = api
        self._session = session
        self._schema = schema
        self._java = api.script(session._jsparkSession.parseDataType(schema.json()))

    def stream(self) -> DataFrame:
        """Return the stream that reads the script."""
        java = self._api.readScript(self._session._jsparkSession, self._java)
        return DataFrame(java, self._session)

    def add(self, *batches: Sequence[tuple[Any, ...]], partitions: int = 1) -> None:
        """Add rows to the source, each list as a batch of `partitions` partitions, atomically."""
        self._java.add([pickled(rows, self._schema) for rows in batches], partitions)

    def add_frame(self, rows: DataFrame) -> None:
        """Add a batch to the source, with the partitions of the DataFrame."""
        self._java.add(rows._jdf)

    def close(self) -> None:
        """Release the rows."""
        self._java.close()


class ScriptedQueryHandle:
    """A scripted query in the JVM; times are milliseconds since the epoch."""

    def __init__(self, java: Any, session: SparkSession, api: Any) -> None:
        """Wrap `io.eventtide` 's ``TestQuery``."""
        self._java = java
        self._session = session
        self._api = api

    def start(self, *, available_now: bool) -> None:
        """Start a run from the checkpoint."""
        with named_errors():
            self._java.start(available_now)

    def drain(self) -> None:
        """Start a run that reads all available rows, closes every window, and ends."""
        with named_errors():
            self._api.drainScripted(self._java)

    def stop(self) -> None:
        """Stop the run, if there is one."""
        self._java.stop()

    def close(self) -> None:
        """Release the query, which the JVM does once nothing refers to it."""

    def await_idle(self) -> None:
        """Wait until the query has no more work at the clock's current time."""
        with named_errors():
            self._java.awaitIdle()

    def query(self) -> StreamingQuery:
        """Return the run as a PySpark query."""
        return StreamingQuery(self._java.query())

    def now_ms(self) -> int:
        """Return the time of the clock."""
        return int(self._java.nowMs())

    def set_clock_ms(self, now_ms: int) -> None:
        """Set the time of the clock."""
        self._java.setClock(now_ms)

    def jump_clock_ms(self, now_ms: int) -> None:
        """Set the time of the clock without elapsed time, as a clock step."""
        self._java.jumpClock(now_ms)

    def watermark_ms(self) -> int:
        """Return the watermark for the next batch, 0 while there is no watermark."""
        return int(self._java.watermarkMs())

    def last_batch_id(self) -> int:
        """Return the id of the run's last batch, -1 before the first batch."""
        return int(self._java.lastBatchId())

    def new_results(self) -> DataFrame:
        """Return the result rows since the last call."""
        return DataFrame(self._java.newResults(), self._session)

    def newly_dropped(self) -> int:
        """Return the number of late rows in Spark's progress since the last call."""
        return int(self._java.newlyDropped())


def pickled(rows: Sequence[tuple[Any, ...]], schema: StructType) -> bytes:
    """Check rows as PySpark does, and return them pickled for the JVM's ``PickledRows``."""
    check = _make_type_verifier(schema)
    for row in rows:
        check(row)
    return pickle.dumps([schema.toInternal(row) for row in rows], _NEWEST_THAT_SPARK_READS)
