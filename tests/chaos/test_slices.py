"""A slice of each campaign, as `dev/chaos` runs it: with seeds, and with figures of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.chaos.figures import Figures
from tests.chaos.session import ROOT
from tests.thorough import sampled

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 500  # seconds
SEED = "4"
SLICES = [
    ("exhaustive", 2, 1),
    ("random", 1, 8),
    ("upgrades", 3, 1),
    ("clocks", 1, 15),
    ("realtime", 1, 1),
    ("executors", 1, 8),
    ("drivers", 1, 1),
    ("realtime-executors", 1, 1),
    ("connect", 1, 1),
    ("pipelines", 1, 1),
    ("kafka", 1, 1),
    ("fuzz-yaml", 300, 1),
    ("fuzz-checkpoints", 10, 1),
    ("fuzz-sql", 60, 1),
    ("fuzz-connect", 30, 1),
    ("s3", 1, 1),
    ("s3-drivers", 1, 1),
]
QUICK = "exhaustive", "fuzz-yaml", "fuzz-checkpoints"


@pytest.mark.long
@pytest.mark.parametrize(
    ("campaign", "trials", "kinds"), sampled(SLICES, [one for one in SLICES if one[0] in QUICK])
)
def test_nothing_is_lost(tmp_path: Path, campaign: str, trials: int, kinds: int) -> None:
    """No trial has a violation."""
    command = [sys.executable, "-m", "tests.chaos", campaign, str(trials), "--kinds", str(kinds)]
    options = ["--seed", SEED, "--figures", str(tmp_path)]
    done = subprocess.run(  # noqa: S603 - our own module
        [*command, *options],
        cwd=ROOT,
        env=os.environ | {"TZ": "UTC"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    assert Figures(campaign, tmp_path).trials()
