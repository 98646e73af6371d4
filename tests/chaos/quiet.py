"""Runs without a fault, that all trials are compared with, and the steps that they make."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from tests.chaos import kept, kinds, streams
from tests.chaos.checker import Outcome, Query, check, results
from tests.chaos.figures import ROOT, commit
from tests.chaos.late_log import LateLog
from tests.chaos.trial import Fault, halted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.chaos.worker import Worker

    Steps: TypeAlias = dict[str, int]
SEED = 7


class Quiet:
    """The quiet runs of one seed. A file keeps what steps they make until the engine changes.

    Parameters
    ----------
    folder : Path
        Where all is that they write.
    seed : int
        Of their streams.
    """

    def __init__(self, folder: Path, seed: int = SEED) -> None:
        self._folder, self._seed, self._lock = folder, seed, Lock()
        self._runs: dict[str, tuple[Path, Steps]] = {}
        self._kept: dict[str, Steps] = {}

    def __call__(self, worker: Worker, kind: str, phase: str = "first") -> Path:
        """Return the folder of a quiet run of a kind: the storage makes no difference to it.

        After an upgrade, it has the streams that the version has left.
        """
        return self._run(worker, kind, "renames", phase)[0]

    def _run(
        self, worker: Worker, kind: str, storage: str, phase: str = "first"
    ) -> tuple[Path, Steps]:
        of = f"-{phase}" if phase in kept.PHASES else ""
        name = f"{storage}-{kind}{of}".replace(" ", "-")
        with self._lock:
            if name not in self._runs:
                folder = self._folder / f"quiet-{name}"
                folder.mkdir(parents=True)
                if of:
                    kept.unpack(phase, kind, folder, "source-")
                ended = worker.run(folder, kind, self._seed, Fault(storage=storage))
                if faults := judged_alone(worker, kind, folder, ended.error):
                    raise AssertionError(f"a quiet run of {kind} on {storage}: {faults}")
                self._runs[name] = folder, ended.steps
            return self._runs[name]

    def steps(self, worker: Worker, kind: str, storage: str, phase: str) -> Steps:
        """Return how often each step is made in a first run, or in a restart that has work left.

        A storage where the last writer wins is asked for the same steps as one that renames.
        """
        like = "renames" if storage == "last_wins" else storage
        name = f"{phase} of {kind} on {like}"
        if name not in self._kept:
            self._kept = _in_file() | self._kept
        if name not in self._kept:
            if phase == "first":
                self._kept[name] = self._run(worker, kind, like)[1]
            else:
                self._kept[name] = self._later(worker, kind, like, phase)
            _to_file(_in_file() | self._kept)
        return self._kept[name]

    def _later(self, worker: Worker, kind: str, storage: str, phase: str) -> Steps:
        folder = self._folder / f"{phase}-{storage}-{kind}".replace(" ", "-")
        folder.mkdir(parents=True)
        fault = Fault(storage=storage, phase=phase)
        before(worker, folder, kind, fault)
        return worker.run(folder, kind, SEED, fault).steps


def before(worker: Worker, folder: Path, kind: str, fault: Fault) -> None:
    """Leave in a folder what the phase of a fault goes on from."""
    if fault.phase == "restart":
        worker.run(folder, kind, SEED, halted(fault.storage))
    elif fault.phase != "first":
        kept.unpack(fault.phase, kind, folder)


def judged(  # noqa: PLR0913, PLR0917 - what a trial has left
    worker: Worker,
    kind: str,
    folder: Path,
    quiet: Path,
    restart: str | None,
    errors: Sequence[tuple[str | None, bool]] = (),
) -> list[str]:
    """Return the violations in what the runs of a trial have left, beside a quiet run.

    Stock Spark has no ledger, so the doctor has nothing to say of it.
    """
    about = kinds.KINDS[kind]
    doctor = {} if about.stock else worker.doctor(folder)
    of = Query(about.logs, about.handles, about.skips)
    return check(folder, quiet, Outcome(errors, restart, doctor), of)


def judged_alone(worker: Worker, kind: str, folder: Path, error: str | None) -> list[str]:
    """Return the violations of a run that nothing disturbs."""
    return [*judged(worker, kind, folder, folder, error), *_lacking(kind, folder)]


def _lacking(kind: str, folder: Path) -> Iterator[str]:
    """Yield what a quiet run lacks, so that a comparison with it says little."""
    if not any(any(runs) for runs in results(folder).values()):
        yield "results: there are none"
    about = kinds.KINDS[kind]
    if about.logs and about.has_late and not LateLog(folder / "checkpoint").total:
        yield "late rows: there are none"


def _file() -> Path:
    made_of = b"".join(Path(file).read_bytes() for file in (kinds.__file__, streams.__file__))
    return ROOT / f".build/chaos-steps-{commit()}-{sha256(made_of).hexdigest()[:8]}.json"


def _in_file() -> dict[str, Steps]:
    kept: dict[str, Steps] = json.loads(_file().read_text("utf-8")) if _file().exists() else {}
    return kept


def _to_file(kept: dict[str, Steps]) -> None:
    """Write all at once: other processes read it meanwhile, and may write it."""
    new = _file().with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(kept), encoding="utf-8")
    new.replace(_file())
