"""The rows of a key that a worker holds, each once, however many windows have them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

__all__ = ["HeldRows", "Ranges"]


class Ranges:
    """Numbers of rows, as ranges that neither overlap nor touch, by ascending number.

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
        """Return ranges whose numbers have four bytes each, the lowest first."""
        return cls([number for (number,) in struct.iter_unpack("<i", text)])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield each range, as its first number and the one behind its last."""
        return zip(self.bounds[::2], self.bounds[1::2], strict=True)

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return sum(until - since for since, until in self)

    def without(self, others: Ranges) -> Ranges:
        """Return these numbers but for others."""
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
        """Return the call that makes it."""
        return f"Ranges({list(self.bounds)})"


@dataclass
class _Piece:
    """Rows that came together; as pandas has them once a window was asked for them."""

    first: int
    table: Any  # of Arrow's, as its types are not known here
    in_memory: bool
    frame: Any = None

    @property
    def end(self) -> int:
        return self.first + len(self.table)

    def within(self, ranges: Ranges) -> list[tuple[int, int]]:
        """Return the ranges as far as they are of this piece, from its own beginning."""
        return [
            (max(since - self.first, 0), min(until, self.end) - self.first)
            for since, until in ranges
            if self.first < until and since < self.end
        ]


class HeldRows:
    """The rows of one key of one batch, by their numbers from 0.

    Parameters
    ----------
    as_pandas : bool
        Whether they are taken as a pandas DataFrame; else as an Arrow table.
    most : int
        Of more rows than that those that came first lie in a file, which is mapped into memory.
    """

    def __init__(self, *, as_pandas: bool, most: int) -> None:
        self._as_pandas, self._most = as_pandas, most
        self._pieces: list[_Piece] = []
        self._empty: Any = None  # the table without rows, once the columns are known
        self._end = 0
        self._lowest = 0
        self._folder: TemporaryDirectory[str] | None = None
        self._files = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the files."""
        self.clear()

    def clear(self) -> None:
        """Forget all rows: another key comes."""
        self._pieces.clear()
        self._end = 0
        self._lowest = 0
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def add(self, table: pa.Table) -> None:
        """Take rows that come behind those there are."""
        if self._empty is None:
            self._empty = table.slice(0, 0)
        if table.num_rows:
            self._pieces.append(_Piece(self._end, table, in_memory=True))
            self._end += table.num_rows
            self._spill()

    def needs(self, lowest: int, last: Ranges) -> None:
        """Say which rows are needed once the window at hand is done: its own, and others later."""
        self._lowest = min([lowest, *last.bounds[:1]])

    def forget(self) -> None:
        """Let go of rows that are not needed, as far as they came together."""
        while self._pieces and self._pieces[0].end <= self._lowest:
            self._pieces.pop(0)

    def take(self, ranges: Ranges) -> Any:  # noqa: ANN401 - a DataFrame or a table
        """Return rows by their numbers."""
        parts = ((piece, piece.within(ranges)) for piece in self._pieces)
        found = [(piece, here) for piece, here in parts if here]
        if self._as_pandas:
            return self._frame([_taken(piece, here) for piece, here in found])
        tables = [piece.table.slice(a, b - a) for piece, here in found for a, b in here]
        return pa.concat_tables(tables) if tables else self._empty

    def _frame(self, frames: list[Any]) -> Any:  # noqa: ANN401 - a DataFrame
        import pandas as pd  # noqa: PLC0415 - not where rows are Arrow's

        if not frames:
            return self._empty.to_pandas()
        if len(frames) == 1:
            return frames[0].reset_index(drop=True)
        return pd.concat(frames, ignore_index=True)

    def _spill(self) -> None:
        held = sum(piece.table.num_rows for piece in self._pieces if piece.in_memory)
        for number, piece in enumerate(self._pieces[:-1]):
            if held <= self._most:
                return
            if piece.in_memory:
                held -= piece.table.num_rows
                mapped = self._written(piece.table)
                self._pieces[number] = _Piece(piece.first, mapped, in_memory=False)

    def _written(self, table: pa.Table) -> pa.Table:
        if self._folder is None:
            # Where a file cannot be removed that is mapped, it goes with the worker.
            self._folder = TemporaryDirectory(prefix="eventtide-rows-", ignore_cleanup_errors=True)
        self._files += 1
        path = str(Path(self._folder.name) / f"{self._files}.arrow")
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        with pa.memory_map(path) as mapped:
            return pa.ipc.open_file(mapped).read_all()


def _taken(piece: _Piece, here: list[tuple[int, int]]) -> Any:  # noqa: ANN401 - a DataFrame
    """Return rows of a piece; those of many ranges, as where times are out of order, in one go."""
    import numpy as np  # noqa: PLC0415 - not where rows are Arrow's

    if piece.frame is None:
        piece.frame = piece.table.to_pandas()
    if len(here) == 1:
        return piece.frame.iloc[slice(*here[0])]
    return piece.frame.take(np.concatenate([np.arange(a, b) for a, b in here]))
