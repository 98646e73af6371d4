"""The Java of the tests, and what the JVMs below a process are waiting for."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def java() -> str:
    """Return the command of Java: that of JAVA_HOME, or the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"


def threads(process: int | str) -> Iterator[tuple[str, str]]:
    """Return each JVM that a process has started, with its threads as ``jstack`` shows them."""
    for below in processes_below(process):
        if shown := printed("jstack", "-l", below):
            yield below, shown


def processes_below(process: int | str) -> Iterator[str]:
    """Return the children of a process, and theirs."""
    for child in printed("pgrep", "-P", str(process)).split():
        yield child
        yield from processes_below(child)


def printed(*command: str) -> str:
    """Return what a command prints, and nothing where it fails."""
    try:
        return subprocess.run(  # noqa: S603 - of this module only
            command, capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
