"""A query and the healing of its table, in a process of their own, on Spark 4.1.

``python -m tests.chaos.healing_victim FOLDER TABLE SEED`` adds one part of the archive after the
other: for each, it runs the query to the end of the rows, and then a cycle of the healing. With
some seeds a cycle also runs beside the query. It goes on where the folder says. At the end it
writes what the table has, and what the batch query gives.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tests.spark.conftest import new_session
from tests.spark.tables import FORMATS
from tests.tables.healed import Job, Part, by_key, cumulating, parts, sessions, sliding, tumbling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tests.spark.tables import Table

WINDOWS = (tumbling, sliding, cumulating, sessions, by_key)
CLOSING: list[Part] = [
    [(500, "z")],
    [(501, "z")],
]  # parts of the archive, which close all windows before
OUTCOME = "outcome.json"


def main() -> int:
    """Run to the end."""
    folder, table, seed = Path(sys.argv[1]), cast("Table", sys.argv[2]), int(sys.argv[3])
    spark = new_session(FORMATS)
    job = Job(spark, folder / "job", table, WINDOWS[seed % len(WINDOWS)])
    for number, rows in enumerate([*parts(seed), *CLOSING]):
        done = folder / f"done-{number}"
        if done.exists():
            continue
        if not (job.archive / f"{number}.json").exists():
            job.write(number, rows)
        query = job.start()
        if beside(seed) and number > 0:
            job.heal()
        query.awaitTermination()
        job.heal()
        done.touch()
    proof = job.prove()
    outcome = {
        "proof": str(proof),
        "equal": proof.equal,
        "proved": bool(proof),
        "table": _rows(spark.table(job.table)),
        "batch": _rows(job.window(job.read(spark)).results),
    }
    (folder / OUTCOME).write_text(json.dumps(outcome), encoding="utf-8")
    spark.stop()
    return 0


def beside(seed: int) -> bool:
    """Tell whether the table is healed while the query writes into it, too."""
    return seed // len(WINDOWS) % 4 > 1


def _rows(rows: DataFrame) -> list[str]:
    return sorted(rows.selectExpr("to_json(struct(*))").toPandas().iloc[:, 0])


if __name__ == "__main__":
    sys.exit(main())
