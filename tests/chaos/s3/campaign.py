"""Real ``kill -9`` of drivers whose checkpoint and late log are on S3, at each kind of request.

A driver is killed in a request that changes something, before or after it has its effect: those
kinds first that have killed least. All requests take a while; some are refused, or lose their
connection, before or after their effect.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos.kills import Killed, kind_of, seed_by_seed
from tests.chaos.kinds import alone
from tests.chaos.processes import PATIENCE, Victim
from tests.chaos.s3.server import s3_server
from tests.chaos.worker import TrialError, stuck

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.s3.server import S3Server
    from tests.chaos.worker import Worker

LATENCY = 0.005  # seconds, on average
TROUBLE = 0.01  # of the requests are refused, and as many lose their connection
MANAGERS = "eventtide", "spark"
RUNS = count()
EARLIEST = 90  # a run may be killed from one of so many of its first changes on


class S3Victim(Victim):
    """The runs of one query, each with an access key of its own.

    Attributes
    ----------
    killed : Counter
        The steps at which it was killed.
    """

    def __init__(self, folder: Path, server: S3Server, *about: str) -> None:
        super().__init__(folder, *about, module="tests.chaos.s3.victim")
        self._server, self._key = server, ""
        self.killed = Counter[str]()

    def _command(self, *options: str) -> list[str]:
        self._key = f"run-{next(RUNS)}"
        return super()._command(self._server.url, self._key, *options)

    def kill(self, random: Random, *options: str, pause: float = 0) -> bool:  # noqa: ARG002
        """Let the server kill a run; False if it ended before."""
        with self._running(*options) as process:
            what = {"group": process.pid, "after": random.randrange(1, EARLIEST)}
            self._server.ask(tell=self._key, what=what)
            self._await(process)
        reached = self._server.ask(of=self._key)["reached"]
        if reached:
            self.killed[reached] += 1
        elif error := self._error(process.returncode):
            raise TrialError(error)
        return bool(reached)

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of a run."""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise TrialError(f"hangs: {self._key}\n{stuck(process.pid)}") from None

    def take(self) -> None:
        """Bring what is on the server into the folder."""
        self._server.ask(take=f"{self.folder}/".lstrip("/"), to=str(self.folder))

    def about(self) -> dict[str, Any]:
        """Return at which steps it was killed."""
        return {"killed": dict(self.killed)}


@dataclass(frozen=True)
class OnS3(Killed):
    """A query of a seed that is killed up to `most` times."""

    server: S3Server

    def victim(self, folder: Path) -> S3Victim:
        """Return the runs of the query."""
        return S3Victim(folder, self.server, self.kind, str(self.seed), self.manager)

    @property
    def manager(self) -> str:
        """Whose class writes the files of the checkpoint."""
        return Random(self.seed).choice(MANAGERS)  # noqa: S311 - so each kind meets both

    def lived(self, victim: Victim) -> tuple[int, str | None]:
        """Kill it, run it to its end and bring what it has left."""
        if not isinstance(victim, S3Victim):
            raise TypeError(victim)
        lived = super().lived(victim)
        victim.take()
        return lived


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the queries of one seed after the other."""
    kinds = alone(limits.kinds)

    def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
        log = folder.with_name(f"{seed}-server")
        with s3_server(log, seed=seed, latency=LATENCY, trouble=TROUBLE) as server:
            server.ask(killed=dict(_killed(figures)))
            query = OnS3(kind_of(seed, kinds, figures), seed, most, server)
            made = query.trial(judge, folder)
            return made | {"manager": query.manager, "went_wrong": server.ask()["happened"]}

    return seed_by_seed(trial, figures, limits)


def _killed(figures: Figures) -> Counter[str]:
    """Return how often each step has killed so far."""
    killed = Counter[str]()
    for trial in figures.trials():
        killed.update(trial.get("killed", {}))
    return killed
