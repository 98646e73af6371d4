"""The input, the queries in SQL, and the results that every API must give.

`SameResultsSuite` reads the same files for Scala.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

HERE = Path(__file__).parent
SCHEMA = "ts timestamp, device string, v long"
RESULTS: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(
    (HERE / "results.json").read_text("utf-8")
)
"""By query: its results and, if it keeps them, its late rows, as texts of JSON in their order."""


def sql() -> dict[str, str]:
    """Return the queries in SQL, which read a view `events`."""
    sections = (HERE / "queries.sql").read_text("utf-8").split("-- ")[1:]
    split = (section.partition("\n") for section in sections)
    return {name: text.strip().rstrip(";") for name, _, text in split}


def write_rows(folder: Path) -> None:
    """Write a file for each batch; a stream reads files by their times."""
    folder.mkdir()
    for number, batch in enumerate(json.loads((HERE / "rows.json").read_text("utf-8")), 1):
        lines = [json.dumps({"ts": time, "device": device, "v": v}) for time, device, v in batch]
        path = folder / f"{number}.json"
        path.write_text("\n".join(lines), "utf-8")
        os.utime(path, (number, number))


def texts(rows: DataFrame) -> list[str]:
    """Return rows as texts, sorted."""
    return sorted(row["json"] for row in rows.selectExpr("to_json(struct(*)) AS json").collect())
