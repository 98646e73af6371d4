"""A window query that is killed where a test says, beside one that nobody disturbs.

`tests/chaos` disturbs queries at random, and in more ways.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tests.groups import group
from tests.spark import chaos_query, tables
from tests.spark.batch_results import Rows, told
from tests.spark.window_runs import late_rows

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from tests.spark.tables import Table

ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds: far more than needed, on any machine
POINTS = {  # what is there when a batch has come so far, in this order
    "state": "checkpoint/state/*/[0-9]",  # files by version, and in the second format by an id too
    "results": "results/_spark_metadata",
    "ledger": "checkpoint/eventtide/ledger",
    "commit": "checkpoint/commits",
}
Outcome: TypeAlias = tuple[Rows, Rows]


@dataclass(frozen=True)
class Chaos:
    """The query of `chaos_query`, and the processes that run it.

    Attributes
    ----------
    folder : Path
        Where all is that it writes.
    seed : int
        Of its stream.
    table : str
        The format of what it writes.
    """

    folder: Path
    seed: int
    table: Table = "parquet"

    def finish(self, *options: str) -> None:
        """Run to the end."""
        with self._running(*options) as process:
            self._ended(process.wait(PATIENCE))

    def kill(self, when: Callable[[], bool], every: float = 0.001) -> bool:
        """Kill -9 all of a run once something is so; False if it came to its end before."""
        with self._running() as process:
            if self._stop(process, when, every):
                return True  # it dies at the end of this block
            self._ended(process.returncode)
        return False

    def pause(self, when: Callable[[], bool], meanwhile: Callable[[], None]) -> int:
        """Stop a run once something is so, let it go on after something else, and await its end.

        Returns its exit code.
        """
        with self._running() as process:
            assert self._stop(process, when, every=0.001)
            meanwhile()
            os.killpg(process.pid, signal.SIGCONT)
            return process.wait(PATIENCE)

    def _stop(
        self, process: subprocess.Popen[bytes], when: Callable[[], bool], every: float
    ) -> bool:
        """Stop all of a run once something is so, and is so still; False if it ends before."""
        until = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < until, "the query does not get on"
            if when():
                os.killpg(process.pid, signal.SIGSTOP)
                if when():
                    return True
                os.killpg(process.pid, signal.SIGCONT)
            time.sleep(every)
        return False

    def kill_between(self, done: str, missing: str) -> bool:
        """Kill it when a new batch is at one of `POINTS`, and not yet at a later one."""
        return self.kill(self.between(done, missing))

    def between(self, done: str, missing: str) -> Callable[[], bool]:
        """Return whether a new batch is at one of `POINTS`, and not yet at a later one."""
        first = self._last("commit") + 1
        return lambda: self._last(done) > max(self._last(missing), first)

    def starts(self) -> int:
        """Return how many runs have taken the checkpoint."""
        runs = (self.folder / "checkpoint/eventtide/runs").glob("[0-9]*")
        return max(map(_number, runs), default=-1) + 1

    def outcome(self, spark: SparkSession) -> Outcome:
        """Return the results and the late log, if there is one, each in order."""
        results = told(tables.read(spark, self.table, self.folder))
        logs = not chaos_query.is_sparks_own(self.seed)
        return results, late_rows(spark, self.folder / "checkpoint") if logs else []

    def _running(self, *options: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """Start Python, its JVM and their children as a group, of which nothing is left after."""
        self.folder.mkdir(exist_ok=True)
        module = [sys.executable, "-m", chaos_query.__name__, str(self.folder), str(self.seed)]
        command = [*module, "--table", self.table, *options]
        workers = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        return group(command, self._log, **workers)

    def said(self, words: str) -> int:
        """Return in how many lines of all runs so far these words are."""
        return sum(words in line for line in self._log.read_text("utf-8", "replace").splitlines())

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _ended(self, code: int) -> None:
        assert code == 0, self._log.read_text("utf-8")[-5000:]

    def _last(self, point: str) -> int:
        """Return the last batch that has come to one of `POINTS`, in all its partitions."""
        folders = self.folder.glob(POINTS[point])
        last = min(
            (max(map(_number, folder.iterdir()), default=-1) for folder in folders), default=-1
        )
        return last - 1 if point == "state" else last  # a batch makes the version after its own


def _number(file: Path) -> int:
    """Return the number that a file's name begins with, or -1."""
    name = re.match(r"\d+", file.name)
    return int(name[0]) if name else -1


def undisturbed(spark: SparkSession, folder: Path, seed: int) -> Outcome:
    """Return what comes out of a stream when nothing happens."""
    chaos_query.run(spark, folder, seed)
    return Chaos(folder, seed).outcome(spark)
