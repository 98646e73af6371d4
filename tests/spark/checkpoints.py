"""Checkpoints as a kill leaves them.

A batch has begun, so that its offsets are there, and of its state, its late rows and its entries
are all, some or none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

STATE, LATE, INDEX, LEDGER = "state", "late", "eventtide/late", "eventtide/ledger"
LOST = [(), (STATE, LATE, INDEX, LEDGER), (INDEX, LEDGER), (STATE, LATE), (LEDGER,)]


def files(checkpoint: Path, folder: str) -> dict[Path, int]:
    """Return a folder's files by the batch that wrote them; Hadoop's checksums are beside them."""
    found = {file: re.match(r"\.?(-?\d+)", file.name) for file in (checkpoint / folder).rglob("*")}
    first = 1 if folder == STATE else 0  # a batch makes the version after the one it loads
    return {
        file: int(name[1]) - first
        for file, name in found.items()
        if name and file.is_file() and file.parent.name != "SSTs"  # which versions share
    }


def set_back(checkpoint: Path, batch: int, lost: tuple[str, ...]) -> None:
    """Leave a checkpoint as if its driver had been killed in this batch."""
    for folder in "offsets", "commits", STATE, LATE, INDEX, LEDGER:
        first = batch if folder == "commits" or folder in lost else batch + 1
        for file, wrote in files(checkpoint, folder).items():
            if wrote >= first:
                file.unlink()
