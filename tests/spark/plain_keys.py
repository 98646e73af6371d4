"""Keys in their own time as plain Python: every window with its rows, by the rules as they read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

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


class PlainKeys:
    """All keys of a stream."""

    def __init__(self, rules: Rules) -> None:
        """Begin without keys."""
        self._keys: dict[str, Key] = defaultdict(lambda: Key(rules))

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
