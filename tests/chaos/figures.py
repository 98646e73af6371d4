"""What the campaigns have found, a line of JSON for each trial, and the table of it."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.jvms import java

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "figures"
Trial = dict[str, Any]

# What names a case of a campaign; where nothing else does, its seed.
FAULT = "storage", "phase", "fault", "step", "kind", "seed"
CASES = {
    "exhaustive": FAULT,
    "upgrades": FAULT,
    "clocks": ("kind", "jump", "where", "limited"),
}


@dataclass(frozen=True)
class Limits:
    """How much of a campaign is to be done.

    Attributes
    ----------
    kinds : list of str
        The kinds of queries to choose from.
    seed : int
        Of what is chosen by chance.
    trials : int or None
        At most; all that is left by default.
    until : float
        On the monotonic clock: no new trial after that.
    workers : int
        How many at once, where they can be.
    """

    kinds: list[str]
    seed: int
    trials: int | None
    until: float
    workers: int


def commit() -> str:
    """Return the last commit of the engine, with a plus where its files differ from it."""

    def git(*arguments: str) -> str:
        run = subprocess.run(  # noqa: S603 - our own arguments
            ["git", *arguments],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        return run.stdout.strip()

    engine = "jvm/kernel/src/main", "jvm/spark/src/main", "python"
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *engine)
    return git("log", "-1", "--abbrev=10", "--format=%h", "--", *engine) + ("+" if changed else "")


def java_version() -> str:
    """Return the version of the Java that queries run on."""
    run = subprocess.run([java(), "-version"], capture_output=True, text=True, check=True)  # noqa: S603 - our own Java
    found = re.search(r'version "([^"]+)"', run.stderr)
    return found[1] if found else "unknown"


def size(trial: Trial) -> int:
    """Return how many kills or inputs a trial had; 1 where nothing was killed."""
    return int(trial["trials"] if "trials" in trial else trial.get("kills", 1))


def _replaces(trial: Trial, before: Trial) -> bool:
    """Tell whether a trial counts instead of one of the same case before it."""
    if not before["violations"] or trial["violations"]:
        return True
    return bool(trial["commit"] != before["commit"] and size(trial) >= size(before))


class Figures:
    """The trials of a campaign, which go on where they were left.

    Parameters
    ----------
    campaign : str
        The file's name.
    folder : Path
        Where it lies.
    """

    def __init__(self, campaign: str, folder: Path = FOLDER) -> None:
        self.file = folder / f"{campaign}.jsonl"
        self.added = 0
        self._about = {"commit": commit(), "spark": version("pyspark"), "java": java_version()}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from the same figures: they would take the same seeds."""
        lock = ROOT / ".build" / f"chaos-{self.file.parent.name}-{self.file.stem}.lock"
        lock.parent.mkdir(exist_ok=True)
        with lock.open("w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SystemExit(f"this campaign runs already, and adds to {self.file}") from None
            yield

    def trials(self) -> list[Trial]:
        """Return the trial of each case that counts; a line that was cut off counts for nothing.

        It is the last one, but a failure stays until an engine with a correction does as much well:
        on the same engine, another trial may have had luck.
        """
        lines = self.file.read_text("utf-8").splitlines() if self.file.exists() else []
        found = dict[tuple[Any, ...], Trial]()
        for trial in (json.loads(line) for line in lines if line.endswith("}")):
            case = self.case(trial)
            if case not in found or _replaces(trial, found[case]):
                found[case] = trial
        return list(found.values())

    def case(self, trial: Trial) -> tuple[Any, ...]:
        """Return what tells a trial from the others of its campaign."""
        return tuple(trial.get(name) for name in CASES.get(self.file.stem, ("seed",)))

    def done(self) -> set[tuple[Any, ...]]:
        """Return the cases that happened and went well, on whichever commit of the engine."""
        well = (t for t in self.trials() if not t["violations"] and t.get("reached", True))
        return {self.case(trial) for trial in well}

    def failed(self) -> list[Trial]:
        """Return the trials with a violation that counts."""
        return [trial for trial in self.trials() if trial["violations"]]

    def seeds(self, first: int) -> Iterator[int]:
        """Yield seeds: those whose trial has failed, then new ones, from `first` on."""
        yield from (trial["seed"] for trial in self.failed())
        yield from count(max((trial["seed"] + 1 for trial in self.trials()), default=first))

    def add(self, **trial: Any) -> Trial:
        """Write down a trial, with the engine that ran it."""
        made = {**self._about, **trial}
        self.added += 1
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(made, sort_keys=True).replace(f"{ROOT}/", "") + "\n")
            out.flush()
            os.fsync(out.fileno())
        return made
