"""One setting's query with a durable sink, which may be killed at any moment and restarted.

The query is the query of the replay, over the same micro-batches in the same order. There are two
differences. Its results are written to Parquet files by Spark's exactly-once file sink, because the
rows of the replay's sink are lost with the process. Its clock is the machine's, which has no effect
on a policy that moves with rows.

The batches of a scripted source are in the driver's memory. So a new process creates the same
batches again, and the source finds the number of read batches in the checkpoint's offset: ``python
-m examples.flights.durable CHECKPOINT RESULTS [--days N]``.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from eventtide import _jvm

from examples.flights import data, session
from examples.flights.replay import SCHEMA, counts, feed
from examples.flights.settings import BY_BAND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from examples.flights.data import Flights
    from examples.flights.settings import Setting

__all__ = ["main", "run"]


def run(
    reports: DataFrame, flights: Flights, setting: Setting, checkpoint: Path, results: Path
) -> None:
    """Read all reports, continuing from the checkpoint, and write every closed window.

    Parameters
    ----------
    reports, flights
        The input, as for `replay`.
    setting : Setting
        The watermark.
    checkpoint, results : Path
        Folders, empty or from an earlier run of the same setting over the same flights.
        The results are Parquet files with the columns of `counts`.
    """
    script = _jvm.script(reports.sparkSession, SCHEMA)
    try:
        for hour, landed in flights.by_hour.items():
            if landed:
                script.add_frame(feed(reports, hour))
        query = (
            counts(script.stream(), setting)
            .writeStream.format("parquet")
            .option("checkpointLocation", str(checkpoint))
            .option("path", str(results))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    finally:
        script.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `BY_BAND` to its end."""
    parser = argparse.ArgumentParser("python -m examples.flights.durable", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--days", type=int, default=7)
    options = parser.parse_args(arguments)
    flights = data.load(options.days)
    with tempfile.TemporaryDirectory(prefix="eventtide-lab-") as name:
        folder = Path(name)
        with session.start(folder / "spark.log") as spark:
            reports = flights.on_disk(spark, folder).cache()
            run(reports, flights, BY_BAND, options.checkpoint, options.results)


if __name__ == "__main__":
    main()
