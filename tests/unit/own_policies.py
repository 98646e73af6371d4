"""Policies as a user writes them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from eventtide.policies import BatchTimes, PythonPolicy


class Trimmed(PythonPolicy):
    """Behind the highest time, of which a batch moves it by no more than a step."""

    lag: timedelta
    step: timedelta = timedelta(hours=1)

    def advance(self, times: BatchTimes, state: Any) -> tuple[datetime, str]:
        """Return the highest time minus the lag."""
        top = times.highest
        if state is not None:
            before = datetime.fromisoformat(state)
            top = max(before, min(top, before + self.step))
        return top - self.lag, top.isoformat()


class Broken(PythonPolicy):
    """Fails in the way that its parameter says."""

    how: str

    def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
        """Fail at the second batch."""
        if state is None:
            return times.highest, 1
        if self.how == "raises":
            raise KeyError(self.how)
        returned: dict[str, Any] = {
            "goes back": (times.highest - timedelta(days=1), 1),
            "no pair": times.highest,
            "no datetime": (12, 1),
            "no time zone": (times.highest.replace(tzinfo=None), 1),
            "no JSON": (times.highest, object()),
            "not a number": (times.highest, float("nan")),
            "tuple": (times.highest, (1, 2)),
            "keys": (times.highest, {1: 5}),
        }
        answered: tuple[Any, Any] = returned[self.how]
        return answered


BROKEN = {
    "goes back": "moved its watermark back",
    "raises": "advance raised KeyError('raises') in line",
    "no pair": "which is not a pair of a watermark and a state",
    "no datetime": "advance returned the watermark 12, which is not a datetime",
    "no time zone": "which has no time zone",
    "no JSON": "its state cannot be saved as JSON",
    "not a number": "its state cannot be saved as JSON",
    "tuple": "its state (1, 2) comes back from JSON as [1, 2]",
    "keys": "its state {1: 5} comes back from JSON as {'1': 5}",
}
"""How `Broken` fails, and what the error says."""
