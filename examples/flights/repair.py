"""The use of the late log: every count is corrected."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timezone
from typing import TYPE_CHECKING

import eventtide as et
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from examples.flights.data import Flights
    from examples.flights.measure import Window
    from examples.flights.trace import Trace

__all__ = ["Repaired", "repair"]


@dataclass(frozen=True)
class Repaired:
    """The results of a query after `et.repair`.

    Attributes
    ----------
    corrected, new : int
        Changed counts, and counts without a row in the query's results.
    windows_wrong : int
        Counts that still differ from the truth.
    """

    corrected: int
    new: int
    windows_wrong: int


def repair(trace: Trace, reports: DataFrame, flights: Flights, true: Counter[Window]) -> Repaired:
    """Correct the results of a query from its late log, and compare them with the truth again."""
    spark, windows = reports.sparkSession, trace.setting.windows
    window = trace.setting.window(reports)
    moment = pa.timestamp("us", tz="UTC")
    bounds = [{"start": r.end - windows.size, "end": r.end} for r in trace.results]
    rows = pa.table(  # which needs no Python worker
        {
            "window": pa.array(bounds, pa.struct({"start": moment, "end": moment})),
            "dest": [r.dest for r in trace.results],
            "rows": pa.array([r.rows for r in trace.results], pa.int64()),
        }
    )
    written = spark.createDataFrame(rows, window.results.schema)
    late = et.read_late(str(trace.checkpoint))
    corrected = et.repair(written, late, window, source=reports)
    # a window that is still open when the replay ends does not count
    ended = corrected.where(F.col("window.end") <= flights.last)
    found = ended.select(F.col("window.end").alias("end"), "dest", "rows", "changed").collect()
    counts = Counter({(r.end.astimezone(timezone.utc), r.dest): r.rows for r in found})
    changes = Counter(row.changed for row in found)
    wrong = sum(counts[window] != true[window] for window in {*counts, *true})
    return Repaired(changes["corrected"], changes["new"], wrong)
