"""Real ``kill -9``, of drivers with all that they have started, and of executors of a cluster."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos.processes import FILES, Victim
from tests.chaos.quiet import Quiet, judged
from tests.chaos.trial import BUGS
from tests.chaos.worker import TrialError
from tests.chaos.workers import workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.worker import Worker

MOST = 6  # kills of one query
MOST_EXECUTORS = 20
OURS = "io.eventtide."
ENOUGH = 150  # kills in all, unless the command line says how many


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


def kind_of(seed: int, able: list[str], figures: Figures) -> str:
    """Return the kind of a seed: that with which it has failed, or one of those that are able."""
    failed = {trial["seed"]: trial["kind"] for trial in figures.failed()}
    return str(failed.get(seed, able[seed % len(able)]))


@dataclass(frozen=True)
class Killed:
    """A query of a seed whose driver is killed up to `most` times."""

    kind: str
    seed: int
    most: int

    def trial(self, judge: Worker, folder: Path) -> dict[str, Any]:
        """Kill it and judge what is left."""
        at = time.monotonic()
        kills, violations, about = 0, list[str](), dict[str, Any]()
        try:
            quiet = self.quiet(judge, folder / "quiet")
            victim = self.victim(folder / "killed")
            kills, error = self.lived(victim)
            violations = judged(judge, self.kind, victim.folder, quiet, error)
            about = victim.about()
        except Exception as broken:  # noqa: BLE001 - of a worker, a server or a victim
            violations = [f"{type(broken).__name__}: {broken}"]
        shutil.rmtree(folder, ignore_errors=True)
        return {
            "kind": self.kind,
            "seed": self.seed,
            "kills": kills,
            **about,
            "violations": violations,
            "seconds": round(time.monotonic() - at, 1),
        }

    def quiet(self, judge: Worker, folder: Path) -> Path:
        """Return the folder of a run that nothing disturbs."""
        return Quiet(folder, self.seed)(judge, self.kind)

    def victim(self, folder: Path) -> Victim:
        """Return the runs to be killed."""
        return Victim(folder, self.kind, str(self.seed))

    def lived(self, victim: Victim) -> tuple[int, str | None]:
        """Kill it and run it to its end; return the kills, and what has ended the last run."""
        random = Random(self.seed)  # noqa: S311 - test data
        most = min(random.randrange(3, MOST + 1), self.most)
        for kills in range(most):
            if not victim.kill(random):
                return kills, None
        return most, victim.finish()


class Executors(Killed):
    """A query on a cluster, of which executors are killed.

    More often than a driver: the cluster goes on without a start of the query.
    """

    def lived(self, victim: Victim) -> tuple[int, str | None]:
        """Run it to its end, and kill executors meanwhile."""
        random = Random(self.seed)  # noqa: S311 - test data
        most = min(MOST_EXECUTORS, self.most)
        kills, error = victim.lose_executors(random, most, files=FILES // 3)
        if failed := [why for why in lost_tasks(victim.log) if BUGS.match(why) or OURS in why]:
            raise TrialError(f"{len(failed)} tasks have failed: {failed[0]}")
        return kills, error


def lost_tasks(log: Path) -> list[str]:
    """Return why tasks have failed, the executors of which may be there or not."""
    return re.findall(r"Lost task .* \(TID \d+\) \(.*?\): (.*)", log.read_text("utf-8", "replace"))


def command(campaign: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the queries of one seed after the other."""
    killed = Executors if campaign == "executors" else Killed

    def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
        return killed(kind_of(seed, limits.kinds, figures), seed, most).trial(judge, folder)

    return seed_by_seed(trial, figures, limits)
