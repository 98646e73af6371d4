"""What functions make of the rows of a window, which they get as pandas; workers import this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.storm import TupleWindow
    from pyspark.sql import DataFrame

RESULT = "start TIMESTAMP, end TIMESTAMP, key INT, n BIGINT, total DOUBLE, most DOUBLE"
RESULT_NAMES = ["start", "end", "key", "n", "total", "most"]
SUMMED = pa.schema({"n": pa.int64(), "total": pa.float64(), "most": pa.float64()})


def of_window(window: TupleWindow[Any]) -> dict[str, Any]:
    """Return the result of one of Storm's windows."""
    bounds = {"start": window.start_timestamp, "end": window.end_timestamp}
    return {**bounds, "key": window.key["key"], **_summed(window.get())}


def of_lists(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the results of Spark's windows, whose rows come as lists of their columns.

    By Arrow: mapInPandas would make a list of Python's own times and numbers of every window.
    """
    for batch in batches:
        lists = batch.column("ts")
        rows = pd.DataFrame(
            {
                "ts": lists.flatten().to_pandas(),
                "value": batch.column("value").flatten().to_pandas(),
            }
        )
        ends = np.cumsum(lists.value_lengths().to_numpy())
        windows = zip([0, *ends[:-1]], ends, strict=True)
        summed = [_summed(rows.iloc[first:end]) for first, end in windows] if len(ends) else []
        results = pa.RecordBatch.from_pylist(summed, SUMMED)
        bounds = [batch.column(name) for name in ("start", "end", "key")]
        yield pa.RecordBatch.from_arrays([*bounds, *results.columns], RESULT_NAMES)


def _summed(rows: pd.DataFrame) -> dict[str, Any]:
    values = rows["value"]
    return {"n": len(rows), "total": float(values.sum()), "most": float(values.max())}


def windows(results: DataFrame) -> DataFrame:
    """Return the results as all engines have them."""
    return results.selectExpr("struct(start, end) AS window", "key", "n", "total", "most")
