"""Disturbs window queries, and compares what comes out with runs that nobody disturbs.

``python -m tests.spark.chaos [KILLS] [--seed SEED] [--executors] [--out FILE]``, which `dev/chaos`
calls, kills at random: the whole of a query, which is started again, or executors of a cluster,
while their query goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import TYPE_CHECKING, TypeAlias

from tests.spark import chaos_query, tables
from tests.spark.window_runs import Rows, late_rows, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from tests.spark.tables import Table

ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds: far more than needed, on any machine
STEPS = 90  # files of about three batches
POINTS = {  # what is there when a batch has come so far, in this order
    "state": "checkpoint/state/*/[0-9]",
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
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                assert time.monotonic() < until, "the query does not get on"
                if when():
                    os.killpg(process.pid, signal.SIGSTOP)
                    if when():  # and is so still when it dies, at the end of this block
                        return True
                    os.killpg(process.pid, signal.SIGCONT)
                time.sleep(every)
            self._ended(process.returncode)
        return False

    def kill_at_random(self, random: Random) -> bool:
        """Kill it after so many more files: what lies between two of them leaves no trace."""
        until = self._files() + random.randrange(1, STEPS)
        killed = self.kill(lambda: self._files() >= until, every=0.02)
        if killed:
            self._remove_if_refused()
        return killed

    def lose_executors(self, random: Random, most: int) -> int:
        """Run to the end on a cluster, and kill -9 up to so many executors at random.

        Returns how many Spark has lost.
        """
        killed, at = 0, random.randrange(1, STEPS)
        with self._running("--cluster") as process:
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                assert time.monotonic() < until, "the query does not get on"
                executors = _executors(process.pid)
                if killed < most and executors and self._files() >= at:
                    with suppress(ProcessLookupError):
                        os.kill(random.choice(executors), signal.SIGKILL)
                        killed += 1
                    at = self._files() + random.randrange(1, STEPS)
                time.sleep(0.02)
            self._ended(process.returncode)
        return self.said("Lost executor")

    def _remove_if_refused(self) -> None:
        """Do what Spark asks for when it is killed while it writes the first offsets of all."""
        offsets = list(self.folder.glob("checkpoint/offsets/*"))
        if offsets and all(_number(file) < 0 for file in offsets):
            rmtree(self.folder / "checkpoint")

    def kill_between(self, done: str, missing: str) -> bool:
        """Kill it when a new batch is at one of `POINTS`, and not yet at a later one."""
        first = self._last("commit") + 1
        return self.kill(lambda: self._last(done) > max(self._last(missing), first))

    def outcome(self, spark: SparkSession) -> Outcome:
        """Return the results and the late log, if there is one, each in order."""
        results = told(tables.read(spark, self.table, self.folder))
        logs = not chaos_query.is_sparks_own(self.seed)
        return results, late_rows(spark, self.folder / "checkpoint") if logs else []

    @contextmanager
    def _running(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start Python, its JVM and their children as a group, of which nothing is left after."""
        self.folder.mkdir(exist_ok=True)
        module = [sys.executable, "-m", chaos_query.__name__, str(self.folder), str(self.seed)]
        options = "--table", self.table, *options
        workers = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        with self._log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - our own module
                [*module, *options],
                env=os.environ | workers,
                start_new_session=True,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)

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

    def _files(self) -> int:
        return sum(len(files) for _, _, files in os.walk(self.folder))


def _number(file: Path) -> int:
    """Return the number that a file's name begins with, or -1."""
    name = file.name.partition(".")[0]
    return int(name) if name.isdigit() else -1


def _executors(group: int) -> list[int]:
    """Return the executors among the processes of a group."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in line and os.getpgid(int(process.name)) == group:
                found.append(int(process.name))
    return found


def undisturbed(spark: SparkSession, folder: Path, seed: int) -> Outcome:
    """Return what comes out of a stream when nothing happens."""
    chaos_query.run(spark, folder, seed)
    return Chaos(folder, seed).outcome(spark)


def campaign(spark: SparkSession, seed: int, kills: int, *, executors: bool) -> tuple[int, bool]:
    """Kill the query of a stream, or its executors, up to so many times, until it is at its end.

    Returns how often something was killed, and whether all came out as it should.
    """
    random = Random(seed)  # noqa: S311 - test data
    with tempfile.TemporaryDirectory(prefix="eventtide-chaos-") as name:
        wanted = undisturbed(spark, Path(name) / "quiet", seed)
        chaos = Chaos(Path(name) / "killed", seed)
        killed = 0
        if executors:
            killed = chaos.lose_executors(random, kills)
        else:
            while killed < kills and chaos.kill_at_random(random):
                killed += 1
            chaos.finish()
        return killed, chaos.outcome(spark) == wanted


def main() -> int:
    """Kill as often as the command line says, the queries of one stream after the other."""
    parser = argparse.ArgumentParser("chaos", description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first stream")
    parser.add_argument("--executors", action="store_true", help="kill those of a local cluster")
    parser.add_argument("--out", type=Path, help="keep the figures in this file of JSON")
    options = parser.parse_args()
    spark = chaos_query.session("local[2]")
    total, wrong, seed, began = 0, 0, options.seed, time.monotonic()
    while total < options.kills:
        left = options.kills - total
        killed, same = campaign(spark, seed, left, executors=options.executors)
        say(f"stream {seed}: {killed} kills, {'as without' if same else 'DIFFERENT'}")
        total, wrong, seed = total + killed, wrong + (not same), seed + 1
    say(f"{total} kills, {wrong} streams with another outcome")
    if options.out is not None:
        what = "executors" if options.executors else "drivers"
        figures = {
            "kills": total,
            "streams": seed - options.seed,
            "first_seed": options.seed,
            "streams_with_another_outcome": wrong,
            "minutes": round((time.monotonic() - began) / 60, 1),
            "cores": os.cpu_count(),
            "spark": spark.version,
        }
        keep_figures(options.out, {what: figures})
    return 1 if wrong else 0


def keep_figures(file: Path, figures: dict[str, dict[str, object]]) -> None:
    """Write figures into a file, beside those of another kind that are there."""
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.write_text(json.dumps(kept | figures, indent=2) + "\n", "utf-8")


def say(text: str) -> None:
    """Print a line at once: a run takes long."""
    print(text, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(main())
