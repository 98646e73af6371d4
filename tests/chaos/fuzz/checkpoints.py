"""Checkpoints: their files are others, and what reads, removes or continues is called."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import eventtide as et
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.chaos.fuzz.damage import READER, Link, Signed, damage
from tests.chaos.fuzz.judge import Check, Violation
from tests.chaos.fuzz.kept import files_of, put
from tests.chaos.fuzz.sessions import KEPT_EVENTS, classic, stream
from tests.spark.kept_checkpoints import BATCHES, QUERIES, WRITTEN, query_of, run
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.chaos.fuzz.canaries import Canaries
    from tests.chaos.fuzz.damage import Files, Prefixes

KEPT = "keys-0.1.0", "storm-0.1.0", "windows-0.1.0", "watermarks-0.1.0"
WINDOW = (
    datetime(2024, 1, 1, tzinfo=timezone.utc),
    datetime(2024, 1, 1, 0, 0, 10, tzinfo=timezone.utc),
)
SPEC = "eventtide/late/window-"
OURS, SPARKS = "at io.eventtide.", "at org.apache.spark.sql.execution.streaming."
"""Calls in the trace of an error, of which the last one is on top."""


class Damaged(NamedTuple):
    """A checkpoint, the files in it that are others, and what is done with it."""

    kept: str
    files: Files
    call: str


def report(checkpoint: Path, query: str) -> None:
    """Report on it: each problem that is in the report has a name, too."""
    found = et.read_checkpoint(checkpoint, plan=QUERIES[query](stream(*KEPT_EVENTS)))
    for problem in (*found.problems, *filter(None, [found.refusal])):
        if not re.match(r"\[[A-Z_.]+\] ", problem or ""):
            raise Violation(f"has a problem without a name: {problem}")


def late_rows(checkpoint: Path, _: str) -> None:
    """Read the late rows, and then what is left of them."""
    with suppress(et.EventtideError), et.named_errors():
        et.read_late(checkpoint).collect()
    et.read_late(checkpoint, missing="skip").collect()


def closed(checkpoint: Path, _: str) -> None:
    """Read the closed windows."""
    et.completeness(checkpoint).collect()


def history(checkpoint: Path, _: str) -> None:
    """Ask why a window is open or closed."""
    et.why(checkpoint, WINDOW)


def clean(checkpoint: Path, _: str) -> None:
    """Remove late files, of the checkpoint only."""
    et.clean_late(checkpoint)


def compact(checkpoint: Path, _: str) -> None:
    """Merge late files."""
    et.compact_late(checkpoint)


def forget(checkpoint: Path, _: str) -> None:
    """Remove a reader."""
    et.forget_late_reader(checkpoint, READER)


def repartition(checkpoint: Path, _: str) -> None:
    """Write its state anew."""
    with _but_for_sparks():
        et.observe.repartition(checkpoint, 2)


def restart(checkpoint: Path, query: str, batches: int = WRITTEN + 1) -> None:
    """Continue the query."""
    with _but_for_sparks():
        run(classic(), query, BATCHES[:batches], checkpoint.parent)


@contextmanager
def _but_for_sparks() -> Iterator[None]:
    """Judge what is raised, but for what Spark says of its own files."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        trace: str = getattr(error, "_stackTrace", str(error))
        cause = trace.rpartition("Caused by: ")[2]
        above, ours, _ = cause.partition(OURS)
        if ours and SPARKS not in above:
            raise


def expire(checkpoint: Path, query: str) -> None:
    """Continue it twice: a run removes no late rows if the last one has long ended."""
    with settings(classic(), {"spark.eventtide.lateRetention": "1s"}):
        restart(checkpoint, query)
        restart(checkpoint, query, WRITTEN + 4)


BOOKS = "eventtide/ledger/", "eventtide/plan"
LATE = "eventtide/late/", "late/"
READERS = ("eventtide/readers/",)
CALLS: Mapping[str, tuple[Callable[[Path, str], None], Prefixes]] = {
    call.__name__: (call, reads)
    for call, reads in (
        (report, ("",)),
        (late_rows, LATE),
        (closed, BOOKS),
        (history, BOOKS),
        (clean, LATE),
        (compact, LATE),
        (forget, READERS),
        (repartition, ("state/", "eventtide/plan", "eventtide/runs/", "offsets/", "commits/")),
        (restart, ("",)),
        (expire, LATE),
    )
}
"""The calls by their names, and how the paths of the files begin that each reads."""


@st.composite
def damaged(draw: st.DrawFn) -> Damaged:
    """Return a checkpoint with damage, of which most is to files that the call reads."""
    call = draw(st.sampled_from([*CALLS]))
    _, reads = CALLS[call]
    able = [kept for kept in KEPT if any(path.startswith(reads) for path in _files(kept))]
    kept = draw(st.sampled_from(able))
    return Damaged(kept, draw(damage(_files(kept), reads)), call)


def _files(kept: str) -> Mapping[str, bytes]:
    """Return the files of a checkpoint, in which late rows have a reader."""
    files = files_of(kept)
    if not any(path.startswith("late/") for path in files):
        return files
    return {**files, f"eventtide/readers/{READER}_3": b"a query"}


class Checkpoints:
    """Checkpoints in the folder that is given."""

    def __init__(self, canaries: Canaries) -> None:
        self._canaries = canaries
        self._checkpoint = canaries.given / "checkpoint"

    def use(self, given: Damaged) -> None:
        """Make the call on the checkpoint."""
        self._make(given)
        with et.named_errors():
            call, _ = CALLS[given.call]
            call(self._checkpoint, query_of(given.kept))

    def warm_up(self) -> None:
        """Report on each checkpoint without damage and continue it: all of it goes well."""
        for kept in KEPT:
            self._make(Damaged(kept, {}, "report"))
            report(self._checkpoint, query_of(kept))
            run(classic(), query_of(kept), BATCHES[: WRITTEN + 1], self._checkpoint.parent)

    def _make(self, given: Damaged) -> None:
        changed = {path: self._put(content) for path, content in given.files.items()}
        whole = {**_files(given.kept), **changed}
        gone = [path for path, content in whole.items() if content is None]
        links = {path: content for path, content in whole.items() if isinstance(content, Link)}
        under = tuple(f"{path}/" for path in links)
        links = {path: link for path, link in links.items() if not path.startswith(under)}
        left = {
            path: whole[path]
            for path in whole.keys() - gone - links.keys()
            if not path.startswith(under)
        }
        put(left, self._checkpoint)
        for path, link in links.items():
            place = self._checkpoint / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(link.to)

    def _put(self, content: Any) -> Any:
        if isinstance(content, Link):
            return Link(self._canaries.put(content.to))
        if isinstance(content, Signed):
            return content.whole(self._put(content.content))
        return None if content is None else self._canaries.put(content)


def may_read(given: Damaged, name: str) -> bool:
    """Return whether a checkpoint may lead to the read of a canary.

    It may by a symbolic link, which the user of the folder has made; and a description of a late
    log may name another folder, of which only late files are read.
    """
    if any(isinstance(content, Link) for content in given.files.values()):
        return True
    described = any(path.startswith(SPEC) for path in given.files)
    return described and name.startswith("named") and PurePath(name).suffix != ".txt"


def checks(canaries: Canaries) -> list[Check]:
    """Return the only check; what is not damaged continues, and Spark is warm then."""
    checkpoints = Checkpoints(canaries)
    checkpoints.warm_up()
    return [Check(damaged(), checkpoints.use, 500, may_read)]
