"""What engines answer to the same events, for each end of windows, and whether it is the same."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import workload

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

# By the end of windows, in seconds after START: how many results, and their checksum.
Answers = dict[int, tuple[int, int]]


def of_stream(
    results: DataFrame,
    last: int,
    slack: int = 0,
    checksums: Callable[[DataFrame], DataFrame] = workload.checksums,
) -> Answers:
    """Run a streaming query until it has answered windows that end `last` seconds after START.

    Where keys close their windows by themselves, the first key has to be `slack` seconds ahead.
    """
    found: Answers = {}
    enough = threading.Event()

    def add(batch: DataFrame, _: int) -> None:
        for row in checksums(batch).collect():
            end = (row["end"] - workload.START) // 1000
            number, checksum = found.get(end, (0, 0))
            found[end] = (number + row["results"], checksum + row["checksum"])
        if found and max(found) >= last + slack:
            enough.set()

    running = results.writeStream.foreachBatch(add).outputMode("append").start()
    try:
        while not enough.wait(0.1):
            failure = running.exception()
            if failure is not None:
                raise failure
    finally:
        running.stop()
    return {end: found[end] for end in found if end <= last}


def compare(ours: Answers, theirs: Answers, name: str) -> int:
    """Return how many results are the same: all of ours, and theirs up to our last end.

    Raises
    ------
    RuntimeError
        For the first end that has other results.
    """
    last = max(ours)
    for end in sorted(ours.keys() | {end for end in theirs if end <= last}):
        if ours.get(end) != theirs.get(end):
            message = f"windows that end {end} s after the start: {name} has (results, checksum) "
            raise RuntimeError(f"{message}{theirs.get(end)}, but et.window {ours.get(end)}")
    return sum(results for results, _ in ours.values())
