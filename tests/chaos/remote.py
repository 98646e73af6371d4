"""Real ``kill -9`` through Spark Connect, of clients and of servers.

A query belongs to its server, so it goes on when its client is gone: the next client stops it and
starts it again. A server that is gone is started again at its address. Its client fails by itself
or is killed, and is started again too.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.chaos import policy_jar
from tests.chaos.kills import Killed, kind_of, seed_by_seed
from tests.chaos.kinds import alone
from tests.chaos.late_log import numbers
from tests.chaos.processes import Victim
from tests.chaos.remote_victim import STARTED
from tests.chaos.session import SETTINGS
from tests.spark.server import WITH_EVENTTIDE, Server, free_port

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from typing_extensions import Self

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.worker import Worker

FAILS_WITHIN = 10  # seconds that a client has to notice that its server was another
REFUSED = "python policy"  # its class is in the client, where a server cannot call it


class Servers:
    """One server after the other, all at one address."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder, self._port = folder, free_port()
        self._settings = (
            SETTINGS | WITH_EVENTTIDE | {"spark.jars": ",".join(policy_jar.jars())} | settings
        )
        self._server = self._start()
        self.url = self._server.url

    def _start(self) -> Server:
        return Server(self._folder, self._settings, self._port)

    def lose(self) -> None:
        """Kill -9 the server, and start another."""
        self._server.kill()
        self._server = self._start()

    def __enter__(self) -> Self:
        """Return them."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the last one."""
        self._server.kill()


class RemoteVictim(Victim):
    """The clients of one query; a kill is of the client, or of the server under it.

    Attributes
    ----------
    killed : Counter
        How often each of the two was killed.
    batches : list of int
        How many batches were committed at each kill.
    """

    def __init__(self, folder: Path, servers: Servers, kind: str, seed: int) -> None:
        about = kind, str(seed), servers.url
        super().__init__(folder, *about, module="tests.chaos.remote_victim")
        self._servers, self.killed, self.batches = servers, Counter[str](), list[int]()
        self._runs = set[str]()

    def _has_begun(self) -> bool:
        """Tell whether this client has started its query: that of the one before may go on."""
        runs = {file.name for file in self.folder.glob(f"{STARTED}*")}
        new, self._runs = runs - self._runs, self._runs | runs
        return bool(new)

    def _end(self, process: subprocess.Popen[bytes], random: Random) -> None:
        what = random.choice(["client", "server"])
        self.killed[what] += 1
        self.batches.append(len(numbers(self.folder / "checkpoint/commits")))
        if what == "server":
            self._servers.lose()
            with suppress(subprocess.TimeoutExpired):
                process.wait(FAILS_WITHIN)
        super()._end(process, random)

    def about(self) -> dict[str, Any]:
        """Return what was killed, and when: without its client, a query goes on."""
        return {"killed": dict(self.killed), "batches": self.batches}


@dataclass(frozen=True)
class Remote(Killed):
    """A query of a seed that is killed up to `most` times."""

    servers: Servers

    def victim(self, folder: Path) -> RemoteVictim:
        """Return the clients of the query."""
        return RemoteVictim(folder, self.servers, self.kind, self.seed)


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the queries of one seed after the other.

    A client has no history, and no stream beside its query.
    """
    able = [kind for kind in alone(limits.kinds) if kind != REFUSED]

    def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
        with Servers(folder.parent / f"{seed}-server") as servers:
            kind = kind_of(seed, able, figures)
            return Remote(kind, seed, most, servers).trial(judge, folder)

    return seed_by_seed(trial, figures, limits)
