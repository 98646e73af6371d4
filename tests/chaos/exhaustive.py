"""Each class of file steps meets each fault, and each kind of query that makes such steps.

A class is an operation on a kind of file, before or after it, on a storage. A class, a fault and a
kind meet in pairs: each class and fault with one kind at least, each class and kind with one fault.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.chaos.quiet import SEED, Quiet, judged
from tests.chaos.trial import Fault, halted
from tests.chaos.worker import TrialError
from tests.chaos.workers import workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.worker import Worker

Steps: TypeAlias = dict[tuple[str, str, str], dict[str, int]]
Class: TypeAlias = tuple[str, str, str]
STORAGES = ("renames", "last_wins", "object_store")
RESTART = ("renames", "restart")


def faults_at(step: str, storage: str) -> list[str]:
    """Return which faults can happen at a step: a failure after it is a success with an error."""
    if storage != "renames":
        return ["halt"]  # the storage is the fault, and a halt is where it shows
    faults = ["halt", "throw", "interrupt"]
    if step.startswith("before"):
        faults.append("stall")
    if step.startswith("before list"):
        faults.append("stale")
    return faults


def plan(steps: Steps, seed: int) -> Iterator[tuple[str, Fault]]:
    """Yield kinds and faults: each class with each fault, then each class with each kind.

    Parameters
    ----------
    steps : dict of dict of int
        By kind, storage and phase, how often each step was made in a quiet run.
    seed : int
        Chooses which of the steps of a class it is.
    """
    random = Random(seed)  # noqa: S311 - test data
    paired: Counter[tuple[str, str, str]] = Counter()
    classes = _classes(steps)
    met = set[tuple[Class, str]]()

    def pair(of: Class, kinds: list[str], faults: list[str]) -> tuple[str, Fault]:
        """Choose a pair of those that have met least."""
        storage, phase, step = of
        every = [(kind, fault) for kind in kinds for fault in faults]
        fewest = min(paired[storage, fault, kind] for kind, fault in every)
        able = [(k, f) for k, f in every if paired[storage, f, k] == fewest]
        kind, fault = random.choice(able)
        paired[storage, fault, kind] += 1
        met.add((of, kind))
        times = steps[kind, storage, phase][step]
        return kind, Fault(fault, step, random.randint(1, times), storage, phase)

    order = [(each, fault) for each in classes for fault in faults_at(each[2], each[0])]
    random.shuffle(order)
    for each, fault in order:
        yield pair(each, classes[each], [fault])
    left = [(each, kind) for each, able in classes.items() for kind in able]
    left = [case for case in left if case not in met]
    random.shuffle(left)
    for each, kind in left:
        yield pair(each, [kind], faults_at(each[2], each[0]))


def _classes(steps: Steps) -> dict[Class, list[str]]:
    """Return the kinds that make each class of steps; of restarts, what they make besides."""
    classes: dict[Class, list[str]] = {}
    for (kind, storage, phase), made in steps.items():
        first = steps[kind, storage, "first"]
        for step in made:
            if phase == "first" or "/eventtide" in step or step not in first:
                classes.setdefault((storage, phase, step), []).append(kind)
    return classes


class Campaign:
    """Trials in a folder, each by a worker and beside the quiet runs."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._seed, self._quiet = folder, seed, Quiet(folder)
        self._numbers = count()

    def plan(self, worker: Worker, chosen: list[str]) -> Iterator[tuple[str, Fault]]:
        """Yield the trials of some kinds; a restart is tried on a storage that renames."""
        steps: Steps = {}
        for kind in chosen:
            for storage, phase in [*((storage, "first") for storage in STORAGES), RESTART]:
                steps[kind, storage, phase] = self._quiet.steps(worker, kind, storage, phase)
        return plan(steps, self._seed)

    def trial(self, worker: Worker, kind: str, fault: Fault) -> dict[str, Any]:
        """Run with a fault, start again without, and judge."""
        at = time.monotonic()
        reached, violations, error = self._tried(worker, kind, fault)
        if (
            not reached and not violations
        ):  # Spark cleans up state when it comes to it: fewer such calls than before
            fault = replace(fault, occurrence=1)
            reached, violations, error = self._tried(worker, kind, fault)
        return {
            "kind": kind,
            "storage": fault.storage,
            "phase": fault.phase,
            "fault": fault.name,
            "step": fault.step,
            "occurrence": fault.occurrence,
            "seed": self._seed,
            "reached": reached,
            "violations": violations,
            "error": error and error[:300],
            "seconds": round(time.monotonic() - at, 2),
        }

    def _tried(self, worker: Worker, kind: str, fault: Fault) -> tuple[bool, list[str], str | None]:
        place = self._folder / f"trial-{next(self._numbers)}"
        place.mkdir()
        try:
            return self._judged(worker, place, kind, fault)
        except TrialError as broken:
            return True, [str(broken)], None
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _judged(
        self, worker: Worker, folder: Path, kind: str, fault: Fault
    ) -> tuple[bool, list[str], str | None]:
        quiet = self._quiet(worker, kind)
        if fault.phase == "restart":
            worker.run(folder, kind, SEED, halted(fault.storage))
        first = worker.run(folder, kind, SEED, fault)
        second = worker.run(folder, kind, SEED, Fault(storage=fault.storage))
        errors = [(first.error, first.named)]
        violations = judged(worker, kind, folder, quiet, second.error, errors)
        return first.reached, violations, first.error


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Run trials that have not run yet, up to the limit; return those with a violation."""
    done = figures.done()
    with workers(limits.workers) as them:
        campaign = Campaign(them.folder, limits.seed)

        def one(worker: Worker, case: tuple[str, Fault]) -> list[Trial]:
            if time.monotonic() > limits.until:
                return []
            trial = figures.add(**campaign.trial(worker, *case))
            return [trial] if trial["violations"] else []

        with them.one() as worker:
            left = [
                (kind, fault)
                for kind, fault in campaign.plan(worker, limits.kinds)
                if (fault.storage, fault.phase, fault.name, fault.step, kind, limits.seed)
                not in done
            ]
        return [trial for failed in them.each(one, left[: limits.trials]) for trial in failed]
