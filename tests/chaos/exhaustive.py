"""Each class of file steps meets each fault, and each kind of query that makes such steps.

A step is an operation on a kind of file, before or after it; a class is a step on a storage, in a
first run or a later one. They meet in pairs: each class and fault with one kind at least, each step
and kind in one class with one fault.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from dataclasses import replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.chaos import kept
from tests.chaos.quiet import SEED, Quiet, before, judged
from tests.chaos.trial import Fault
from tests.chaos.worker import TrialError
from tests.chaos.workers import workers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.worker import Worker

Steps: TypeAlias = dict[tuple[str, str, str], dict[str, int]]
Class: TypeAlias = tuple[str, str, str]
Case: TypeAlias = tuple[str, str, str, str, str]
STORAGES = ("renames", "last_wins", "object_store")
PHASES = {
    "exhaustive": [*((storage, "first") for storage in STORAGES), ("renames", "restart")],
    "upgrades": [("renames", phase) for phase in kept.PHASES],
}
"""The storages and phases of a campaign."""


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


def plan(steps: Steps, seed: int, done: Collection[Case] = ()) -> Iterator[tuple[str, Fault]]:
    """Yield kinds and faults: each class with each fault, then each step with each kind.

    What has been done counts, also if the steps were others then.

    Parameters
    ----------
    steps : dict of dict of int
        By kind, storage and phase, how often each step was made in a quiet run.
    seed : int
        Chooses which of the steps of a class it is; after an upgrade, it is the first.
    done : collection of tuples
        Storage, phase, fault, step and kind of the trials that went well.
    """
    random = Random(seed)  # noqa: S311 - test data
    paired = Counter((storage, fault, kind) for storage, _, fault, _, kind in done)
    met = {(step, kind) for _, _, _, step, kind in done}
    tried = {((storage, phase, step), fault) for storage, phase, fault, step, _ in done}
    classes = _classes(steps)

    def pair(cases: list[tuple[Class, str, str]]) -> tuple[str, Fault]:
        """Choose a storage, a fault and a kind that have met least, of cases of a step."""
        fewest = min(paired[of[0], fault, kind] for of, kind, fault in cases)
        able = [case for case in cases if paired[case[0][0], case[2], case[1]] == fewest]
        (storage, phase, step), kind, fault = random.choice(able)
        paired[storage, fault, kind] += 1
        met.add((step, kind))
        times = 1 if phase in kept.PHASES else steps[kind, storage, phase][step]
        return kind, Fault(fault, step, random.randint(1, times), storage, phase)

    pairs = [(each, fault) for each in classes for fault in faults_at(each[2], each[0])]
    order = [pair for pair in pairs if pair not in tried]
    random.shuffle(order)
    for each, fault in order:
        yield pair([(each, kind, fault) for kind in classes[each]])
    cases: dict[tuple[str, str], list[tuple[Class, str, str]]] = {}
    for each, able in classes.items():
        for kind in able:
            with_faults = [(each, kind, fault) for fault in faults_at(each[2], each[0])]
            cases.setdefault((each[2], kind), []).extend(with_faults)
    left = [case for case in cases if case not in met]
    random.shuffle(left)
    for case in left:
        yield pair(cases[case])


def _classes(steps: Steps) -> dict[Class, list[str]]:
    """Return the kinds that make each class of steps; of restarts, what they make besides."""
    classes: dict[Class, list[str]] = {}
    for (kind, storage, phase), made in steps.items():
        first = steps[kind, storage, "first"] if phase == "restart" else {}
        for step in made:
            if "/eventtide" in step or step not in first:
                classes.setdefault((storage, phase, step), []).append(kind)
    return classes


class Campaign:
    """Trials in a folder, each by a worker and beside the quiet runs."""

    def __init__(self, name: str, folder: Path, seed: int) -> None:
        self._phases = PHASES[name]
        self._folder, self._seed, self._quiet = folder, seed, Quiet(folder)
        self._numbers = count()

    def plan(
        self, worker: Worker, chosen: list[str], done: Collection[Case]
    ) -> Iterator[tuple[str, Fault]]:
        """Yield the trials of some kinds that are left."""
        steps: Steps = {}
        for kind in chosen:
            for storage, phase in self._phases:
                if phase in kept.PHASES and kind not in kept.KINDS:
                    continue
                steps[kind, storage, phase] = self._quiet.steps(worker, kind, storage, phase)
        return plan(steps, self._seed, done)

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
        quiet = self._quiet(worker, kind, fault.phase)
        before(worker, folder, kind, fault)
        first = worker.run(folder, kind, SEED, fault)
        second = worker.run(folder, kind, SEED, Fault(storage=fault.storage))
        errors = [(first.error, first.named)]
        violations = judged(worker, kind, folder, quiet, second.error, errors)
        return first.reached, violations, first.error


def _case(trial: Trial) -> tuple[str, Fault]:
    names = ("fault", "step", "occurrence", "storage", "phase")
    return trial["kind"], Fault(*(trial[name] for name in names))


def command(name: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Run trials that have not run yet, up to the limit; return those with a violation."""
    done = {case[:-1] for case in figures.done() if case[-1] == limits.seed}
    failed = [trial for trial in figures.failed() if trial["seed"] == limits.seed]
    again = [_case(trial) for trial in failed if trial["kind"] in limits.kinds]
    with workers(limits.workers) as them:
        campaign = Campaign(name, them.folder, limits.seed)

        def one(worker: Worker, case: tuple[str, Fault]) -> list[Trial]:
            if time.monotonic() > limits.until:
                return []
            trial = figures.add(**campaign.trial(worker, *case))
            return [trial] if trial["violations"] else []

        with them.one() as worker:
            planned = campaign.plan(worker, limits.kinds, done)
            left = [*dict.fromkeys([*again, *planned])]
        return [trial for found in them.each(one, left[: limits.trials]) for trial in found]
