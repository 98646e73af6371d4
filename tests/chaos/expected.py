"""What windows in real-time mode have to give, computed from their rows one by one.

It shares no code with eventtide, and follows docs/reference/windows.md. Times are milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

Row = dict[str, Any]
Key = tuple[str, int]
Open = dict[int, "Window"]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Window:
    """The rows of one window; a session grows."""

    def __init__(self, start: int, end: int, ids: Iterable[int] = ()) -> None:
        self.start, self.end, self.ids = start, end, list(ids)
        self.panes = self.waiting = 0


class Rules:
    """Windows of event time in general: each row is judged, counts, and moves a watermark.

    Attributes
    ----------
    results : list of dict
        In the order in which they leave.
    late : dict of int to str
        The ids of late rows, with the reason.
    on_time : int
        The rows in windows, also in those that are still open.
    """

    def __init__(self, *, lag: int = 0, delay: int = 0, scope: str = "key") -> None:
        self.results: list[Row] = []
        self.late: dict[int, str] = {}
        self.on_time = 0
        self._lag, self._delay, self._scope = lag * 1000, delay * 1000, scope
        self._windows: defaultdict[Key, Open] = defaultdict(dict)
        self._watermarks: dict[Key | int | None, int] = {}

    def play(self, rows: Iterable[Row]) -> Self:
        """Take rows in their order."""
        for row in rows:
            if row["ts"] is None:
                self.late[row["id"]] = "bad_time"
            else:
                self._offer(row, millis(row["ts"]))
        return self

    def _offer(self, row: Row, time: int) -> None:
        key = row["user"], row["site"]
        scope = {"key": key, "site": row["site"], "query": None}[self._scope]
        reached = self._watermarks.get(scope)
        window = self._window(self._windows[key], time)
        if reached is not None and window.end + self._delay <= reached:
            self.late[row["id"]] = "window_closed"
        else:
            self.on_time += 1
            self._windows[key][window.start] = window
            window.ids.append(row["id"])
            self._counted(key, window)
        watermark = time - self._lag
        if reached is None or watermark > reached:
            self._watermarks[scope] = watermark
            for each in [each for each in self._windows if scope in (each, each[1], None)]:
                self._close(each, watermark)

    def _window(self, windows: Open, time: int) -> Window:
        """Return the window of a row; a session takes others in, which leave `windows`."""
        raise NotImplementedError

    def _counted(self, key: Key, window: Window) -> None:
        """Give what a trigger gives after a row."""

    def _close(self, key: Key, watermark: int) -> None:
        windows = self._windows[key]
        for start in sorted(windows):
            if windows[start].end + self._delay <= watermark:
                self._closed(key, windows.pop(start))

    def _closed(self, key: Key, window: Window) -> None:
        self._give(key, window)

    def _give(self, key: Key, window: Window, **more: Any) -> None:
        bounds = {"start": text(window.start), "end": text(window.end)}
        self._result(key, bounds, sorted(window.ids), **more)

    def _result(self, key: Key, bounds: Row, ids: list[int], **more: Any) -> None:
        user, site = key
        row = {"window": bounds, "user": user, "site": site, "n": len(ids), "ids": ids}
        self.results.append(row | more)


class Tumbling(Rules):
    """Windows of a fixed number of seconds."""

    def __init__(self, seconds: int, **options: Any) -> None:
        super().__init__(**options)
        self._size = seconds * 1000

    def _window(self, windows: Open, time: int) -> Window:
        start = time - time % self._size
        return windows.get(start) or Window(start, start + self._size)


class Panes(Tumbling):
    """Windows with a result at the end, and early ones after every `every` rows."""

    def __init__(self, seconds: int, *, every: int, **options: Any) -> None:
        super().__init__(seconds, **options)
        self._every = every

    def _counted(self, key: Key, window: Window) -> None:
        window.waiting += 1
        if window.waiting == self._every:
            self._pane(key, window, "every_rows", "early")

    def _closed(self, key: Key, window: Window) -> None:
        waiting = window.waiting
        self._pane(key, window, "at_window_end", "on_time")
        if waiting:
            self._pane(key, window, "every_rows", "on_time")

    def _pane(self, key: Key, window: Window, trigger: str, timing: str) -> None:
        about = {"pane_index": window.panes, "pane_timing": timing, "trigger": trigger}
        self._give(key, window, is_last=timing == "on_time", **about)
        window.panes, window.waiting = window.panes + 1, 0


class Sessions(Rules):
    """Sessions that end after a gap, in seconds."""

    def __init__(self, gap: int, **options: Any) -> None:
        super().__init__(**options)
        self._gap = gap * 1000

    def _window(self, windows: Open, time: int) -> Window:
        end = time + self._gap
        found = [each for each in windows.values() if each.start < end and time < each.end]
        for each in found:
            del windows[each.start]
        bounds = [*(bound for each in found for bound in (each.start, each.end)), time, end]
        return Window(min(bounds), max(bounds), (one for each in found for one in each.ids))

    def _closed(self, key: Key, window: Window) -> None:
        self._give(key, window, pane_index=0, pane_timing="on_time", is_last=True)


class Counts(Rules):
    """Windows over the last rows of a key, by number; no row is late."""

    def __init__(self, rows: int, *, every: int) -> None:
        super().__init__()
        self._rows, self._every = rows, every
        self._ids: defaultdict[Key, list[int]] = defaultdict(list)

    def play(self, rows: Iterable[Row]) -> Self:
        """Take rows in their order; one without a time counts too."""
        for row in rows:
            self.on_time += 1
            key = row["user"], row["site"]
            ids = self._ids[key]
            ids.append(row["id"])
            if len(ids) % self._every == 0:
                start = max(0, len(ids) - self._rows)
                self._result(key, {"start": start, "end": len(ids)}, sorted(ids[start:]))
        return self


def millis(time: str) -> int:
    """Return a time of the streams in milliseconds since the epoch."""
    at = datetime.fromisoformat(time).replace(tzinfo=timezone.utc)
    return (at - EPOCH) // timedelta(milliseconds=1)


def text(time: int) -> str:
    """Return a time as Spark writes it into JSON."""
    at = EPOCH + timedelta(milliseconds=time)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{time % 1000:03}Z"
