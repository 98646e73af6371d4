"""A place in a query at which a test may hold up the rows of a batch."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.datasource import DataSource, DataSourceStreamReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from eventtide.testing import Script
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import InputPartition

PATIENCE = 60  # seconds: far more than needed, on any machine


class Gate:
    """An open gate, known to all processes by files in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._closed = folder / "closed"
        self._reached = folder / "reached"

    def close(self) -> None:
        """Let no row pass."""
        self._closed.touch()

    @contextmanager
    def reached_by(self, work: Future[Script]) -> Iterator[None]:
        """Wait until a row of the work stands before the gate; at the end of the block it opens."""
        try:
            until = time.monotonic() + PATIENCE
            while not self._reached.exists() and not work.done():
                assert time.monotonic() < until
                time.sleep(0.01)
            yield
        finally:
            self._closed.unlink()

    def passed(self, rows: DataFrame) -> DataFrame:
        """Return rows with a column ``ts`` as they come through."""
        closed, reached = self._closed, self._reached

        def waits(_: object) -> bool:
            while closed.exists():
                reached.touch()
                time.sleep(0.01)
            return True

        return rows.where(F.udf(waits, "boolean", useArrow=False)("ts"))

    def stream(self, spark: SparkSession) -> DataFrame:
        """Return a stream without rows, which does not say so before the gate is open."""
        closed, reached = self._closed, self._reached

        class Reader(DataSourceStreamReader):  # in here, so that workers get it by value
            def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
                return {"rows": 0}

            def latestOffset(self, *_: object) -> dict[str, int]:  # noqa: N802 - Spark's name
                while closed.exists():
                    reached.touch()
                    time.sleep(0.01)
                return {"rows": 0}

            def partitions(self, start: object, end: object) -> list[InputPartition]:  # noqa: ARG002
                return []

            def read(self, partition: InputPartition) -> Iterator[tuple[object, ...]]:  # noqa: ARG002
                return iter(())

        class Source(DataSource):
            @classmethod
            def name(cls) -> str:
                return "gate"

            def schema(self) -> str:
                return "ts timestamp"

            def streamReader(self, schema: object) -> Reader:  # noqa: ARG002, N802 - Spark's name
                return Reader()

        spark.dataSource.register(Source)
        return spark.readStream.format("gate").load()
