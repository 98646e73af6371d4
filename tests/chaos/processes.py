"""The processes of a query, and ``kill -9`` of a run or of executors of its cluster."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.chaos.late_log import numbers
from tests.chaos.session import ROOT
from tests.chaos.worker import TrialError, stuck
from tests.groups import group

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from random import Random

SHOWN = 600  # characters of an error
PATIENCE = 240  # seconds: far more than needed, on any machine
FILES = 40  # a kill comes after fewer changes of files than this; a whole run makes some ninety


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

    Attributes
    ----------
    recoveries : list of float
        The seconds from the start of a run after a kill to the first batch that it has committed.
    """

    def __init__(self, folder: Path, *arguments: str, module: str = "tests.chaos.victim") -> None:
        self.folder, self._arguments, self._module = folder, [str(folder), *arguments], module
        self.recoveries = list[float]()
        self._recovering: Recovery | None = None
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
            until, before = time.monotonic() + PATIENCE, None
            while process.poll() is None:
                self._watch(until, process)
                if before is None:
                    before = self._changes() if self._has_begun() else None
                elif len(self._changes() ^ before) >= after:
                    time.sleep(pause)
                    if process.poll() is not None:
                        break
                    self._end(process, random)
                    process.wait(PATIENCE)
                    self._recovering = Recovery(self.folder)
                    return True
                time.sleep(0.01)
            if error := self._error(process.returncode):
                raise TrialError(error)
        return False

    def _has_begun(self) -> bool:
        """Tell whether changes of files are those of the run at hand."""
        return True

    def _end(self, process: subprocess.Popen[bytes], random: Random) -> None:  # noqa: ARG002 - of others
        """Kill a run, if it has not ended; another kind of victim may lose more than that."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    def about(self) -> dict[str, Any]:
        """Return what a trial says of the kills."""
        return {"recoveries": self.recoveries} if self.recoveries else {}

    def finish(self, *options: str) -> str | None:
        """Run to the end; return the error that ended it before."""
        with self._running(*options) as process:
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                self._watch(until, process)
                time.sleep(0.01)
            return self._error(process.returncode)

    def lose_executors(
        self,
        random: Random,
        most: int,
        then: Callable[[], None] = lambda: None,
        *,
        pause: float = 0,
        files: int = FILES,
    ) -> tuple[int, str | None]:
        """Run to the end on a cluster, and kill -9 up to a number of executors, and then do this.

        A kill comes after fewer changes of files than `files`, and some time within the pause, in
        seconds.
        """
        killed, before, at = 0, self._changes(), random.randrange(1, files)
        with self._running("--cluster") as process:
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                self._watch(until, process)
                due = killed < most and len(self._changes() ^ before) >= at
                if due and (found := executors(process.pid)):
                    time.sleep(pause and random.uniform(0, pause))
                    with suppress(ProcessLookupError):
                        os.kill(random.choice(found), signal.SIGKILL)
                        killed, until = killed + 1, time.monotonic() + PATIENCE
                        if killed == most:
                            then()
                    before, at = self._changes(), random.randrange(1, files)
                time.sleep(0.01)
            return killed, self._error(process.returncode)

    def _changes(self) -> set[str]:
        found = ((folder, files) for folder, _, files in os.walk(self.folder))
        return {os.path.join(folder, file) for folder, files in found for file in files}  # noqa: PTH118 - quick

    def _command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", self._module, *self._arguments, *options]

    @contextmanager
    def _running(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        workers = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "TZ": "UTC"}
        with group(self._command(*options), self.log, **workers) as process:
            if self._recovering:
                self._recovering.begin()
            yield process

    def _error(self, code: int) -> str | None:
        if code == 0:
            return None
        log = self.log.read_text("utf-8", "replace")
        at = log.rfind("ENDED ")  # where a victim says why; a long trace may follow
        return log[-SHOWN:] if at < 0 else log[at : at + SHOWN]

    def _watch(self, until: float, process: subprocess.Popen[bytes]) -> None:
        if self._recovering and (took := self._recovering.took()):
            self.recoveries.append(took)
            self._recovering = None
        if time.monotonic() > until:
            raise TrialError(f"hangs: {' '.join(self._arguments)}\n{stuck(process.pid)}")


class Recovery:
    """How long a query that was killed takes to commit a batch again."""

    def __init__(self, folder: Path) -> None:
        self._checkpoint, self._began = folder / "checkpoint/commits", 0.0
        self._before: set[int] = set()

    def begin(self) -> None:
        """Note that a new run begins."""
        self._began, self._before = time.monotonic(), set(numbers(self._checkpoint))

    def took(self) -> float | None:
        """Return the seconds since then, if a batch has been committed."""
        new = set(numbers(self._checkpoint)) - self._before
        return round(time.monotonic() - self._began, 2) if new else None


def executors(group: int) -> list[int]:
    """Return the executors among the processes of a group."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in line and os.getpgid(int(process.name)) == group:
                found.append(int(process.name))
    return found
