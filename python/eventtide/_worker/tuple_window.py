"""The window that is passed to the function of a bolt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from eventtide.errors import refused

if TYPE_CHECKING:
    from datetime import datetime

    from typing_extensions import Self

    from eventtide._worker.held import HeldRows, Ranges

__all__ = ["TupleWindow"]

RowsT = TypeVar("RowsT")
"""The format of the rows: ``pandas.DataFrame`` or ``pyarrow.Table``."""


class TupleWindow(Generic[RowsT]):
    """The rows of a window, with the names of Storm's ``TupleWindow``.

    For type checkers it is ``TupleWindow[pandas.DataFrame]`` or ``TupleWindow[pyarrow.Table]``,
    depending on ``rows=`` of `StormWindow.execute`.

    Rows are in the order in which they were read. If windows slide by rows, they are in the order
    in which they were counted. In a batch from several partitions, the rows of the first partition
    precede the rows of the second. Each call creates a new DataFrame or table, which the caller may
    change, except for values inside structs, lists and maps. In pandas, integers and booleans have
    nullable types, such as ``Int64``.

    A window is valid only during the function call.

    Raises
    ------
    InvalidArgumentError
        The rows are read after the function call.
    """

    __slots__ = ("_before", "_end", "_key", "_now", "_rows", "_start")

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place
        self,
        rows: HeldRows,
        now: Ranges,
        before: Ranges,
        start: datetime | None,
        end: datetime,
        key: dict[str, Any],
    ) -> None:
        self._rows: HeldRows | None = rows
        self._now, self._before = now, before
        self._start, self._end, self._key = start, end, key

    def get(self) -> RowsT:
        """Return all rows of the window."""
        return self._take(self._now)

    def get_new(self) -> RowsT:
        """Return the rows that were not in the key's previous window."""
        return self._take(self._now.without(self._before))

    def get_expired(self) -> RowsT:
        """Return the rows of the key's previous window that are not in this window.

        So a running sum that adds new rows and subtracts expired rows always equals the sum of the
        window's rows, also after a time without windows. If ``key_ttl`` has purged a key, the key's
        last rows are never reported as expired.
        """
        return self._take(self._before.without(self._now))

    @property
    def start_timestamp(self) -> datetime | None:
        """The exclusive start of the window, in UTC; None for a count window."""
        return self._start

    @property
    def end_timestamp(self) -> datetime:
        """The inclusive end of the window, in UTC."""
        return self._end

    @property
    def key(self) -> dict[str, Any]:
        """The values of the ``group_by`` columns, by name; empty without keys."""
        return dict(self._key)

    def _take(self, ranges: Ranges) -> RowsT:
        if self._rows is None:
            problem = "was kept beyond the call of its function, and its rows are gone"
            allowed, fix = "a window while the function runs", "rows = window.get()"
            raise refused("window", self, problem, allowed=allowed, fix=fix)
        rows: RowsT = self._rows.take(ranges)
        return rows

    def __enter__(self) -> Self:
        """Return this window, for the duration of a call."""
        return self

    def __exit__(self, *_: object) -> None:
        """Invalidate the window after the call."""
        self._rows = None

    def __repr__(self) -> str:
        """Return a text with the key, the bounds and the row numbers."""
        start = "" if self._start is None else f"after {self._start.isoformat()} "
        return f"<TupleWindow {self._key} {start}up to {self._end.isoformat()}, {self._now!r}>"
