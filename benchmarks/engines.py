"""Has an engine of benchmarks/external-engines work in a JVM of its own, and reads what it says."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from figures import ROOT, java, memory_gib

if TYPE_CHECKING:
    from answers import Answers
    from workload import Windows

ENGINES = {"Jet": "jet", "Jet, own aggregate": "jet-own", "Flink SQL": "flink-sql"}

# What Hazelcast and Flink reach into of the JDK.
EXPORTS = "java.base/jdk.internal.ref"
OPENS = (
    "java.base/java.lang",
    "java.base/java.util",
    "java.base/sun.nio.ch",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
)

MOST_HEAP = 12  # GiB


@dataclass(frozen=True)
class Job:
    """Windows over a number of events, of which a second of event time has `rate`."""

    windows: Windows
    keys: int
    rate: int
    events: int


@dataclass(frozen=True)
class Effort:
    """How many runs count, and how many come before them."""

    runs: int
    warmups: int

    def __str__(self) -> str:
        """As a reader says it."""
        return f"{self.runs} after {self.warmups}"


@dataclass(frozen=True)
class Runs:
    """The runs that count, and what all runs answered.

    Attributes
    ----------
    steady : list of float
        Events a second while windows were full, by the event time of what sinks got.
    whole : list of float
        Events a second from the first event made to the last sink closed.
    """

    steady: list[float]
    whole: list[float]
    answers: Answers


def run(engine: str, job: Job, effort: Effort) -> Runs:
    """Run a job on an engine.

    Raises
    ------
    RuntimeError
        When the engine fails; it has said why.
    """
    arguments = {
        "engine": ENGINES[engine],
        "size": job.windows.size,
        "slide": job.windows.slide,
        "keys": job.keys,
        "rate": job.rate,
        "events": job.events,
        "warmups": effort.warmups,
        "runs": effort.runs,
    }
    command = [
        *jvm(heap(), "-XX:+UseParallelGC"),
        "io.eventtide.engines.Main",
        *(f"{n}={v}" for n, v in arguments.items()),
    ]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603 - made above
    if done.returncode != 0:
        raise RuntimeError(f"{engine} failed: {arguments}")
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    answers = {end: (results, checksum) for end, results, checksum in said["answers"]}
    return Runs(said["steady"], said["whole"], answers)


def heap() -> str:
    """Return the heap of an engine: EVENTTIDE_ENGINES_HEAP, or half of the machine's memory."""
    return os.environ.get("EVENTTIDE_ENGINES_HEAP", f"{min(memory_gib() // 2, MOST_HEAP)}g")


def jvm(heap: str, *options: str) -> list[str]:
    """Return the command of a JVM with all engines, up to the name of its main class."""
    classpath = (ROOT / ".build/externalEngines.classpath").read_text("utf-8").strip()
    opens = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENS]
    reach = ["--add-modules=java.se", f"--add-exports={EXPORTS}=ALL-UNNAMED", *opens]
    return [java(), *reach, f"-Xms{heap}", f"-Xmx{heap}", *options, "-cp", classpath]
