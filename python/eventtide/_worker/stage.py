"""The Python worker's stage: it assembles windows from lines and calls a function with each window.

The JVM's `RowWindowOutput` writes the lines: the windows of a key in order, each with the rows that
no earlier window had. A line lists the rows of its window by number.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eventtide._worker.held import ArrivedRows, HeldRows, Ranges
from eventtide._worker.returned import Returned, in_batches
from eventtide._worker.tuple_window import TupleWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Stage"]

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a time without a zone stays without a zone


class Stage:
    """Calls a function with each window; for ``mapInArrow``, in a worker.

    Parameters
    ----------
    function : callable
        A function of a `TupleWindow`.
    schema : pyarrow.Schema
        The schema of the returned rows.
    zone : str
        The time zone of returned times without a zone.
    as_pandas : bool
        Whether a window provides its rows as pandas DataFrames; otherwise as Arrow tables.
    most : int
        The maximum number of rows of a key in memory.
    """

    def __init__(
        self,
        function: Callable[[TupleWindow[Any]], object],
        schema: pa.Schema,
        *,
        zone: str,
        as_pandas: bool,
        most: int,
    ) -> None:
        self._function = function
        self._returned = Returned(schema, zone)
        self._as_pandas, self._most = as_pandas, most

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the function's rows for the windows of one partition."""
        return in_batches(self._tables(batches))

    def _tables(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        held = HeldRows(as_pandas=self._as_pandas, most=self._most)
        at_hand = _AtHand()
        for batch in batches:
            rows, bounds = ArrivedRows(_rows(batch)), _bounds(batch)
            for key, window, (since, until) in zip(
                _keys(batch), _windows(batch), bounds, strict=True
            ):
                if key:
                    held.clear()
                    at_hand.begin(key)
                held.add(rows, since, until)
                if window:
                    with at_hand.turn_to(window, held) as given:
                        yield from self._returned.tables(self._function(given))
                    held.forget()


class _AtHand:
    """The current key, and the rows of its last window."""

    def __init__(self) -> None:
        self._key: dict[str, Any] = {}
        self._before = Ranges([])

    def begin(self, line: dict[str, Any]) -> None:
        """Begin another key."""
        self._key, self._before = line["key"], Ranges.read(line["before"])

    def turn_to(self, line: dict[str, Any], held: HeldRows) -> TupleWindow[Any]:
        """Return the next window of the key."""
        now = Ranges.read(line["rows"])
        window: TupleWindow[Any] = TupleWindow(
            held, now, self._before, line["start"], line["end"], self._key
        )
        self._before = now
        held.needs(line["lowest"], now)
        return window


def _keys(lines: pa.RecordBatch) -> list[dict[str, Any] | None]:
    keys: list[dict[str, Any] | None] = lines.column("_key").to_pylist()
    return keys


def _rows(lines: pa.RecordBatch) -> pa.Table:
    rows = lines.column("_rows").flatten()
    fields = [rows.type.field(i) for i in range(rows.type.num_fields)]
    return pa.Table.from_arrays(rows.flatten(), schema=pa.schema(fields))


def _bounds(lines: pa.RecordBatch) -> Iterable[tuple[int, int]]:
    """Return the range of each line's rows in the rows of all lines."""
    lengths = lines.column("_rows").value_lengths().to_pylist()
    return pairwise(accumulate(lengths, initial=0))


def _windows(lines: pa.RecordBatch) -> Iterator[dict[str, Any] | None]:
    """Yield the windows; times are in UTC, or without a zone, as in Spark."""
    column = lines.column("_window")
    kind = column.type.field("end").type
    zone = None if kind.tz is None else timezone.utc
    starts, ends = (column.field(name).cast(pa.int64()).to_pylist() for name in ("start", "end"))
    others = (column.field(name).to_pylist() for name in ("rows", "lowest"))
    valid = column.is_valid().to_pylist()
    for there, start, end, rows, lowest in zip(valid, starts, ends, *others, strict=True):
        yield (
            {
                "start": None if start is None else _time(start, zone),
                "end": _time(end, zone),
                "rows": rows,
                "lowest": lowest,
            }
            if there
            else None
        )


def _time(micros: int, zone: timezone | None) -> datetime:
    return (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=zone)
