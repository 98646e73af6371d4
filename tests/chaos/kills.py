"""Real ``kill -9``, of drivers with all that they have started, and of executors of a cluster."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos import kinds
from tests.chaos.checker import Outcome, check
from tests.chaos.quiet import Quiet
from tests.chaos.session import ROOT
from tests.chaos.worker import TrialError, stuck
from tests.chaos.workers import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.worker import Worker

PATIENCE = 240  # seconds: far more than needed, on any machine
FILES = 40  # a kill comes after fewer changes of files than this; a whole run makes some ninety
MOST = 6  # kills of one query
ENOUGH = 150  # kills in all, unless the command line says how many


class Victim:
    """The runs of one query in a folder, each a process group of its own.

    Parameters
    ----------
    folder : Path
        Of the trial.
    arguments : str
        What the module is told beside the folder.
    module : str
        Runs the query.
    """

    def __init__(self, folder: Path, *arguments: str, module: str = "tests.chaos.victim") -> None:
        self.folder, self._arguments, self._module = folder, [str(folder), *arguments], module
        folder.mkdir(parents=True)

    @property
    def log(self) -> Path:
        """What all runs have said."""
        return self.folder / "log"

    def kill(self, random: Random, *options: str, pause: float = 0) -> bool:
        """Kill -9 all of a run after a number of changes to files; False if it ended before.

        The kill comes a pause after that, in seconds.
        """
        after = random.randrange(1, FILES)
        with self._running(*options) as process:
            until, before = time.monotonic() + PATIENCE, self._changes()
            while process.poll() is None:
                self._refuse_after(until, process)
                if len(self._changes() ^ before) >= after:
                    time.sleep(pause)
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait(PATIENCE)
                    return True
                time.sleep(0.01)
            if error := self._error(process.returncode):
                raise TrialError(error)
        return False

    def finish(self) -> str | None:
        """Run to the end; return the error that ended it before."""
        with self._running() as process:
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                self._refuse_after(until, process)
                time.sleep(0.1)
            return self._error(process.returncode)

    def lose_executors(
        self,
        random: Random,
        most: int,
        then: Callable[[], None] = lambda: None,
        *,
        pause: float = 0,
    ) -> tuple[int, str | None]:
        """Run to the end on a cluster, and kill -9 up to a number of executors, and then do this.

        A kill comes some time within the pause, in seconds, after the last change of a file.
        """
        killed, before, at = 0, self._changes(), random.randrange(1, FILES)
        with self._running("--cluster") as process:
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                self._refuse_after(until, process)
                found = executors(process.pid)
                if killed < most and found and len(self._changes() ^ before) >= at:
                    time.sleep(pause and random.uniform(0, pause))
                    with suppress(ProcessLookupError):
                        os.kill(random.choice(found), signal.SIGKILL)
                        killed += 1
                        if killed == most:
                            then()
                    before, at = self._changes(), random.randrange(1, FILES)
                time.sleep(0.01)
            return killed, self._error(process.returncode)

    def _changes(self) -> set[str]:
        found = ((folder, files) for folder, _, files in os.walk(self.folder))
        return {os.path.join(folder, file) for folder, files in found for file in files}  # noqa: PTH118 - quick

    @contextmanager
    def _running(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", self._module, *self._arguments, *options]
        workers = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "TZ": "UTC"}
        with self.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own module
                command, env=os.environ | workers, start_new_session=True, stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)

    def _error(self, code: int) -> str | None:
        return None if code == 0 else self.log.read_text("utf-8", "replace")[-600:]

    def _refuse_after(self, until: float, process: subprocess.Popen[bytes]) -> None:
        if time.monotonic() > until:
            raise TrialError(f"hangs: {' '.join(self._arguments)}\n{stuck(process.pid)}")


def executors(group: int) -> list[int]:
    """Return the executors among the processes of a group."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in line and os.getpgid(int(process.name)) == group:
                found.append(int(process.name))
    return found


def command(campaign: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the queries of one seed after the other."""
    failed = {trial["seed"]: trial["kind"] for trial in figures.trials() if trial["violations"]}

    def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
        kind = failed.get(seed, limits.kinds[seed % len(limits.kinds)])
        return Killed(campaign, kind, seed, most).trial(judge, folder)

    return seed_by_seed(trial, figures, limits)


def seed_by_seed(
    make: Callable[[Worker, Path, int, int], dict[str, Any]], figures: Figures, limits: Limits
) -> list[Trial]:
    """Make a trial of each seed until there are enough kills; return those with a violation.

    A trial is one query, killed several times and run to its end; `kills` says how often. `make`
    takes a worker, a folder, a seed and the highest number of kills.
    """
    enough, kills = limits.trials or ENOUGH, list[int]()

    def one(judge: Worker, seed: int) -> list[Trial]:
        left = enough - sum(kills)
        if left <= 0 or time.monotonic() > limits.until:
            return []
        trial = figures.add(**make(judge, them.folder / f"{seed}", seed, left))
        kills.append(trial["kills"])
        return [trial] if trial["violations"] else []

    with workers(limits.workers) as them:
        failed = them.each(one, islice(figures.seeds(limits.seed), enough))
        return [trial for trials in failed for trial in trials]


@dataclass(frozen=True)
class Killed:
    """A query of a seed that is killed up to `most` times, in a campaign."""

    campaign: str
    kind: str
    seed: int
    most: int

    def trial(self, judge: Worker, folder: Path) -> dict[str, Any]:
        """Kill it and judge what is left."""
        at, victim = time.monotonic(), Victim(folder / "killed", self.kind, str(self.seed))
        kills, violations = 0, list[str]()
        try:
            quiet = Quiet(folder / "quiet", self.seed)(judge, self.kind)
            kills, error = self._lived(victim)
            outcome = Outcome(restart=error, doctor=judge.doctor(victim.folder))
            logs = kinds.KINDS[self.kind].logs
            violations = check(victim.folder, quiet, outcome, logs=logs)
        except TrialError as broken:
            violations = [str(broken)]
        shutil.rmtree(folder, ignore_errors=True)
        return {
            "kind": self.kind,
            "seed": self.seed,
            "kills": kills,
            "violations": violations,
            "seconds": round(time.monotonic() - at, 1),
        }

    def _lived(self, victim: Victim) -> tuple[int, str | None]:
        random = Random(self.seed)  # noqa: S311 - test data
        most = min(random.randrange(3, MOST + 1), self.most)
        if self.campaign == "executors":
            return victim.lose_executors(random, most)
        for kills in range(most):
            if not victim.kill(random):
                return kills, None
        return most, victim.finish()
