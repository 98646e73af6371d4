"""A slice of each campaign, as `dev/chaos` runs it: with seeds, and with figures of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.chaos.figures import Figures
from tests.chaos.session import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 500  # seconds
SEED = "4"


@pytest.mark.long
@pytest.mark.parametrize(
    ("campaign", "trials", "kinds"),
    [
        ("exhaustive", 5, 1),
        pytest.param("random", 1, 8, marks=pytest.mark.thorough),
        pytest.param("upgrades", 3, 1, marks=pytest.mark.thorough),
        pytest.param("clocks", 1, 15, marks=pytest.mark.thorough),
        pytest.param("realtime", 1, 1, marks=pytest.mark.thorough),
        pytest.param("executors", 1, 8, marks=pytest.mark.thorough),
        pytest.param("drivers", 1, 1, marks=pytest.mark.thorough),
        pytest.param("realtime-executors", 1, 1, marks=pytest.mark.thorough),
        pytest.param("connect", 1, 1, marks=pytest.mark.thorough),
        pytest.param("pipelines", 1, 1, marks=pytest.mark.thorough),
        pytest.param("kafka", 1, 1, marks=pytest.mark.thorough),
        ("fuzz-yaml", 300, 1),
        ("fuzz-checkpoints", 20, 1),
        pytest.param("fuzz-sql", 60, 1, marks=pytest.mark.thorough),
        pytest.param("fuzz-connect", 30, 1, marks=pytest.mark.thorough),
        pytest.param("s3", 1, 1, marks=pytest.mark.thorough),
        pytest.param("s3-drivers", 1, 1, marks=pytest.mark.thorough),
    ],
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
