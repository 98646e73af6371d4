"""What the tasks of a micro-batch do, by JFR, ours and stock Spark's in a JVM each."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench_windows import STOCK, WORKLOAD, Case, warm
from figures import Figure, java
from process import alone
from turns import Measured, session
from workload import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings

CASES = (
    Case(500_000, 100_000, Windows(10, 1)),
    Case(5_000_000, 1_000, Windows(10, 1)),
)

# What RocksDB did by its own clocks: JFR does not see native code.
READS, WRITES = "state: reads, in RocksDB", "state: writes, in RocksDB"

# What a task was doing: the innermost frame that one of these fits says it.
PARTS = {
    "state: reads, around RocksDB": r"RocksDB\.(get|iterator|prefixScan)|StateStore\.(get|iter)",
    "state: writes, around RocksDB": r"ChangelogWriter|RocksDB\.(put|remove|merge)"
    r"|StateStore\.(put|remove)",
    "state: commit": r"RocksDB\.commit|StateStore\.commit|RocksDBFileManager",
    "shuffle": r"spark\.shuffle|spark\.serializer|UnsafeRowSerializer|spark\.storage",
    "sorting": r"unsafe\.sort|UnsafeExternalRowSorter",
    "aggregation in maps": r"PartialFrame|FrameArena|RecordHashIndex|BytesToBytesMap"
    r"|UnsafeFixedWidthAggregationMap|HashAggregate|TungstenAggregation",
    "frames, merged and encoded": r"eventtide\.kernel|eventtide\.spark\.(state|exec)",
    "generated code: source, projections, aggregates": r"GeneratedClass|catalyst\.expressions",
}

PERIOD = 20  # ms between two samples of a thread in Java, by JFR

DAY = 24 * 3600


def run(*, quick: bool) -> Iterator[Figure]:
    """Profile the case of many keys, and that of few keys and many rows."""
    for case in CASES[:1] if quick else CASES:
        yield from _compare(case)


def _compare(case: Case) -> Iterator[Figure]:
    print(f"profile: {case}", flush=True)
    theirs, ours = (_profile(case, is_ours=side) for side in (False, True))
    least = PERIOD / case.batches  # one sample
    for part in [READS, WRITES, *PARTS, "other"]:
        settings: Settings = {
            **case.settings,
            "part": part,
            "batches": case.batches,
            "source": WORKLOAD,
        }
        mine, others = (max(least, side.get(part, 0.0)) for side in (ours, theirs))
        yield Figure("profile", settings, "ms of tasks", mine, STOCK, others, less_is_better=True)


def _profile(case: Case, *, is_ours: bool) -> dict[str, float]:
    """Return milliseconds of tasks in a batch, by what they were doing, of one side in a new JVM.

    It records from its start: when a recording begins later, all code is compiled anew.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.jfr"
        measured = alone(_record, case, file, is_ours=is_ours)
        found = _sampled(file, measured.span)
    found |= {READS: measured.get_millis, WRITES: measured.put_millis}
    return {part: millis / case.batches for part, millis in found.items()}


def _record(case: Case, file: Path, *, is_ours: bool) -> Measured:
    """Run one side while a file is recorded."""
    options = (
        f"-XX:StartFlightRecording=filename={file},settings=default,dumponexit=true",
        "-XX:FlightRecorderOptions=stackdepth=128",
        "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints",  # or inlined code is its caller's
    )
    with session(java=" ".join(options)) as spark:
        warm(spark)
        measured = Measured()
        case.take(spark, measured, is_ours=is_ours)
    return measured


def _sampled(file: Path, span: tuple[float, float]) -> dict[str, float]:
    """Return the milliseconds of tasks in Java, by what they were doing."""
    began = time.localtime(span[0])
    from_midnight = began.tm_hour * 3600 + began.tm_min * 60 + began.tm_sec + span[0] % 1
    found: Counter[str] = Counter()
    for at, frames in _samples(file):
        if (at - from_midnight) % DAY <= span[1] - span[0]:
            found[_part(frames)] += PERIOD
    return dict(found)


def _samples(file: Path) -> Iterator[tuple[float, list[str]]]:
    """Return when tasks were seen, in seconds of the day, and their frames, the innermost first."""
    jfr = Path(java()).resolve().with_name("jfr")
    command = [str(jfr), "print", "--events", "jdk.ExecutionSample", "--stack-depth", "128"]
    printed = subprocess.run(  # noqa: S603 - our own Java
        [*command, str(file)], check=True, capture_output=True, text=True
    )
    for event in printed.stdout.split("\n}\n"):
        at = re.search(r"startTime = (\d+):(\d+):([\d.]+)", event)
        if at is not None and 'sampledThread = "Executor task' in event:
            seconds = int(at[1]) * 3600 + int(at[2]) * 60 + float(at[3])
            yield seconds, [line for line in event.splitlines() if " line: " in line]


def _part(frames: list[str]) -> str:
    for frame in frames:
        for part, pattern in PARTS.items():
            if re.search(pattern, frame):
                return part
    return "other"
