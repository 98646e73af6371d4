"""Real ``kill -9`` of Kafka's broker and of drivers, in micro-batches from Kafka to Kafka.

A driver is killed alone, with the broker, or up to a second after the broker: while that is down,
or when it is there again.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.chaos.realtime import LONGEST, Disturbed, RealTimeVictim, with_broker
from tests.chaos.timely import KINDS

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.spark.kafka import Broker

WAYS = DRIVER, BOTH, FIRST, BACK = "driver", "both", "broker first", "broker back"


class BrokersVictim(RealTimeVictim):
    """The runs of one query, which may lose its broker."""

    def __init__(self, folder: Path, *about: str, broker: Broker) -> None:
        super().__init__(folder, *about)
        self._broker, self.killed = broker, Counter[str]()

    def _end(self, process: subprocess.Popen[bytes], random: Random) -> None:
        way = random.choice(WAYS)
        self.killed[way] += 1
        if way != DRIVER:
            self._broker.kill()
        if way == BACK:
            self._broker.start()
        if way in {FIRST, BACK}:
            with suppress(subprocess.TimeoutExpired):
                process.wait(random.uniform(0, LONGEST))
        super()._end(process, random)
        if way in {BOTH, FIRST}:
            self._broker.start()

    def about(self) -> dict[str, Any]:
        """Return what was killed, and in which order."""
        return {"killed": dict(self.killed)}


class WithBroker(Disturbed):
    """A window of a seed, whose drivers and brokers are killed, up to a number of times."""

    _kinds = tuple(name for name, kind in KINDS.items() if kind.changes_mode)

    def __init__(self, broker: Broker, **about: Any) -> None:
        super().__init__(broker, "kafka", **about)

    def _victim(self, folder: Path, *about: str) -> RealTimeVictim:
        return BrokersVictim(folder, *about, broker=self._broker)

    def _mode(self) -> list[str]:
        return ["--micro"]


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the windows of one seed after the other."""
    return with_broker(WithBroker, figures, limits)
