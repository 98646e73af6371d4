"""What all processes of a group take of the processor and of memory, as Linux has it."""

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
    ticks = pages = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            fields = file.read_text("utf-8").rsplit(")", 1)[1].split()
            if int(fields[GROUP]) == group:
                ticks += int(fields[USER]) + int(fields[SYSTEM])
                pages += int(fields[RESIDENT])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE"))
