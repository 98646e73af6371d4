"""A checkpoint that an earlier run has left, as the contents of its files by their names."""

from __future__ import annotations

import shutil
import tarfile
from functools import cache
from typing import TYPE_CHECKING

from tests.spark.kept_checkpoints import KEPT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@cache
def files_of(name: str) -> Mapping[str, bytes]:
    """Return the files of a checkpoint that is kept."""
    with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
        files = {one.name.removeprefix("./"): archive.extractfile(one) for one in archive}
        return {path: file.read() for path, file in files.items() if file is not None}


def put(files: Mapping[str, bytes], checkpoint: Path) -> None:
    """Write a checkpoint in place of what is there."""
    shutil.rmtree(checkpoint, ignore_errors=True)
    for name, content in files.items():
        file = checkpoint / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
