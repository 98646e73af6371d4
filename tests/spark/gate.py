"""A place in a query at which a test may hold up the rows of a batch."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from eventtide.testing import Script
    from pyspark.sql import DataFrame

PATIENCE = 60  # seconds: far more than needed, on any machine


class Gate:
    """An open gate, known to all processes by files in a folder."""

    def __init__(self, folder: Path) -> None:
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
