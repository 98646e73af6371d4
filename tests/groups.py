"""Programs with all that they start, as process groups of which nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

GONE_WITHIN = 60  # seconds after a `kill -9`


@contextmanager
def group(command: Sequence[str], log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program as the leader of a group, and kill -9 the group at the end of the block.

    What it says is appended to a log; its environment is that of this process, with variables.
    """
    with log.open("ab") as out:
        process = subprocess.Popen(  # noqa: S603 - our own programs
            command, env=os.environ | variables, start_new_session=True, stdout=out, stderr=out
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(GONE_WITHIN)
