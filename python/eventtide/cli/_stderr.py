"""Redirects the standard error of child processes to a file: Spark's JVM writes a lot there."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["stderr_to"]


@contextmanager
def stderr_to(path: Path) -> Iterator[None]:
    """Redirect the standard error of child processes that start in this block, until they end."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
