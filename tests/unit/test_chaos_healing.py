"""What is wrong with a table that was healed is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.chaos.healing import _check
from tests.chaos.healing_victim import OUTCOME, WINDOWS
from tests.tables.healed import by_key, parts, tumbling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def row(device: str, end: str) -> str:
    """Return a result whose window ends at a time of the day."""
    window = {"start": "2024-01-01T12:00:00.000Z", "end": f"2024-01-01T{end}.000Z"}
    return json.dumps({"window": window, "device": device, "n": 1})


@pytest.mark.parametrize(
    ("window", "missing", "found"),
    [
        (tumbling, row("a", "12:01:40"), 1),
        (tumbling, row("z", "12:08:30"), 0),
        (by_key, row("a", "12:00:50"), 1),
        (by_key, row("a", "12:01:50"), 0),
        (by_key, row("z", "12:08:30"), 0),
    ],
    ids=["closed", "open", "closed by its key", "open to its key", "the last row's"],
)
def test_a_result_of_a_closed_window_has_to_be_there(
    tmp_path: Path, window: Callable[..., object], missing: str, found: int
) -> None:
    """The last rows close the windows of a query; a key closes its own."""
    seed = WINDOWS.index(window)
    last = max(second for part in parts(seed) for second, device in part if device == "a")
    assert 55 < last < 115
    there = [row("b", f"12:00:{end}") for end in range(10, 60, 10)]
    outcome = {"proof": "", "proved": True, "equal": 5, "table": there, "batch": [*there, missing]}
    (tmp_path / OUTCOME).write_text(json.dumps(outcome), "utf-8")
    assert len(list(_check(tmp_path, seed))) == found
