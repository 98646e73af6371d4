"""Two drivers on one checkpoint on S3: A waits in a request, and B meanwhile runs to its end.

Then A goes on. In the end both are gone, and a plain restart has to suffice. The file manager is
eventtide's: with Spark's own, an object store has no fence.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from tests.chaos.kills import Killed, kind_of, seed_by_seed
from tests.chaos.kinds import alone
from tests.chaos.processes import PATIENCE
from tests.chaos.s3.campaign import LATENCY, S3Victim
from tests.chaos.s3.server import s3_server
from tests.chaos.worker import TrialError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.processes import Victim
    from tests.chaos.s3.server import S3Server
    from tests.chaos.worker import Worker

MANAGER = "eventtide"
FILES = "offsets/N", "commits/N", "eventtide/ledger/N", "eventtide/late/N"
BATCHES = 5  # of which one has the request that waits
ENDED = "ENDED "  # before what a driver says that ends with an error


class Pair(S3Victim):
    """The drivers of one query. `pair` runs two of them at once, `finish` one alone."""

    def __init__(self, folder: Path, server: S3Server, kind: str, seed: int) -> None:
        super().__init__(folder, server, kind, str(seed), MANAGER)
        random = Random(seed)  # noqa: S311 - test data
        self._waits_in = (
            f"{random.choice(['before', 'after'])} PUT checkpoint/{random.choice(FILES)}"
        )
        self._number = random.randint(1, BATCHES)
        self._ended = list[str]()
        self._noted = 0  # characters of the log

    def pair(self) -> bool:
        """Run A until it waits, B to its end, and A to its end; False if A did not wait so long."""
        with self._running() as a:
            key, until = self._key, time.monotonic() + PATIENCE
            self._server.ask(tell=key, what={"after": self._number, "stall": self._waits_in})
            while a.poll() is None and not self._server.ask(of=key)["reached"]:
                if time.monotonic() > until:
                    raise TrialError(f"does not reach {self._waits_in}")
                time.sleep(0.05)
            waits = a.poll() is None
            if waits:
                self._note("B", self.finish())
                waits = a.poll() is None
            self._server.ask(release=True)
            self._await(a)
            self._note("A", self._error(a.returncode))
        return waits

    def _note(self, driver: str, error: str | None) -> None:
        """Note how a driver has ended. An error has a name."""
        if error is None:
            return
        log = self.log.read_text("utf-8", "replace")
        _, _, said = log[self._noted :].rpartition(ENDED)
        self._noted = len(log)
        if not said.startswith("True "):
            raise TrialError(f"{driver} ends with an error without a name: {said or error}")
        self._ended.append(f"{driver} {said[5:200]}")

    def about(self) -> dict[str, Any]:
        """Return where A waited, and the errors that ended the two."""
        return {"a": f"{self._number} {self._waits_in}", "ended": self._ended}


@dataclass(frozen=True)
class Two(Killed):
    """A query of a seed with two drivers."""

    server: S3Server

    def victim(self, folder: Path) -> Pair:
        """Return the drivers."""
        return Pair(folder, self.server, self.kind, self.seed)

    def lived(self, victim: Victim) -> tuple[int, str | None]:
        """Run the two, then a plain restart, and bring what they have left."""
        if not isinstance(victim, Pair):
            raise TypeError(victim)
        waited = victim.pair()
        restart = victim.finish()
        victim.take()
        return int(waited), restart


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Run as many pairs of drivers as the command line says."""
    kinds = alone(limits.kinds)

    def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
        log = folder.with_name(f"{seed}-server")
        with s3_server(log, seed=seed, latency=LATENCY, trouble=0) as server:
            return Two(kind_of(seed, kinds, figures), seed, most, server).trial(judge, folder)

    return seed_by_seed(trial, figures, limits)
