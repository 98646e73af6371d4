"""The results of each batch, in files.

With Spark Connect, a function of `foreachBatch` runs in a worker of the server, so it cannot change
variables of the test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

Rows: TypeAlias = list[str]


def told(rows: DataFrame) -> Rows:
    """Return rows as text, in an order of their own."""
    return sorted(str(row) for row in rows.collect())


def writes_to(folder: Path, *, after: int = -1) -> Callable[[DataFrame, int], None]:
    """Return a function of `foreachBatch` for the batches after one; others stay unread."""

    def write(rows: DataFrame, batch: int) -> None:
        if batch > after:
            (folder / str(batch)).write_text(json.dumps(told(rows)), encoding="utf-8")

    return write


def read_from(folder: Path) -> dict[int, Rows]:
    """Return the rows that such a function has written, by batch."""
    files = sorted(folder.iterdir(), key=lambda file: int(file.name))
    return {int(file.name): json.loads(file.read_text("utf-8")) for file in files}
