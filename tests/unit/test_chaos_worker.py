"""A worker that hangs or is gone is a failed trial, never the end of a campaign."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.chaos import worker
from tests.chaos.worker import TrialError, Worker

FOLDER = Path("/nowhere")


def answering(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let a worker's process be a small program."""
    monkeypatch.setattr(worker, "COMMAND", [sys.executable, "-c", code])


def test_an_answer_that_never_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is waited for as long as was said; the error names the command."""
    answering(monkeypatch, "import time; time.sleep(1000)")
    with (
        Worker(tmp_path / "log", patience=0.2) as stuck,
        pytest.raises(TrialError, match=r"hangs: \{'do': 'doctor', 'folder': '/nowhere'\}"),
    ):
        stuck.doctor(FOLDER)


def test_a_process_that_is_gone_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error has the end of what it said; the next command has a new process."""
    answering(monkeypatch, "raise SystemExit('it is broken')")
    with Worker(tmp_path / "log") as broken:
        with pytest.raises(TrialError, match=r"(?s)the worker has ended: .*it is broken"):
            broken.doctor(FOLDER)
        answering(monkeypatch, "input(); print('noise\\n@{\"problems\": []}', flush=True); input()")
        assert broken.doctor(FOLDER) == {"problems": []}
