"""A window as the function of a bolt sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eventtide.errors import refused

if TYPE_CHECKING:
    from datetime import datetime

    from typing_extensions import Self

    from eventtide._worker.held import HeldRows, Ranges

__all__ = ["TupleWindow"]


class TupleWindow:
    """The rows of a window, under the names of Storm's ``TupleWindow``.

    .. versionadded:: 0.1

    Rows come in the order in which they were read, where windows slide by rows in that in which
    they were counted; a batch that is read from several partitions has the rows of the first before
    those of the second. Each call makes a new DataFrame or table, which is the caller's own, but
    for what is inside of structs, lists and maps. In pandas integers and booleans have the types
    that can be null, such as ``Int64``.

    A window is good for as long as the function is called with it.

    Raises
    ------
    InvalidArgumentError
        It is asked for rows later than that.
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

    def get(self) -> Any:  # noqa: ANN401 - a DataFrame or a table, as execute was told
        """Return all rows of the window.

        .. versionadded:: 0.1
        """
        return self._take(self._now)

    def get_new(self) -> Any:  # noqa: ANN401 - as get
        """Return the rows that were not in the window that the key was given before.

        .. versionadded:: 0.1
        """
        return self._take(self._now.without(self._before))

    def get_expired(self) -> Any:  # noqa: ANN401 - as get
        """Return the rows of the window that the key was given before which are not in this one.

        .. versionadded:: 0.1

        So what a function adds up of new rows, and takes off again of expired ones, is always that
        of all rows of the window, also after a time without windows. Of a key that ``key_ttl`` has
        forgotten, nobody is told that its last rows have expired.
        """
        return self._take(self._before.without(self._now))

    @property
    def start_timestamp(self) -> datetime | None:
        """The instant after which the window begins, in UTC; None for a window of so many rows.

        .. versionadded:: 0.1
        """
        return self._start

    @property
    def end_timestamp(self) -> datetime:
        """The last instant of the window, in UTC.

        .. versionadded:: 0.1
        """
        return self._end

    @property
    def key(self) -> dict[str, Any]:
        """The values of the columns of ``group_by``, by their names; empty without.

        .. versionadded:: 0.1
        """
        return dict(self._key)

    def _take(self, ranges: Ranges) -> Any:  # noqa: ANN401 - as get
        if self._rows is None:
            problem = "was kept beyond the call of its function, and its rows are gone"
            allowed, fix = "a window while the function runs", "rows = window.get()"
            raise refused("window", self, problem, allowed=allowed, fix=fix)
        return self._rows.take(ranges)

    def __enter__(self) -> Self:
        """Return itself, for a call."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the call."""
        self._rows = None

    def __repr__(self) -> str:
        """Return what tells it from others."""
        start = "" if self._start is None else f"after {self._start.isoformat()} "
        return f"<TupleWindow {self._key} {start}up to {self._end.isoformat()}, {self._now!r}>"
