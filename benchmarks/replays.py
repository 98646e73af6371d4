"""Replays of event times by the kernel; no engine runs."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from figures import ROOT, java

if TYPE_CHECKING:
    from disorder_data import Stream

__all__ = ["replayed"]


def replayed(program: str, stream: Stream, *arguments: int) -> list[list[str]]:
    """Return the lines that a program of `benchmarks/jmh` prints for a stream, cut at tabs."""
    with tempfile.TemporaryDirectory() as folder:
        times, batches = Path(folder) / "times", Path(folder) / "batches"
        times.write_bytes(stream.times.astype(">i8").tobytes())
        batches.write_bytes(stream.batches.astype(">i8").tobytes())
        command = [java(), "-cp", (ROOT / ".build/benchmarks.classpath").read_text().strip()]
        command += [f"io.eventtide.benchmarks.{program}", str(times), str(batches)]
        command += map(str, arguments)
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - made above
    return [line.split("\t") for line in out.splitlines()]
