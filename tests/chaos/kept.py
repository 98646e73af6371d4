"""What earlier versions have left of each kind of query, in the middle of a batch.

``python -m tests.chaos.kept VERSION`` writes it with the Eventtide that it finds.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

from tests.chaos import policy_jar
from tests.chaos.kinds import OURS
from tests.chaos.trial import halted
from tests.chaos.worker import Worker
from tests.spark.kept_checkpoints import as_nobody

FOLDER = Path(__file__).parent / "kept"
PHASES = [f"from {version.name}" for version in sorted(FOLDER.glob("*"))]
# A late log elsewhere is named by its absolute path, so it does not go into another folder.
KINDS = [kind for kind in OURS if kind != "late_to"]
SEED = 7


def unpack(phase: str, kind: str, folder: Path, files: str = "") -> None:
    """Leave in a folder what a version has left of a kind: all, or files that begin so."""
    with tarfile.open(_file(phase.removeprefix("from "), kind)) as archive:
        chosen = [file for file in archive if Path(file.name).name.startswith(files)]
        archive.extractall(folder, chosen, filter="data")


def _file(version: str, kind: str) -> Path:
    return FOLDER / version / f"{kind.replace(' ', '-')}.tar.gz"


def main(version: str) -> None:
    """Run each kind until the halt that a restart follows, and keep its folder."""
    policy_jar.make()
    (FOLDER / version).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, Worker(Path(made, "log")) as worker:
        for kind in KINDS:
            folder = Path(made, kind.replace(" ", "-"))
            folder.mkdir()
            if not worker.run(folder, kind, SEED, halted("renames")).reached:
                raise RuntimeError(f"{kind} has not been halted")
            with tarfile.open(_file(version, kind), "w:gz") as archive:
                archive.add(folder, ".", filter=as_nobody)


if __name__ == "__main__":
    main(sys.argv[1])
