"""Where the processor's time goes in a micro-batch, by JFR, ours and stock Spark's in a JVM each."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from bench_windows import CASES, STOCK, WORKLOAD, Case, warm
from figures import Figure, java
from turns import Measured, session, take_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings

# What a task was doing: the innermost frame that one of these fits says it.
PARTS = {
    "state: reads, around RocksDB": r"RocksDB\.(get|iterator|prefixScan)|StateStore\.(get|iterator)",
    "state: writes, around RocksDB": r"ChangelogWriter|RocksDB\.(put|remove|merge)"
    r"|StateStore\.(put|remove)",
    "state: commit": r"RocksDB\.commit|StateStore\.commit|RocksDBFileManager",
    "shuffle": r"spark\.shuffle|spark\.serializer|UnsafeRowSerializer|spark\.storage",
    "sorting": r"unsafe\.sort|UnsafeExternalRowSorter",
    "partial aggregation": r"PartialFrame|FrameRecords|RecordSlots|BytesToBytesMap"
    r"|UnsafeFixedWidthAggregationMap|HashAggregate|TungstenAggregation",
    "merging of frames": r"eventtide\.kernel|eventtide\.spark\.(state|exec)",
    "generated code: source, projections, aggregates": r"GeneratedClass|catalyst\.expressions",
}

READS, WRITES = "state: reads, in RocksDB", "state: writes, in RocksDB"

PERIOD = 20  # ms between two samples of a thread in Java, by JFR


def run(*, quick: bool) -> Iterator[Figure]:
    """Profile the case of 100 000 keys, and that of few keys and many rows."""
    many = next(case for case in CASES if case.keys == 100_000 and case.windows.slide == 1)
    few = next(case for case in CASES if case.rows == 5_000_000 and case.windows.size == 10)
    for case in [many] if quick else [many, few]:
        yield from _compare(replace(case, batches=8))


def _compare(case: Case) -> Iterator[Figure]:
    print(f"profile: {case}", flush=True)
    theirs, ours = (_alone(case, is_ours=side) for side in (False, True))
    for part in [READS, WRITES, *PARTS, "other"]:
        settings: Settings = {
            "windows": str(case.windows),
            "keys": case.keys,
            "rows_per_batch": case.rows,
            "part": part,
            "batches": case.batches,
            "source": WORKLOAD,
        }
        least = PERIOD / case.batches  # one sample
        mine, others = (max(least, side.get(part, 0.0)) for side in (ours, theirs))
        yield Figure("profile", settings, "ms of tasks", mine, STOCK, others, less_is_better=True)


def _alone(case: Case, *, is_ours: bool) -> Profile:
    """Run one side in a new JVM, which records from its start: later all code is compiled anew."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.jfr"
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
            measured = processes.submit(_record, case, file, is_ours=is_ours).result()
        found = _sampled(file, measured.span)
    # JFR does not see who is in native code, but RocksDB has clocks of its own.
    found |= {READS: measured.get_millis, WRITES: measured.put_millis}
    return {part: millis / case.batches for part, millis in found.items()}


def _record(case: Case, file: Path, *, is_ours: bool) -> Measured:
    """Run one side while a file is recorded."""
    recording = f"-XX:StartFlightRecording=filename={file},settings=default,dumponexit=true"
    with session(java=f"{recording} -XX:FlightRecorderOptions=stackdepth=128") as spark:
        warm(spark)
        side = case.windows.ours if is_ours else case.windows.stock
        skipped = case.ours_skipped if is_ours else case.theirs_skipped
        measured = Measured()
        take_turn(case.query(spark, side), case.batches, measured, skipped)
    return measured


def _sampled(file: Path, span: tuple[datetime, datetime]) -> dict[str, float]:
    """Return the milliseconds of tasks in Java, by what they were doing."""
    found: Counter[str] = Counter()
    for at, frames in _samples(file):
        if _since(span[0], at) <= _since(*span):
            found[_part(frames)] += PERIOD
    return dict(found)


def _since(begin: datetime, end: datetime) -> timedelta:
    """Return how long after `begin` a time of the day is."""
    return (end - begin) % timedelta(days=1)


def _samples(file: Path) -> Iterator[tuple[datetime, list[str]]]:
    """Return when tasks were seen, and their frames, the innermost first."""
    command = [str(Path(java()).with_name("jfr")), "print", "--events", "jdk.ExecutionSample"]
    with subprocess.Popen(  # noqa: S603 - our own Java
        [*command, "--stack-depth", "128", str(file)], stdout=subprocess.PIPE, text=True
    ) as printed:
        assert printed.stdout is not None
        at, is_task, frames = datetime.min, False, list[str]()
        for line in map(str.strip, printed.stdout):
            if line.startswith("startTime = "):
                at, is_task, frames = _time(line), False, []
            elif line.startswith("sampledThread = "):
                is_task = "Executor task" in line
            elif " line: " in line:
                frames.append(line)
            elif line == "}" and is_task:
                yield at, frames


def _time(line: str) -> datetime:
    found = re.search(r"\d\d:\d\d:\d\d\.\d+", line)
    assert found is not None, line
    return datetime.strptime(found[0], "%H:%M:%S.%f")


def _part(frames: list[str]) -> str:
    for frame in frames:
        for part, pattern in PARTS.items():
            if re.search(pattern, frame):
                return part
    return "other"
