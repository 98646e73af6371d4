"""A client of a query on a Spark Connect server: ``... FOLDER KIND SEED URL``.

It starts the query, which goes on where the checkpoint in the folder says, and waits for its end.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.kinds import KINDS, read
from tests.chaos.results import keep
from tests.chaos.session import suit
from tests.chaos.trial import said

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

STARTED = "started-"  # with the id of a run, a file that says so


def main() -> int:
    """Run to the end."""
    parser = argparse.ArgumentParser("remote_victim", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind")
    parser.add_argument("seed", type=int)
    parser.add_argument("url")
    options = parser.parse_args()
    spark = SparkSession.builder.remote(options.url).getOrCreate()
    try:
        with et.named_errors():
            query = _start(spark, options.folder, options.kind, options.seed)
            (options.folder / f"{STARTED}{query.runId}").touch()
            query.awaitTermination()
    except Exception as error:  # noqa: BLE001 - it is judged
        sys.stderr.write(f"ENDED {said(error)}\n")
        return 3
    return 0


def _start(spark: SparkSession, folder: Path, name: str, seed: int) -> StreamingQuery:
    kind = KINDS[name]
    suit(spark, kind)
    window, results = kind.make([read(spark, each) for each in kind.sources(folder, seed)], folder)
    take = partial(_take, folder, f"r{uuid.uuid4().hex[:10]}")
    writer = results.writeStream.foreachBatch(take).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", (folder / "checkpoint").as_uri())
    return et.start(window, writer, drain=kind.drains) if window else writer.start()


def _take(folder: Path, run: str, rows: DataFrame, batch: int) -> None:
    """Keep the results of a batch. A worker of the server calls it."""
    keep(folder, run, batch, [row[0] for row in rows.select(F.to_json(F.struct("*"))).collect()])


if __name__ == "__main__":
    sys.exit(main())
