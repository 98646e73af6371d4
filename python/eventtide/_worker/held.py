"""The rows of a key in a worker, each stored once even if it is in several windows."""

from __future__ import annotations

import os
import struct
import tempfile
from bisect import bisect_left, bisect_right
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ArrivedRows", "HeldRows", "Ranges"]


class Ranges:
    """Row numbers, as ascending half-open ranges that neither overlap nor touch.

    Examples
    --------
    >>> Ranges([0, 5, 8, 9]).without(Ranges([1, 3]))
    Ranges([0, 1, 3, 5, 8, 9])
    >>> len(Ranges([0, 5, 8, 9]))
    6
    """

    __slots__ = ("bounds",)

    def __init__(self, bounds: Sequence[int]) -> None:
        self.bounds = bounds

    @classmethod
    def read(cls, text: bytes) -> Ranges:
        """Return ranges from bytes with four little-endian bytes per number, in ascending order."""
        return cls([number for (number,) in struct.iter_unpack("<i", text)])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield each range, as its first number and its exclusive end."""
        return zip(self.bounds[::2], self.bounds[1::2], strict=True)

    def __len__(self) -> int:
        """Return the count of numbers."""
        return sum(until - since for since, until in self)

    def without(self, others: Ranges) -> Ranges:
        """Return these numbers without the numbers of `others`."""
        left: list[int] = []
        taken = list(others)
        at = 0
        for since, until in self:
            while at < len(taken) and taken[at][1] <= since:
                at += 1
            begin, look = since, at
            while look < len(taken) and taken[look][0] < until:
                if taken[look][0] > begin:
                    left += [begin, taken[look][0]]
                begin = max(begin, taken[look][1])
                look += 1
            if begin < until:
                left += [begin, until]
        return Ranges(left)

    def __repr__(self) -> str:
        """Return the call that creates these ranges."""
        return f"Ranges({list(self.bounds)})"


class ArrivedRows:
    """Rows of several keys that arrived in one batch."""

    def __init__(self, table: pa.Table) -> None:
        self.table: Any = table  # untyped
        self._frame: Any = None

    def frame(self) -> Any:  # noqa: ANN401 - a DataFrame
        """Return the rows as pandas; converted once for all keys, as each conversion is costly."""
        if self._frame is None:
            self._frame = _as_pandas(self.table)
        return self._frame


@dataclass
class _Piece:
    """Rows of one key in one arrived batch: its rows from `since` to `until`."""

    first: int  # the number of the first row
    rows: ArrivedRows
    since: int
    until: int
    in_memory: bool = True

    @property
    def end(self) -> int:
        return self.first + self.until - self.since

    @property
    def table(self) -> Any:  # noqa: ANN401 - a table
        return self.rows.table.slice(self.since, self.until - self.since)

    def within(self, ranges: Ranges) -> list[tuple[int, int]]:
        """Return the parts of the ranges in this piece, as positions in the arrived rows."""
        bounds = ranges.bounds
        first = bisect_right(bounds, self.first) // 2
        last = (bisect_left(bounds, self.end) + 1) // 2
        offset = self.since - self.first
        pairs = ((bounds[2 * at], bounds[2 * at + 1]) for at in range(first, last))
        return [
            (max(since, self.first) + offset, min(until, self.end) + offset)
            for since, until in pairs
        ]


class HeldRows:
    """The rows of one key of one batch, by their numbers from 0.

    Parameters
    ----------
    as_pandas : bool
        Whether rows are returned as a pandas DataFrame; otherwise as an Arrow table.
    most : int
        The maximum number of rows in memory. If there are more, the earliest rows are spilled to a
        memory-mapped file.
    """

    def __init__(self, *, as_pandas: bool, most: int) -> None:
        self._as_pandas, self._most = as_pandas, most
        self._pieces: list[_Piece] = []
        self._empty: Any = None  # the table without rows, once the columns are known
        self._end = 0
        self._lowest = 0

    def clear(self) -> None:
        """Remove all rows, before the next key."""
        self._pieces.clear()
        self._end = 0
        self._lowest = 0

    def add(self, rows: ArrivedRows, since: int, until: int) -> None:
        """Append the arrived rows from `since` to `until`."""
        if self._empty is None:
            self._empty = rows.table.slice(0, 0)
        if since == until:
            return
        last = self._pieces[-1] if self._pieces else None
        if last and last.rows is rows and last.until == since:
            last.until = until
        else:
            self._pieces.append(_Piece(self._end, rows, since, until))
            self._spill()
        self._end += until - since

    def needs(self, lowest: int, last: Ranges) -> None:
        """Set the lowest row needed after the current window, by `last` or by later windows."""
        self._lowest = min([lowest, *last.bounds[:1]])

    def forget(self) -> None:
        """Release the pieces without needed rows."""
        while self._pieces and self._pieces[0].end <= self._lowest:
            self._pieces.pop(0)

    def take(self, ranges: Ranges) -> Any:  # noqa: ANN401 - a DataFrame or a table
        """Return rows by their numbers."""
        parts = ((piece, piece.within(ranges)) for piece in self._pieces)
        found = [(piece, here) for piece, here in parts if here]
        if self._as_pandas:
            return self._frame([_taken(piece, here) for piece, here in found])
        tables = [piece.rows.table.slice(a, b - a) for piece, here in found for a, b in here]
        return pa.concat_tables(tables) if tables else self._empty

    def _frame(self, frames: list[Any]) -> Any:  # noqa: ANN401 - a DataFrame
        import pandas as pd  # noqa: PLC0415 - not where rows are Arrow's

        if not frames:
            return _as_pandas(self._empty)
        if len(frames) == 1:
            return frames[0].reset_index(drop=True)
        return pd.concat(frames, ignore_index=True)

    def _spill(self) -> None:
        held = sum(piece.until - piece.since for piece in self._pieces if piece.in_memory)
        for piece in self._pieces[:-1]:
            if held <= self._most:
                return
            if piece.in_memory:
                count = piece.until - piece.since
                held -= count
                piece.rows, piece.in_memory = ArrivedRows(_in_file(piece.table)), False
                piece.since, piece.until = 0, count


def _taken(piece: _Piece, here: list[tuple[int, int]]) -> Any:  # noqa: ANN401 - a DataFrame
    """Return rows of a piece; many ranges, as with out-of-order times, are taken in one call."""
    import numpy as np  # noqa: PLC0415 - not where rows are Arrow's

    rows = piece.rows if piece.in_memory else ArrivedRows(piece.rows.table)  # not cached
    frame = rows.frame()
    if len(here) == 1:
        return frame.iloc[slice(*here[0])]
    return frame.take(np.concatenate([np.arange(a, b) for a, b in here]))


def _as_pandas(table: pa.Table) -> Any:  # noqa: ANN401 - a DataFrame
    """Return rows as pandas, with types that do not depend on nulls."""
    import pandas as pd  # noqa: PLC0415 - not where rows are Arrow's

    nullable = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
    }
    return table.to_pandas(types_mapper=nullable.get)


def _in_file(table: pa.Table) -> pa.Table:
    """Return the same rows in an unlinked file, which is deleted when the rows are released."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    handle, path = tempfile.mkstemp(prefix="eventtide-rows-", dir=folders[0] or None)
    os.close(handle)
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    with pa.memory_map(path) as mapped:
        rows = pa.ipc.open_file(mapped).read_all()
    with suppress(OSError):  # Windows does not delete a file in use
        Path(path).unlink()
    return rows
