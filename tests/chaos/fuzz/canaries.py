"""Files beside what a run was given, which nothing may change and little may read."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, AnyStr

from tests.chaos.fuzz.values import LATE_FILE, NAMED

if TYPE_CHECKING:
    from pathlib import Path

GIVEN = "given"
ROOTS = "named", "hidden"
FILES = (
    "secret.txt",
    "late/secret.parquet",
    f"late/{LATE_FILE}",
    "checkpoint/metadata",
    "checkpoint/commits/0",
    "checkpoint/offsets/0",
    "checkpoint/eventtide/ledger/0",
    "checkpoint/eventtide/late/0",
    "checkpoint/late/secret.parquet",
)


class Canaries:
    """Two folders of files beside the folder that is given; values may name one of them.

    The file system notes the first read of a file in its time of access, once that is set back. So
    no other process has to watch, and a check takes no more than to look at the times.

    Parameters
    ----------
    folder : Path
        Where they are made, with nothing beside them but the folder that is given.

    Attributes
    ----------
    given : Path
        That folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.given = folder / GIVEN
        self.given.mkdir(parents=True, exist_ok=True)
        self.restore()
        (folder / ROOTS[0] / FILES[0]).read_text("utf-8")
        if not self.read():
            raise RuntimeError(f"the file system of {folder} does not note reads (noatime)")
        self.restore()

    def put(self, text: AnyStr) -> AnyStr:
        """Return a text, or bytes, in which the folder that may be named stands for its mark."""
        named = str(self._folder / ROOTS[0])
        if isinstance(text, bytes):
            return text.replace(NAMED.encode(), named.encode())
        return text.replace(NAMED, named)

    def restore(self) -> None:
        """Make them anew."""
        for root in ROOTS:
            shutil.rmtree(self._folder / root, ignore_errors=True)
            for name in FILES:
                file = self._folder / root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"the secret of {root}/{name}", "utf-8")
        roots = [self._folder / root for root in ROOTS]
        self._paths = [*roots, *(path for root in roots for path in root.rglob("*"))]
        for path in self._paths:
            os.utime(path, ns=(0, path.stat().st_mtime_ns))
        self._before = [self._state(path) for path in self._paths]

    @staticmethod
    def _state(path: Path) -> tuple[int, ...]:
        """Return what a change changes; of a folder, also one of the names in it."""
        if not path.exists():
            return ()
        stat = path.lstat()
        return stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns

    def changed(self) -> list[str]:
        """Return what is gone, is new, or was written to."""
        now = [self._state(path) for path in self._paths]
        pairs = zip(self._paths, self._before, now, strict=True)
        gone = [self._name(path) for path, before, after in pairs if before != after]
        new = {path.name for path in self._folder.iterdir()} - {GIVEN, *ROOTS}
        return gone + sorted(new)

    def read(self) -> list[str]:
        """Return what has been read since they were made, folders too."""
        there = (path for path in self._paths if path.exists())
        return [self._name(path) for path in there if path.lstat().st_atime_ns]

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._folder))
