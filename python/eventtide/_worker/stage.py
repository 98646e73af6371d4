"""What a Python worker does with the lines of windows: it puts each together and calls a function.

Lines are those of the JVM's `RowWindowOutput`: the windows of a key one after the other, each with
the rows that no window before it had. Which rows a window has it tells by their numbers.
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

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a time without a zone stays one


class Stage:
    """Calls a function with each window; for ``mapInArrow``, in a worker.

    Parameters
    ----------
    function : callable
        Of a `TupleWindow`.
    schema : pyarrow.Schema
        Of the rows that it returns.
    zone : str
        In which times without a zone are that it returns.
    as_pandas : bool
        Whether a window gives its rows as pandas DataFrames; else as Arrow tables.
    most : int
        How many rows of a key are in memory at once.
    """

    def __init__(
        self,
        function: Callable[[TupleWindow], object],
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
        """Return what the function returns for the windows of one partition."""
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
    """The key whose windows come, and the rows of the last one."""

    def __init__(self) -> None:
        self._key: dict[str, Any] = {}
        self._before = Ranges([])

    def begin(self, line: dict[str, Any]) -> None:
        """Turn to another key."""
        self._key, self._before = line["key"], Ranges.read(line["before"])

    def turn_to(self, line: dict[str, Any], held: HeldRows) -> TupleWindow:
        """Return the next window of the key."""
        now = Ranges.read(line["rows"])
        window = TupleWindow(held, now, self._before, line["start"], line["end"], self._key)
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
    """Return which of the rows of all lines each has."""
    lengths = lines.column("_rows").value_lengths().to_pylist()
    return pairwise(accumulate(lengths, initial=0))


def _windows(lines: pa.RecordBatch) -> Iterator[dict[str, Any] | None]:
    """Yield the windows, with the times as Spark has them: instants in UTC, or without a zone."""
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
