"""The engines that bench_latency.py and bench_load.py measure, each in its own processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import engines
from figures import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEAP = "4g"


@dataclass(frozen=True)
class Topics:
    """One partition each, on one broker."""

    servers: str
    input: str
    output: str


@dataclass(frozen=True)
class Engine:
    """A query.

    Attributes
    ----------
    query : str
        Of latency_spark.py, or an engine of benchmarks/external-engines. Without one, rows are
        their own results.
    by_key : bool
        A window is closed by the next row of its key, and not by the next row of all.
    final : bool
        A window has one result, and not one for each row.
    seconds : int
        The length of a window.
    settings : tuple of str
        Of Spark, as `NAME=VALUE`, or options of the JVM of another engine.
    """

    name: str
    query: str
    by_key: bool = False
    final: bool = True
    seconds: int = 1
    settings: tuple[str, ...] = ()

    @property
    def climbs(self) -> bool:
        """Whether its highest rate is looked for."""
        return bool(self.query)

    def command(self, topics: Topics, folder: Path) -> list[str]:
        """Return what to start."""
        arguments = (self.query, str(self.seconds), topics.servers, topics.input, topics.output)
        if ":" in self.query:
            script = str(ROOT / "benchmarks" / "latency_spark.py")
            return [sys.executable, script, *arguments, str(folder), *self.settings]
        return [*engines.jvm(HEAP, *self.settings), "io.eventtide.engines.Live", *arguments]


KAFKA = Engine("Kafka alone", "", final=False)
OURS = Engine("Eventtide, real-time mode", "ours:real-time", by_key=True)
OTHERS = (
    Engine("Eventtide, real-time mode, watermark of the query", "ours-of-query:real-time"),
    Engine("Eventtide, micro-batches", "ours:micro-batch", by_key=True),
    Engine("groupBy(window), real-time mode, updates", "stock:real-time", final=False),
    Engine("groupBy(window), micro-batches", "stock:micro-batch"),
    Engine("Jet", "jet"),
    Engine("Flink", "flink"),
)


@contextmanager
def running(engine: Engine, topics: Topics, folder: Path) -> Iterator[Callable[[], int]]:
    """Start an engine, and end it with all of its processes.

    What is yielded returns the id of the group of these processes, and raises if it has ended.
    """
    if not engine.query:
        yield lambda: 0
        return
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - made above
            engine.command(topics, folder),
            stdout=output,
            stderr=output,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )

    def check() -> int:
        if process.poll() is not None:
            raise RuntimeError(f"{engine.name} has ended\n{log.read_text('utf-8')[-5000:]}")
        return process.pid

    try:
        yield check
    finally:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
