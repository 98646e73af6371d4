"""Judges what a query that was killed has left so far: ``... tests.chaos.soak.audit FOLDER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.late_log import LateLog
from tests.chaos.soak.victim import HANDLED, RESULTS, ROWS, START_S, session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.observe import CheckpointReport

FOUND = "audit.json"
BEHIND_S = 120  # of event time: twice what the end of a window, its lag and the timeout take


class Given:
    """What a callback was given: the rows of each batch, of each time that it was run."""

    def __init__(self, file: Path) -> None:
        self._name, self._rows = file.stem, dict[int, set[int]]()
        for line in map(json.loads, file.read_text("utf-8").splitlines()):
            self._rows.setdefault(line["batch"], set()).add(line["rows"])

    @property
    def last(self) -> int:
        """The last batch."""
        return max(self._rows)

    def up_to(self, batch: int) -> int:
        """Return the rows of the batches up to this one."""
        return sum(min(rows) for number, rows in self._rows.items() if number <= batch)

    def wrong(self) -> Iterator[str]:
        """Yield the batches whose runs differ."""
        for batch, rows in self._rows.items():
            if len(rows) > 1:
                yield f"{self._name}: batch {batch} has given {sorted(rows)} rows"


def audit(folder: Path) -> Iterator[str]:
    """Yield what is wrong: rows that are lost or twice, and what the doctor says."""
    checkpoint = folder / "checkpoint"
    report = et.read_checkpoint(checkpoint)
    results, handled = Given(folder / RESULTS), Given(folder / HANDLED)
    yield from (*report.problems, *results.wrong(), *handled.wrong())
    late = sum(sum(window.late.values()) for window in report.windows)
    read = _read(checkpoint, report.committed)
    yield from _conservation(report, read, late)
    yield from held_up(report, read)
    yield from _handed_on(handled, LateLog(checkpoint), report.committed)
    closed = et.completeness(checkpoint).agg(F.sum("rows")).collect()[0][0]
    if (given := results.up_to(report.committed)) != closed:
        yield f"results: they have {given} rows, closed windows {closed}"


def _handed_on(handled: Given, late: LateLog, committed: int) -> Iterator[str]:
    """Yield what the handler lacks: the rows of the last batch may come after the next start."""
    if handled.last < committed - 1:
        yield f"handler: batch {handled.last} is its last of {committed}"
    totals = {entry["batch"]: sum(entry["total"].values()) for entry in late.entries}
    wanted = totals[max(batch for batch in totals if batch <= handled.last)]
    if (given := handled.up_to(handled.last)) != wanted:
        yield f"handler: it was given {given} rows of {wanted}"


def _conservation(report: CheckpointReport, read: int, late: int) -> Iterator[str]:
    mark = report.watermark
    if mark is None or not late:
        yield "conservation: no row is late, or there is no watermark"
        return
    parts = mark.on_time, late, mark.bad_time + mark.future
    if sum(parts) != read:
        yield f"conservation: {read} rows read; {parts} in windows, late and refused"


def held_up(report: CheckpointReport, read: int) -> Iterator[str]:
    """Yield that windows do not close, although substreams that ended have become idle."""
    newest = START_S + read / ROWS
    for window in report.windows:
        closed = window.closed_up_to
        if closed is None or newest - closed.timestamp() > BEHIND_S:
            yield f"windows: rows reach {newest:.0f}, but windows are closed up to {closed} only"


def _read(checkpoint: Path, batch: int) -> int:
    """Return how many rows the stream had up to the end of a batch."""
    _, _, offset, *_ = (checkpoint / f"offsets/{batch}").read_text("utf-8").splitlines()
    rows: int = json.loads(offset)["offset"]
    return rows


if __name__ == "__main__":
    session()
    found = list(audit(Path(sys.argv[1])))
    Path(sys.argv[1], FOUND).write_text(json.dumps(found), "utf-8")
