"""What a Python worker does with the lines of windows: it puts each together and calls a function.

Lines are those of the JVM's `HandedOut`: one for a key, then one for each of its rows, and one for
each window, behind the last of its rows, which it tells by their numbers.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eventtide.storm.held import HeldRows, Ranges
from eventtide.storm.returned import Returned, in_batches
from eventtide.storm.tuple_window import TupleWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
            for lines in _by_key(batch):
                if begun := _first(lines, "_key"):
                    held.clear()
                    at_hand.begin(begun)
                held.add(_rows(lines))
                for line in _windows(lines):
                    with at_hand.turn_to(line, held) as window:
                        yield from self._returned.tables(self._function(window))
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


def _by_key(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the lines of each key together; the first may go on with the key before."""
    begins = [line for line, key in enumerate(batch.column("_key").is_valid().to_pylist()) if key]
    for since, until in zip([0, *begins], [*begins, batch.num_rows], strict=True):
        if since < until:
            yield batch.slice(since, until - since)


def _first(lines: pa.RecordBatch, column: str) -> dict[str, Any] | None:
    first: dict[str, Any] | None = lines.column(column)[0].as_py()
    return first


def _rows(lines: pa.RecordBatch) -> pa.Table:
    column = lines.column("_row")
    rows = column.filter(column.is_valid()) if column.null_count else column
    fields = [column.type.field(i) for i in range(column.type.num_fields)]
    return pa.Table.from_arrays(rows.flatten(), schema=pa.schema(fields))


def _windows(lines: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Yield the windows, with the times as Spark has them: instants in UTC, or without a zone."""
    column = lines.column("_window")
    windows = column.filter(column.is_valid())
    kind = column.type.field("end").type
    zone = None if kind.tz is None else timezone.utc
    columns = {
        name: windows.field(name).cast(pa.int64()).to_pylist() for name in ("start", "end")
    } | {name: windows.field(name).to_pylist() for name in ("rows", "lowest")}
    for start, end, rows, lowest in zip(*columns.values(), strict=True):
        yield {
            "start": None if start is None else _time(start, zone),
            "end": _time(end, zone),
            "rows": rows,
            "lowest": lowest,
        }


def _time(micros: int, zone: timezone | None) -> datetime:
    return (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=zone)
