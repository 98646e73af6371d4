"""What functions make of the rows of a window, which they get as pandas; workers import this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide import TupleWindow
    from pyspark.sql import DataFrame

RESULT = "start TIMESTAMP, end TIMESTAMP, key INT, n BIGINT, total DOUBLE, most DOUBLE"


def of_window(window: TupleWindow) -> dict[str, Any]:
    """Return the result of one of Storm's windows."""
    bounds = {"start": window.start_timestamp, "end": window.end_timestamp}
    return {**bounds, "key": window.key["key"], **_summed(window.get())}


def of_lists(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Return the results of Spark's windows, whose rows come as lists of their columns."""
    for batch in batches:
        results = []
        for start, end, key, times, values in batch.itertuples(index=False):
            rows = pd.DataFrame({"ts": times, "value": values})
            results.append({"start": start, "end": end, "key": key, **_summed(rows)})
        if results:
            yield pd.DataFrame(results)


def _summed(rows: pd.DataFrame) -> dict[str, Any]:
    values = rows["value"]
    return {"n": len(rows), "total": float(values.sum()), "most": float(values.max())}


def windows(results: DataFrame) -> DataFrame:
    """Return the results as all engines have them."""
    return results.selectExpr("struct(start, end) AS window", "key", "n", "total", "most")
