"""Two drivers on one checkpoint: A stalls at a step, B is started and does as it is told.

B is halted at a step of its own, comes to the end of the streams, or stalls too while A goes on. In
the end both are gone, and a plain restart has to suffice. The storage refuses a second file of the
same name: of one where the last writer wins, nothing is promised.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos.quiet import SEED, Quiet, judged
from tests.chaos.trial import Ended, Fault
from tests.chaos.worker import TrialError, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.chaos.figures import Figures, Limits, Trial

LOGS = re.compile("checkpoint/(eventtide|offsets|commits)/")
MODES = ("halts", "ends", "stalls")
STORAGES = ("renames", "object_store")


class Pair:
    """Two warm drivers, and quiet runs to compare with.

    Parameters
    ----------
    a, b : Worker
        The drivers.
    folder : Path
        Where all is that they write.
    chosen : list of str
        The kinds of queries to choose from.
    """

    def __init__(self, a: Worker, b: Worker, folder: Path, chosen: list[str]) -> None:
        self._a, self._b, self._folder, self._chosen = a, b, folder, chosen
        self._quiet = Quiet(folder)

    def trial(self, seed: int) -> dict[str, Any]:
        """Try the pair of steps that a seed stands for."""
        random = Random(seed)  # noqa: S311 - test data
        kind, mode = random.choice(self._chosen), MODES[seed % len(MODES)]
        storage = random.choice(STORAGES)
        first, again = (
            self._quiet.steps(self._a, kind, storage, phase) for phase in ("first", "restart")
        )
        at_a = _step(random, first, "stall", storage)
        at_b = _step(random, again, "stall" if mode == "stalls" else "halt", storage)
        if mode == "ends":
            at_b = Fault(storage=storage)
        folder = self._folder / f"trial-{seed}"
        folder.mkdir()
        at, reached, ended = time.monotonic(), True, list[str | None]()
        try:
            reached, ended, violations = self._judged(folder, kind, at_a, at_b)
        except TrialError as broken:
            violations = [str(broken)]
        shutil.rmtree(folder, ignore_errors=True)
        return {
            "kind": kind,
            "seed": seed,
            "mode": mode,
            "storage": storage,
            "a": f"{at_a.occurrence} {at_a.step}",
            "b": f"{at_b.occurrence} {at_b.step}",
            "reached": reached,
            "ended": ended,
            "violations": violations,
            "seconds": round(time.monotonic() - at, 2),
        }

    def _judged(
        self, folder: Path, kind: str, at_a: Fault, at_b: Fault
    ) -> tuple[bool, list[str | None], list[str]]:
        quiet = self._quiet(self._a, kind)
        both = self._both(folder, kind, at_a, at_b)
        restart = self._b.run(folder, kind, SEED, Fault(storage=at_a.storage))
        errors = [(each.error, each.named) for each in both]
        violations = judged(self._b, kind, folder, quiet, restart.error, errors)
        return both[0].reached, [each.error and each.error[:300] for each in both], violations

    def _both(self, folder: Path, kind: str, at_a: Fault, at_b: Fault) -> Sequence[Ended]:
        ended_a = self._a.begin(folder, kind, SEED, at_a)
        ended_b = self._b.begin(folder, kind, SEED, at_b)
        if at_b.name == "stall":  # A is the first to go on
            ended_a = ended_a or self._a.go()
            ended_b = ended_b or self._b.go()
        else:
            ended_b = ended_b or self._b.go()
            ended_a = ended_a or self._a.go()
        return ended_a, ended_b


def _step(random: Random, steps: dict[str, int], fault: str, storage: str) -> Fault:
    """Choose a kind of step, and which of them: each second of what a batch is committed by."""
    logs = [step for step in sorted(steps) if LOGS.search(step)]
    step = random.choice(logs if random.random() < 0.5 else sorted(steps))
    return Fault(fault, step, random.randint(1, steps[step]), storage)


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Run pairs of steps, up to the limit, of seeds that have not run yet."""
    made, failed = 0, list[dict[str, Any]]()
    seeds = figures.seeds(limits.seed)
    with tempfile.TemporaryDirectory(prefix="eventtide-chaos-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with Worker(folder / "log-a") as a, Worker(folder / "log-b") as b:
            pair = Pair(a, b, folder, limits.kinds)
            while made != limits.trials and time.monotonic() < limits.until:
                trial = figures.add(**pair.trial(next(seeds)))
                made += trial["reached"]
                if trial["violations"]:
                    failed.append(trial)
    return failed
