"""A call over files that fail from one on, as when its process is killed there, or that wait."""

from __future__ import annotations

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

from eventtide.errors import EventtideError
from eventtide.observe import repartition

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

Step: TypeAlias = tuple[str, int]


@dataclass(frozen=True)
class Halted:
    """What a call has done.

    Attributes
    ----------
    steps : list of tuple
        The steps that it came to, the first and the last of each kind: its name and number.
    done : bool
        Whether it returned nevertheless.
    """

    steps: list[Step]
    done: bool


def halted(spark: SparkSession, checkpoint: Path, folder: Path, step: Step | None) -> Halted:
    """Repartition a copy of a checkpoint in a folder; from a step on no call to a file works."""
    from eventtide._jvm import JVM_ERRORS  # noqa: PLC0415 - where there is a JVM

    shutil.copytree(checkpoint, folder)
    with watched(spark, folder) as (path, files):
        if step is not None:
            files.plan("halt", *step)
        try:
            repartition(path, 5, spark=spark)
            done = True
        except (EventtideError, *JVM_ERRORS):
            done = False
        counted = [line.partition(" ") for line in files.steps().splitlines()]
    steps = dict.fromkeys((name, n) for times, _, name in counted for n in (1, int(times)))
    return Halted(list(steps), done)


@contextmanager
def stalled(spark: SparkSession, folder: Path, step: Step) -> Iterator[Future[int]]:
    """Repartition a checkpoint, whose files wait at a step until the block ends."""
    with watched(spark, folder) as (path, files), ThreadPoolExecutor(max_workers=1) as pool:
        files.plan("stall", *step)
        call = pool.submit(repartition, path, 5, spark=spark)
        try:
            assert files.awaitReached(60_000)
            yield call
        finally:
            files.release()


@contextmanager
def watched(spark: SparkSession, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield another path of a folder, and what may happen to its files."""
    settings = spark._jsc.hadoopConfiguration()
    settings.set("fs.chaos.impl", "io.eventtide.chaos.ChaosFileSystem")
    settings.set("fs.chaos.impl.disable.cache", "true")
    name = f"repartition-{uuid4().hex[:8]}"
    jvm: Any = spark._jvm
    faults = jvm.io.eventtide.chaos.Faults
    files = faults.run(name)
    files.setUp(str(folder), "renames")
    yield f"chaos://{name}{folder}", files
    faults.end(name)
