"""Hostile inputs of one kind, in rounds: each has a seed, a process and a line in the figures."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.chaos.fuzz.round import FOUND, INPUT
from tests.groups import group

if TYPE_CHECKING:
    from tests.chaos.figures import Figures, Limits, Trial

TARGETS = {
    "yaml": "documents",
    "sql": "statements",
    "connect": "requests",
    "checkpoints": "checkpoints",
}
"""The modules of the targets."""

ROUND_S = 300.0
OVERTIME = 600.0  # to start, and to make an input smaller that is wrong
MANY = 10**9
HANGS = "Timeout ("  # what faulthandler says
SHOWN = 2000  # characters of what a process said


def command(campaign: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Make rounds until the time is over, or until there were enough inputs."""
    left, failed = limits.trials or MANY, list[dict[str, Any]]()
    for seed in figures.seeds(limits.seed):
        seconds = min(ROUND_S, limits.until - time.monotonic())
        if left <= 0 or seconds <= 0:
            break
        kind = campaign.removeprefix("fuzz-")
        trial = figures.add(kind=kind, seed=seed, **one(kind, seed, seconds, left))
        left -= trial["trials"] or left
        failed += [trial] if trial["violations"] else []
    return failed


def one(target: str, seed: int, seconds: float, most: int) -> dict[str, Any]:
    """Return what a round has found."""
    at = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder, log = Path(made), Path(made, "log")
        options = f"--seconds={seconds}", f"--trials={most}"
        what = TARGETS[target], f"{seed}", made, *options
        about = [sys.executable, "-m", "tests.chaos.fuzz.round", *what]
        with group(about, log, TZ="UTC") as process:
            found = _ended(process, folder, seconds + OVERTIME)
    return found | {"seconds": round(time.monotonic() - at, 1)}


def _ended(process: subprocess.Popen[bytes], folder: Path, patience: float) -> dict[str, Any]:
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    file, log = folder / FOUND, (folder / "log").read_text("utf-8", "replace")
    if file.exists():
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return found
    if (process.returncode == 1 and HANGS not in log) or not (folder / INPUT).exists():
        raise RuntimeError(f"the round is broken: {log[-SHOWN:]}")
    last = (folder / INPUT).read_text("utf-8")
    return {
        "trials": 1,
        "violations": [f"{last[:SHOWN]} hangs, or has ended the process: {log[-SHOWN:]}"],
    }
