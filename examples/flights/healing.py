"""A Delta table of hourly counts that late flights correct: ``dev/demo --heal``, on Spark 4.1."""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
import pyarrow as pa
import pyarrow.parquet as pq
from eventtide import WatermarkPolicies
from eventtide.tables import complete_writer
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from examples.flights import data, session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eventtide import WindowBuilder
    from eventtide.tables import Proof
    from pyspark.sql import DataFrame, SparkSession

    from examples.flights.data import Report

__all__ = ["Healed", "heal", "main"]

_SCHEMA = "ts timestamp, dest string"
_HOURS = 12  # of flights in a file


@dataclass(frozen=True)
class Healed:
    """The table beside a batch query over all flights, before `et.heal` and after it."""

    rows: int
    late: int
    before: Proof
    after: Proof


def heal(spark: SparkSession, folder: Path, days: int) -> Healed:
    """Count the flights of some days into a table, in parts, and heal the table."""
    flights = data.load(days)
    archive, checkpoint = folder / "archive", str(folder / "checkpoint")
    archive.mkdir()
    table = f"delta.`{folder}/counts`"
    hours = sorted(flights.by_hour)
    for first in range(0, len(hours), _HOURS):
        part = [
            report for hour in hours[first : first + _HOURS] for report in flights.by_hour[hour]
        ]
        _write(part, archive / f"{first:04}.parquet")
        counts = _counts(spark.readStream.schema(_SCHEMA).parquet(str(archive)))
        writer = counts.results.writeStream.foreachBatch(
            complete_writer("delta", f"{folder}/counts")
        )
        writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        counts.start(writer).awaitTermination()

    def rows(session: SparkSession) -> DataFrame:
        return session.read.schema(_SCHEMA).parquet(str(archive))

    counts = _counts(rows(spark))
    before = et.prove(counts, checkpoint, source=rows, table=table)
    et.heal(counts, checkpoint, source=rows, table=table, once=True).awaitTermination()
    after = et.prove(counts, checkpoint, source=rows, table=table)
    return Healed(rows(spark).count(), et.read_late(checkpoint).count(), before, after)


def _counts(rows: DataFrame) -> WindowBuilder:
    lag = WatermarkPolicies.with_fixed_lag("1 hour")
    window = et.window(rows).event_time("ts", lag).key_by("dest").tumbling("1 hour")
    return window.agg(F.count("*").alias("rows"))


def _write(part: Sequence[Report], file: Path) -> None:
    moment = pa.timestamp("us", tz="UTC")
    times = pa.array([report.scheduled for report in part], moment)
    pq.write_table(pa.table({"ts": times, "dest": [report.dest for report in part]}), file)


def main(arguments: Sequence[str], settings: Mapping[str, str]) -> int:
    """Run the demonstration with a session that has Delta, and return the exit status."""
    reader = argparse.ArgumentParser("dev/demo --heal", description=__doc__)
    reader.add_argument("--quick", action="store_true", help="one day in place of three")
    days = 1 if reader.parse_args(arguments).quick else 3
    with tempfile.TemporaryDirectory(prefix="eventtide-heal-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with session.start(folder / "spark.log", {**session.ORDERED, **settings}) as spark:
            healed = heal(spark, folder, days)
            sys.stdout.write(_text(healed))
    return 0 if healed.after and not healed.before else 1


def _text(healed: Healed) -> str:
    return (
        f"{healed.rows:,} flights; their hourly counts by destination go into a Delta table.\n"
        f"With a lag of one hour {healed.late:,} of them come too late for their windows.\n\n"
        f"The table beside a batch query over all flights:\n{healed.before}\n\n"
        f"After et.heal:\n{healed.after}\n"
    )
