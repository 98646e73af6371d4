"""What a process, or a group of them, takes of the processor and of memory, as Linux has it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# The places in /proc/PID/stat behind the name of the program.
GROUP, USER, SYSTEM, RESIDENT = 2, 11, 12, 21


class Usage(NamedTuple):
    """CPU time so far, and resident memory now."""

    cpu_seconds: float
    resident_bytes: int


def usage(group: int) -> Usage:
    """Add up what the processes of a group take."""
    found = list[Usage]()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            fields = _fields(file)
            if int(fields[GROUP]) == group:
                found.append(_usage(fields))
    return Usage(
        sum(each.cpu_seconds for each in found), sum(each.resident_bytes for each in found)
    )


def process_usage(pid: int) -> Usage:
    """Return what a process takes, which must be there."""
    return _usage(_fields(Path(f"/proc/{pid}/stat")))


def _fields(stat: Path) -> list[str]:
    return stat.read_text("utf-8").rsplit(")", 1)[1].split()


def _usage(fields: list[str]) -> Usage:
    ticks, pages = int(fields[USER]) + int(fields[SYSTEM]), int(fields[RESIDENT])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE"))
