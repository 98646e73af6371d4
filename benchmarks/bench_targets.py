"""The share of late rows and the mean lag of rules that choose a lag, on streams with disorder.

The kernel replays the event times of a stream (`LagReplay.scala`); no engine runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import disorder_data
from eventtide._text.durations import in_words
from figures import Figure
from replays import replayed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from disorder_data import Stream
    from figures import Settings

TARGETS = (10_000, 1_000)  # millionths
OURS = "policy, recent"


@dataclass(frozen=True)
class Replayed:
    """What a rule did: the share of late rows divided by the target, and the mean lag."""

    share: float
    lag: int


def run(*, quick: bool) -> Iterator[Figure]:
    """Replay all streams, and pair the policy with the other rules."""
    for stream in islice(disorder_data.streams(), 2 if quick else None):
        print(f"targets: {stream.name}", flush=True)
        for target, rules in _replay(stream).items():
            ours = rules.pop(OURS)
            for rule, theirs in rules.items():
                settings: Settings = {
                    "stream": stream.name,
                    "rows": len(stream.times),
                    "target": f"{target / 10_000:g} %",
                    "ours_mean_lag": _words(ours.lag),
                    "theirs_mean_lag": _words(theirs.lag),
                }
                # Above the target is as wrong as below it: neither number is the better one.
                yield Figure(
                    "targets",
                    settings,
                    "late rows / target",
                    ours.share,
                    rule,
                    theirs.share,
                    less_is_better=True,
                )


def _replay(stream: Stream) -> dict[int, dict[str, Replayed]]:
    found: dict[int, dict[str, Replayed]] = {}
    for target, rule, late, rows, lag in replayed("LagReplay", stream, *TARGETS):
        share = int(late) / int(rows) / (int(target) / 1e6)
        found.setdefault(int(target), {})[rule] = Replayed(share, int(lag))
    return found


def _words(micros: int) -> str:
    """Return a lag with at most two units."""
    return " ".join(in_words(micros // 1000 * 1000).split()[:2])
