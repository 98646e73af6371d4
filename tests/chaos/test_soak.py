"""Two short parts of the soak, and what its audit finds."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.chaos.figures import Figures, Limits
from tests.chaos.soak import campaign
from tests.chaos.soak.audit import held_up
from tests.chaos.soak.victim import HANDLED, RESULTS, ROWS, START_S

if TYPE_CHECKING:
    from pathlib import Path

PART_S = 70  # seconds: a line of samples comes each minute


@pytest.mark.thorough
def test_nothing_is_lost_until_something_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that is given again and differs is found, and a late row that is not handed on."""
    monkeypatch.setattr(campaign, "PART_S", PART_S)
    monkeypatch.setattr(campaign, "FOLDER", tmp_path / "soak")
    figures = Figures("soak", tmp_path)
    assert campaign.command("soak", figures, Limits([], 7, 2, float("inf"), 1)) == []
    first, second = figures.trials()
    assert first["batches"] < second["batches"]
    [folder] = (tmp_path / "soak").iterdir()
    for name in RESULTS, HANDLED:
        with (folder / name).open("a", encoding="utf-8") as out:
            out.write(json.dumps({"batch": 5, "rows": -1}) + "\n")
    found = campaign.audited(folder)
    for about in "results: batch 5", "handled: batch 5", "handler: it was given", "results: they":
        assert any(line.startswith(about) for line in found), (about, found)


@pytest.mark.parametrize(("seconds", "found"), [(100, 0), (130, 1), (None, 1)])
def test_windows_that_do_not_close_are_found(seconds: int | None, found: int) -> None:
    """A watermark that is held loses nothing, but keeps all windows open."""
    closed = None if seconds is None else datetime.fromtimestamp(START_S, timezone.utc)
    report: Any = SimpleNamespace(windows=[SimpleNamespace(closed_up_to=closed)])
    assert len(list(held_up(report, (seconds or 0) * ROWS))) == found
