"""A query for two hours, in parts: killed every ten minutes, and what grows meanwhile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from tests.chaos.figures import ROOT, commit
from tests.chaos.late_log import numbers
from tests.chaos.processes import PATIENCE, Recovery
from tests.chaos.soak.audit import FOUND
from tests.chaos.soak.victim import PART_S, SAMPLES
from tests.groups import group

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.figures import Figures, Limits, Trial

FOLDER = ROOT / ".build/soak"
PARTS = 12
MIB = 2**20
SIZES = "heap", "resident", "checkpoint", "ledger", "index"
COUNTS = "threads", "descriptors"


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Run the parts that are left, of a query that belongs to the engine at hand."""
    folder = FOLDER / commit()
    part = _done(folder)
    if part == PARTS:
        shutil.rmtree(folder)
        part = 0
    failed = list[dict[str, Any]]()
    for number in range(part, min(PARTS, part + (limits.trials or PARTS))):
        if time.monotonic() > limits.until:
            break
        folder.mkdir(parents=True, exist_ok=True)
        trial = figures.add(kind="soak", seed=number, **_part(folder, number))
        failed += [trial] if trial["violations"] else []
    return failed


def _done(folder: Path) -> int:
    """Return how many parts there were."""
    return len(_lines(folder / "parts.jsonl"))


def _part(folder: Path, part: int) -> dict[str, Any]:
    """Run for so long from the first batch on, kill, and judge."""
    at, checkpoint = time.monotonic(), folder / "checkpoint/commits"
    recovery = Recovery(folder)
    about: dict[str, Any] = {}
    with group(_python("victim", folder, part), folder / "log", PYTHONPATH=str(ROOT)) as process:
        recovery.begin()
        violations = _live(process, recovery, about)
    if not violations:
        about |= _grown(folder, part) | {"batches": max(numbers(checkpoint)) + 1}
        violations = audited(folder)
    with (folder / "parts.jsonl").open("a", encoding="utf-8") as out:
        out.write(json.dumps(about) + "\n")
    return about | {"violations": violations, "seconds": round(time.monotonic() - at, 1)}


def _live(process: subprocess.Popen[bytes], recovery: Recovery, about: dict[str, Any]) -> list[str]:
    """Wait for the first batch and for the length of a part; return what has ended it before."""
    until = time.monotonic() + PATIENCE
    while (took := recovery.took()) is None and process.poll() is None:
        if time.monotonic() > until:
            return ["it hangs"]
        time.sleep(0.05)
    about["recovery"] = took
    with suppress(subprocess.TimeoutExpired):
        return [f"it has ended: {process.wait(PART_S)}"]
    return []


def _grown(folder: Path, part: int) -> dict[str, Any]:
    """Return the times of the batches of a part, and how large each thing was.

    It is the median: a moment may be one in which a batch holds much.
    """
    samples = [line for line in _lines(folder / SAMPLES) if line["part"] == part]
    millis = [one for line in samples for one in line["millis"]]
    return {
        "p50_ms": median(millis),
        "p99_ms": round(quantiles(millis, n=100, method="inclusive")[98]),
        **{f"{name}_mib": round(median(of[name] for of in samples) / MIB, 2) for name in SIZES},
        **{name: median(of[name] for of in samples) for name in COUNTS},
    }


def audited(folder: Path) -> list[str]:
    """Return what is wrong with what the query has left so far."""
    with (folder / "log").open("ab") as log:
        subprocess.run(_python("audit", folder), cwd=ROOT, stdout=log, stderr=log, check=True)  # noqa: S603 - our own module
    found: list[str] = json.loads((folder / FOUND).read_text("utf-8"))
    return found


def _python(module: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", f"tests.chaos.soak.{module}", *map(str, arguments)]


def _lines(file: Path) -> list[dict[str, Any]]:
    text = file.read_text("utf-8") if file.exists() else ""
    return [json.loads(line) for line in text.splitlines()]
