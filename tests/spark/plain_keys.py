"""Keys in their own time as plain Python: every window with its rows, by the rules as they read."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

Result = tuple[str, int, int, str, int, tuple[int, ...]]
"""Key, start, end, timing, index, and the rows."""


@dataclass(frozen=True)
class Rules:
    """What windows are like; times in seconds."""

    size: int
    slide: int
    delay: int
    highest: bool
    timeout: int | None
    late_rule: str = "window_closed"

    def ends(self, ts: int) -> range:
        """Return the ends of the windows that have a time."""
        first = ts // self.slide * self.slide + self.slide
        return range(first, first + self.size, self.slide)


class PlainKey(Protocol):
    """One key."""

    def take(self, now: int, rows: list[tuple[int, int]], /) -> list[int]:
        """Take a batch of times and numbers, and return the numbers of the late ones."""
        ...

    def give(self, name: str, now: int, /) -> list[Result]:
        """Return what is due."""
        ...


@dataclass
class Key:
    """What is known of one key."""

    rules: Rules
    watermark: int | None = None
    last_row: int = 0  # by the clock
    windows: dict[int, list[int]] = field(default_factory=dict)  # by their ends
    given: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def is_closed(self, end: int) -> bool:
        """Tell whether windows with this end are closed."""
        return self.watermark is not None and self.watermark - self.rules.delay >= end

    def is_late(self, ts: int) -> bool:
        """Tell whether a row is in no window."""
        if self.rules.late_rule == "behind_watermark":
            return self.watermark is not None and ts < self.watermark - self.rules.delay
        if self.rules.late_rule == "frame_closed":
            return self.is_closed(self.rules.ends(ts)[0])
        return all(map(self.is_closed, self.rules.ends(ts)))

    def take(self, now: int, rows: list[tuple[int, int]]) -> list[int]:
        """Take a batch of times and numbers, and return the numbers of the late ones."""
        self.last_row = now
        late = [number for ts, number in rows if self.is_late(ts)]
        accepted = [(ts, number) for ts, number in rows if number not in late]
        for ts, number in accepted:
            for end in self.rules.ends(ts):
                if not self.is_closed(end):
                    self.windows.setdefault(end, []).append(number)
        if accepted:
            moved = (max if self.rules.highest else min)(ts for ts, _ in accepted)
            self.watermark = moved if self.watermark is None else max(moved, self.watermark)
        return late

    def give(self, name: str, now: int) -> list[Result]:
        """Return what is closed, and everything if the key is silent."""
        silent = self.rules.timeout is not None and now >= self.last_row + self.rules.timeout
        results = []
        for end in sorted(self.windows):
            if self.is_closed(end) or silent:
                timing = "on_time" if self.is_closed(end) else "idle"
                rows = tuple(sorted(self.windows.pop(end)))
                results.append((name, end - self.rules.size, end, timing, self.given[end], rows))
                self.given[end] += 1
        return results


@dataclass
class SessionKey:
    """What is known of one key whose windows end with a gap, by its highest time."""

    gap: int
    watermark: float = -math.inf
    rows: list[tuple[int, int]] = field(default_factory=list)  # of the sessions that are open

    def take(self, _: int, rows: list[tuple[int, int]]) -> list[int]:
        """Take a batch; rows are late whose session, with all that is in it by now, has ended."""
        ended = [one for one in self.sessions(self.rows + rows) if self.has_ended(one)]
        late = [number for session in ended for _, number in session]
        accepted = [row for row in rows if row[1] not in late]
        self.rows += accepted
        self.watermark = max([self.watermark, *(ts for ts, _ in accepted)])
        return late

    def give(self, name: str, _: int) -> list[Result]:
        """Return the sessions that have ended."""
        ended = [one for one in self.sessions(self.rows) if self.has_ended(one)]
        self.rows = [row for row in self.rows if not any(row in one for one in ended)]
        return [
            (name, one[0][0], one[-1][0] + self.gap, "on_time", 0, tuple(sorted(n for _, n in one)))
            for one in ended
        ]

    def has_ended(self, session: list[tuple[int, int]]) -> bool:
        """Tell whether the gap after its last row is over."""
        return session[-1][0] + self.gap <= self.watermark

    def sessions(self, rows: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        """Return rows in sessions, in order."""
        sessions: list[list[tuple[int, int]]] = []
        for row in sorted(rows):
            if not sessions or row[0] >= sessions[-1][-1][0] + self.gap:
                sessions.append([])
            sessions[-1].append(row)
        return sessions


@dataclass
class CountKey:
    """What is known of one key whose windows end after a number of rows."""

    size: int
    every: int
    timeout: int
    last_row: int = 0
    base: int = 0  # rows that were there when the windows began
    rows: list[int] = field(default_factory=list)  # since then
    results: list[tuple[int, str]] = field(default_factory=list)  # ends that are due

    def take(self, now: int, rows: list[tuple[int, int]]) -> list[int]:
        """Take a batch; no row is late."""
        self.last_row = now
        for _, number in rows:
            self.rows.append(number)
            if len(self.rows) % self.every == 0:
                self.results.append((len(self.rows), "on_time"))
        return []

    def give(self, name: str, now: int) -> list[Result]:
        """Return what is due; a silent key gives what was in no result, and begins anew."""
        silent = bool(self.rows) and now >= self.last_row + self.timeout
        if silent and len(self.rows) % self.every:
            self.results.append((len(self.rows), "idle"))
        given = [self.result(name, *one) for one in self.results]
        self.results = []
        if silent:
            self.base, self.rows = self.base + len(self.rows), []
        return given

    def result(self, name: str, end: int, timing: str) -> Result:
        """Return the window that ends before this row, counted from the beginning.

        What a silent key gives is the next one, as far as it is filled.
        """
        start = max(0, -(-end // self.every) * self.every - self.size)
        rows = tuple(sorted(self.rows[start:end]))
        return (name, self.base + start, self.base + end, timing, 0, rows)


class PlainKeys:
    """All keys of a stream."""

    def __init__(self, new: Callable[[], PlainKey]) -> None:
        """Begin without keys."""
        self._keys: dict[str, PlainKey] = defaultdict(new)

    def batch(self, now: int, rows: list[tuple[int, str, int]]) -> tuple[list[Result], list[int]]:
        """Take rows of a time, a key and a number; return the results, and the late ones."""
        mine: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for ts, key, number in rows:
            mine[key].append((ts, number))
        late = [number for key in mine for number in self._keys[key].take(now, mine[key])]
        return self.clock(now), late

    def clock(self, now: int) -> list[Result]:
        """Return what the clock brings."""
        return [one for name, key in self._keys.items() for one in key.give(name, now)]
