"""How well the expected share of windows is calibrated, on streams with disorder.

The kernel replays the event times of a stream (`ShareReplay.scala`); no engine runs.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING

import disorder_data
import numpy as np
from eventtide._text.durations import in_words
from figures import Figure
from replays import replayed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from disorder_data import Stream
    from figures import Settings
    from numpy.typing import NDArray

SECOND = 1_000_000
HOUR = 3600 * SECOND
BASE_RATE = "the share of all rows, for each window"
LOWEST = 0.0001
STEPS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)


def run(*, quick: bool) -> Iterator[Figure]:
    """Replay all streams, and compare what was expected with the rows that came."""
    for stream in islice(disorder_data.streams(), 2 if quick else None):
        print(f"shares: {stream.name}", flush=True)
        size, lags = _windows(stream)
        lines = np.array(replayed("ShareReplay", stream, size, *lags), dtype=float)
        for lag in lags:
            yield from _figures(stream, size, lag, lines[lines[:, 0] == lag][:, 1:].T)


def _windows(stream: Stream) -> tuple[int, tuple[int, ...]]:
    """Return the size of windows and the lags: those of hours, of days, or of minutes."""
    if stream.name.startswith("made"):
        return 60 * SECOND, (0, 10 * SECOND, 60 * SECOND)
    if stream.name.startswith("patients"):
        return 24 * HOUR, (0, 48 * HOUR)
    return HOUR, (0, HOUR, 4 * HOUR)


def _figures(stream: Stream, size: int, lag: int, windows: NDArray[np.float64]) -> Iterator[Figure]:
    expected, had, rows = windows
    missing = rows - had
    share = had.sum() / rows.sum()
    base = share * (1 - share)
    if base < LOWEST:  # as good as no row was late
        return
    settings: Settings = {
        "stream": stream.name,
        "windows": f"{len(rows):,} of {in_words(size)}",
        "lag": in_words(lag),
        "rows in": f"{share:.2%}",
        "expected": f"{(expected * rows).sum() / rows.sum():.2%}",
        "by expected share": "; ".join(_steps(expected, had, rows)),
    }
    score = ((1 - expected) ** 2 * had + expected**2 * missing).sum() / rows.sum()
    yield Figure(
        "shares",
        settings,
        "Brier score",
        score,
        BASE_RATE,
        base,
        less_is_better=True,
    )


def _steps(
    expected: NDArray[np.float64], had: NDArray[np.float64], rows: NDArray[np.float64]
) -> Iterator[str]:
    """Yield, for windows of about the same expected share, this share and that of their rows."""
    for low, high in pairwise(STEPS):
        inside = (expected >= low) & ((expected < high) | (high == 1))
        if rows[inside].sum() > 0:
            mean = (expected * rows)[inside].sum() / rows[inside].sum()
            yield f"{mean:.1%} {had[inside].sum() / rows[inside].sum():.1%}"
