"""Storm's windows as plain Python: a list of all rows of a key, looked through for each window."""

from __future__ import annotations

from dataclasses import dataclass, field

from eventtide.storm import Count

Extent = Count | int
"""So many rows, or so many milliseconds."""

Row = tuple[int, int]
"""Its time and its number."""

Given = tuple[int, tuple[int, ...], frozenset[int], frozenset[int]]
"""The end of a window, its rows, those that are new and those that have expired."""


@dataclass
class PlainStorm:
    """The windows of one key; times in milliseconds."""

    length: Extent
    slide: Extent
    rows: list[Row] = field(default_factory=list)
    waiting: list[Row] = field(default_factory=list)  # of rows that count
    counted: list[Row] = field(default_factory=list)
    last_end: int | None = None
    last: frozenset[int] = frozenset()

    def take(self, rows: list[Row], watermark: int | None) -> list[Given]:
        """Take rows that are not late, and return the windows that the watermark ends."""
        self.rows += rows
        self.waiting += rows
        if watermark is None:
            return []
        ended = self._by_count if isinstance(self.slide, Count) else self._by_time
        return [self._given(end, ids) for end, ids in ended(watermark)]

    def _given(self, end: int, ids: list[int]) -> Given:
        now, before = frozenset(ids), self.last
        self.last = now
        return end, tuple(ids), now - before, before - now

    def _by_time(self, watermark: int) -> list[tuple[int, list[int]]]:
        slide = self.slide
        assert isinstance(slide, int)
        if not self.rows:
            return []
        first = -(-min(ts for ts, _ in self.rows) // slide) * slide
        since = first if self.last_end is None else self.last_end + slide
        ended = []
        for end in range(since, watermark, slide):
            self.last_end = end
            there = [row for row in self.rows if row[0] <= end]
            if ids := self._of_length(there, end):
                ended.append((end, ids))
        return ended

    def _by_count(self, watermark: int) -> list[tuple[int, list[int]]]:
        assert isinstance(self.slide, Count)
        before = len(self.counted)
        self.counted += [row for row in self.waiting if row[0] <= watermark]
        self.waiting = [row for row in self.waiting if row[0] > watermark]
        ended = []
        for count in range(before + 1, len(self.counted) + 1):
            if count % self.slide.value == 0:
                so_far = self.counted[:count]
                end = max(ts for ts, _ in so_far)
                of = so_far if isinstance(self.length, Count) else self.counted
                ended.append((end, self._of_length(of, end)))
        return ended

    def _of_length(self, rows: list[Row], end: int) -> list[int]:
        if isinstance(self.length, Count):
            return [number for _, number in rows[-self.length.value :]]
        return [number for ts, number in rows if end - self.length < ts <= end]
