"""Real ``kill -9`` in real-time mode, of drivers and of executors, from Kafka to Kafka.

Rows arrive all the time, a few each batch, also while no driver runs. A trial goes through several
runs: most are killed, between any two files or within a batch; some are stopped; and some are in
micro-batches, if the window has the same results there. The last run comes to the end of the rows.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from tests.chaos import streams
from tests.chaos.kills import MOST, seed_by_seed
from tests.chaos.processes import PATIENCE, Victim
from tests.chaos.realtime_checker import Left, check, covered, given
from tests.chaos.realtime_victim import LOST, committed
from tests.chaos.timely import KINDS
from tests.spark.kafka import Broker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.worker import Worker

PAUSE = 0.06  # seconds from row to row
BATCHES = 600  # of the stream: more than are sent in any trial
LONGEST = 1.2  # seconds from the last file to a kill: more than a batch takes
EXECUTORS = "realtime-executors"
RESTARTS = 5  # of a query, at most, after an executor is lost: slots are free again a while later


class Feed:
    """A producer of rows that goes on until it is told to end; the last rows close windows.

    Attributes
    ----------
    sent : list of dict
        The rows, in their order.
    """

    def __init__(self, broker: Broker, topic: str, seed: int, end: Path) -> None:
        self._end, self._over = end, Event()
        self.sent: list[dict[str, Any]] = []
        *self._first, one, other = streams.batches(seed, of=BATCHES)
        self._last = [*one, *other]
        sending = topic, self._rows(), PAUSE
        self._thread = Thread(target=broker.send_steadily, args=sending, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Send the last rows, and count in a file what each partition has."""
        self._over.set()
        self._thread.join()
        counts = Counter(str(row["site"]) for row in self.sent)
        part = self._end.with_suffix(".part")
        part.write_text(json.dumps(counts), encoding="utf-8")
        part.replace(self._end)

    def _rows(self) -> Iterator[tuple[int, str]]:
        for row in (row for batch in self._first for row in batch):
            if self._over.is_set():
                break
            yield self._row(row)
        for row in self._last:
            yield self._row(row)

    def _row(self, row: dict[str, Any]) -> tuple[int, str]:
        self.sent.append(row)
        return row["site"], json.dumps(row)


class RealTimeVictim(Victim):
    """The runs of one query in real-time mode."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        super().__init__(folder, *arguments, module="tests.chaos.realtime_victim")

    def _changes(self) -> set[str]:
        """Return what batches have written: a start in vain, without slots, is no progress."""
        folders = (self.folder / "checkpoint" / name for name in ("state", "commits", "offsets"))
        return {str(file) for folder in folders for file in folder.rglob("*")}

    def about(self) -> dict[str, Any]:
        """Return nothing: some runs are stopped, and none is timed."""
        return {}

    def restarts(self) -> int:
        """Return how often the query has ended with a lost executor."""
        file = self.folder / LOST
        return len(file.read_text("utf-8").splitlines()) if file.exists() else 0

    def stop(self, random: Random, *options: str) -> str | None:
        """Stop a run as a supervisor does; return what ended it before."""
        with self._running(*options) as process:
            before, after = self._changes(), random.randrange(5, 30)
            until, asked = time.monotonic() + PATIENCE, False
            while process.poll() is None:
                self._watch(until, process)
                if not asked and len(self._changes() ^ before) >= after:
                    process.send_signal(signal.SIGTERM)
                    asked = True
                time.sleep(0.01)
            return self._error(process.returncode)


class Disturbed:
    """A window of a seed, whose drivers or executors are killed, up to a number of times."""

    _kinds: tuple[str, ...] = tuple(KINDS)

    def __init__(self, broker: Broker, campaign: str, seed: int, most: int) -> None:
        self._broker, self._campaign, self._seed = broker, campaign, seed
        self._kind = self._kinds[seed % len(self._kinds)]
        self._random = Random(seed)  # noqa: S311 - test data
        self._most = min(self._random.randrange(3, MOST + 1), most)
        self._runs = Counter[str]()
        self._sink = ""
        self._early = list[str]()

    def trial(self, judge: Worker, folder: Path) -> dict[str, Any]:
        """Kill it and judge what is left."""
        at = time.monotonic()
        source, self._sink = (f"{name}-{folder.name}" for name in ("in", "out"))
        self._broker.create(source, 2)
        self._broker.create(self._sink, 1)
        victim = self._victim(folder, self._kind, self._broker.address, source, self._sink)
        feed = Feed(self._broker, source, self._seed, folder / "end")
        about_rows: dict[str, Any] = {}
        try:
            error = self._lived(victim, feed)
            values = self._broker.values(self._sink)
            left = Left(folder / "checkpoint", values, judge.doctor(folder), error)
            rules = KINDS[self._kind].rules().play(feed.sent)
            violations = [*self._early, *check(left, rules)]
            copies = len(values) - len(rules.results)
            about_rows = {"rows": len(feed.sent), "late": len(rules.late), "copies": copies}
        except Exception as broken:  # noqa: BLE001 - of a worker, the broker or a victim
            violations = [f"{type(broken).__name__}: {broken}"]
        finally:
            feed.finish()
        shutil.rmtree(folder, ignore_errors=True)
        about_runs = {"kills": self._runs.pop("kills", 0), "runs": dict(self._runs)}
        return {
            "kind": self._kind,
            "seed": self._seed,
            **about_runs,
            **victim.about(),
            **about_rows,
            "violations": violations,
            "seconds": round(time.monotonic() - at, 1),
        }

    def _victim(self, folder: Path, *about: str) -> RealTimeVictim:
        return RealTimeVictim(folder, *about)

    def _lived(self, victim: RealTimeVictim, feed: Feed) -> str | None:
        if self._campaign == EXECUTORS:
            end = partial(self._end, victim, feed)
            kills, error = victim.lose_executors(self._random, self._most, end, pause=LONGEST)
            restarts = victim.restarts()
            self._runs.update(kills=kills, restarts=restarts)
            if error is None and restarts > RESTARTS * kills:
                return f"the query was started again {restarts} times"
            return error
        while self._runs["kills"] < self._most:
            if error := self._run(victim):
                return error
        self._end(victim, feed)
        return victim.finish(*self._mode())

    def _end(self, victim: RealTimeVictim, feed: Feed) -> None:
        """Judge what committed batches have given, and let the rows end."""
        reached = committed(victim.folder)
        values, kind = self._broker.values(self._sink), KINDS[self._kind]
        self._runs["early results"] = len(values)
        if kind.closes_at_once:
            self._early = given(values, kind.rules().play(covered(feed.sent, reached)))
        feed.finish()

    def _mode(self) -> list[str]:
        """Return the option of a run."""
        micro = KINDS[self._kind].changes_mode and self._random.random() < 0.25
        return ["--micro"] if micro else []

    def _run(self, victim: RealTimeVictim) -> str | None:
        options = self._mode()
        self._runs["micro" if options else "real time"] += 1
        if self._random.random() < 0.2:
            self._runs["stops"] += 1
            return victim.stop(self._random, *options)
        pause = self._random.choice([0, self._random.uniform(0, LONGEST)])
        if not victim.kill(self._random, *options, pause=pause):
            return "it ended by itself"
        self._runs["kills"] += 1
        return None


def command(campaign: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the windows of one seed after the other."""
    return with_broker(partial(Disturbed, campaign=campaign), figures, limits)


def with_broker(
    disturbed: Callable[..., Disturbed], figures: Figures, limits: Limits
) -> list[Trial]:
    """Make the trials beside a broker; `disturbed` takes it, a seed and the number of kills."""
    with _broker() as broker:

        def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
            return disturbed(broker, seed=seed, most=most).trial(judge, folder)

        return seed_by_seed(trial, figures, limits)


@contextmanager
def _broker() -> Iterator[Broker]:
    """Start a broker, and end it with the block."""
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="eventtide-kafka-", ignore_cleanup_errors=True)
        broker = Broker(Path(stack.enter_context(folder)))
        stack.callback(broker.kill)
        yield broker
