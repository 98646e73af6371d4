"""The times that windows cover, as a condition on rows."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["within"]

_MOST_RANGES = 50


def within(time: Column, windows: DataFrame) -> Column:
    """Return whether a time is in one of the windows; their ends are included."""
    bounds = (F.unix_micros(F.col("window")[side]).alias(side) for side in ("start", "end"))
    # Not as datetimes, which have no zone: some of them are two instants, when summer time ends.
    covered = windows.select(*bounds).distinct().collect()
    ranges = _ranges([(row.start, row.end) for row in covered])
    parts = [time.between(_at(start), _at(end)) for start, end in ranges]
    return reduce(Column.__or__, parts)


def _at(micros: int) -> Column:
    return F.timestamp_micros(F.lit(micros))


def _ranges(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the times that windows cover, in few ranges.

    Examples
    --------
    >>> _ranges([(5, 6), (1, 3), (2, 4)])
    [(1, 4), (5, 6)]
    """
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    if len(ranges) > _MOST_RANGES:
        return [(ranges[0][0], ranges[-1][1])]
    return ranges
