"""Judges what a disturbed query has left, beside what a quiet run of it has; knows only files.

It shares no code with eventtide: pyarrow reads Parquet, and everything else is JSON. The one thing
that it is told is what the doctor says, since one invariant is about that.

Invariants: the results are those of the quiet run, by window, key and pane; each run of a batch
gives the same; the late rows are the quiet run's, as a multiset; rows read are rows in windows plus
late rows plus refused rows, by number and one by one; the index has the ledger's total, also where
it is folded or compacted; every file that is named is there with its length; no watermark in the
offset log is below the one before; a handler was given the late rows of each batch; no error is
without a name; a plain restart suffices; the doctor names a problem when files and books do not
fit; each window with results is once among the closed windows, with the rows of its results; a
stream of the closed windows has the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.chaos.late_log import LateLog, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

WORD = 48  # bits of `w0`, `w1` and so on, which stand for ids
IDENTITY = ("window", "user", "site", "pane_index", "pane_timing", "trigger", "is_last")
SHOWN = 3
PLACE = "followed"  # what a stream of closed windows was given


@dataclass(frozen=True)
class Outcome:
    """How the runs of a trial ended.

    Attributes
    ----------
    errors : sequence of (str, bool)
        What ended each run before the last, and whether it has a name.
    restart : str or None
        What ended the last run, a plain restart; None if it came to the end of its streams.
    doctor : dict
        ``problems``, and by the ledger ``on_time``, ``refused``, ``late`` by reason, and
        ``complete``, the closed windows and their rows; None if they are not counted.
    """

    errors: Sequence[tuple[str | None, bool]] = ()
    restart: str | None = None
    doctor: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Query:
    """What a query of its kind has.

    Attributes
    ----------
    logs : bool
        Whether it has a late log, so that the books have to balance.
    handles : bool
        Whether a handler is given its late rows.
    skips : bool
        Whether a row on time may be in no result at all.
    """

    logs: bool = True
    handles: bool = False
    skips: bool = False


def check(folder: Path, quiet: Path, outcome: Outcome, of: Query = Query()) -> list[str]:
    """Return each violation as one line that begins with the invariant; none when all hold.

    Parameters
    ----------
    folder, quiet : Path
        Of the trial and of the quiet run: ``checkpoint``, ``results`` and ``source-*.jsonl``.
    outcome : Outcome
        How the runs ended.
    of : Query
        What its kind has.
    """
    found = [f"unnamed error: {text}" for text, named in outcome.errors if text and not named]
    if outcome.restart is not None:
        return [*found, f"plain restart: {outcome.restart}"]
    found += _results(folder, quiet)
    found += _completeness(folder, outcome.doctor.get("complete"))
    if (quiet / PLACE).exists():
        found += _followed(folder / PLACE, outcome.doctor.get("complete") or [])
    found += watermarks(folder / "checkpoint")
    broken: list[str] = []
    if of.logs:
        late = LateLog(folder / "checkpoint")
        broken = [*late.faults(), *totals(late, outcome.doctor)]
        found += broken
        if not late.faults():
            found += _late_rows(late, LateLog(quiet / "checkpoint"))
            found += _conservation(folder, late, outcome.doctor, skips=of.skips)
            found += _handled(folder, late) if of.handles else []
    says = bool(outcome.doctor.get("problems"))
    if broken and not says:
        found.append("doctor: it names no problem")
    if says and not broken:
        found.append(f"doctor: it names {outcome.doctor['problems']}")
    return found


def results(folder: Path) -> dict[int, list[list[str]]]:
    """Return the rows of each batch, once for each run that gave them."""
    batches: dict[int, list[list[str]]] = {}
    for file in sorted((folder / "results").glob("[0-9]*.jsonl")):
        rows = sorted(file.read_text("utf-8").splitlines())
        batches.setdefault(int(file.name.partition(".")[0]), []).append(rows)
    return batches


def _results(folder: Path, quiet: Path) -> Iterator[str]:
    got, wanted = results(folder), results(quiet)
    yield from _replays(got)
    # the last run of a batch is as good as any, or the line above says so
    all_got = Counter(row for attempts in got.values() for row in attempts[0])
    all_wanted = Counter(row for attempts in wanted.values() for row in attempts[0])
    for name, rows in ("missing", all_wanted - all_got), ("unexpected", all_got - all_wanted):
        if rows:
            shown = [_identity(row) for row in list(rows)[:SHOWN]]
            yield f"results: {sum(rows.values())} {name}, such as {'; '.join(shown)}"


def _replays(batches: dict[int, list[list[str]]]) -> Iterator[str]:
    for batch, attempts in batches.items():
        if any(rows != attempts[0] for rows in attempts):
            yield f"replay: batch {batch} has given {len(attempts)} results that differ"


def _completeness(folder: Path, closed: list[tuple[str, int]] | None) -> Iterator[str]:
    if closed is None:
        return
    given = Counter[str]()
    for row in (json.loads(row) for runs in results(folder).values() for row in runs[0]):
        given[json.dumps(row["window"])] += row["n"]
    told = Counter[str]()
    for window, rows in closed:
        told[json.dumps(json.loads(window))] += rows
    if len(told) < len(closed):
        yield f"completeness: {len(closed) - len(told)} windows are twice among the closed ones"
    for window in sorted(told.keys() | given.keys()):
        if told[window] != given[window]:
            yield f"completeness: {window} has {told[window]} rows, its results {given[window]}"


def _followed(folder: Path, closed: list[tuple[str, int]]) -> Iterator[str]:
    yield from _replays(results(folder))
    rows = [json.loads(row) for runs in results(folder).values() for row in runs[0]]
    got = Counter((json.dumps(row["window"]), row["rows"]) for row in rows)
    wanted = Counter((json.dumps(json.loads(window)), rows) for window, rows in closed)
    for name, windows in ("missing", wanted - got), ("unexpected", got - wanted):
        if windows:
            yield f"followed: {sum(windows.values())} windows {name}, such as {min(windows)}"


def _identity(row: str) -> str:
    values = json.loads(row)
    return ", ".join(f"{name} {values[name]}" for name in IDENTITY if name in values)


def watermarks(checkpoint: Path) -> Iterator[str]:
    """Yield each watermark in the offset log that is below the one before."""
    before = 0
    for batch in numbers(checkpoint / "offsets"):
        lines = (checkpoint / f"offsets/{batch}").read_text("utf-8").splitlines()
        now = json.loads(lines[1])["batchWatermarkMs"]
        if now < before:
            yield f"watermark: {now} ms in batch {batch}, {before} ms before it"
        before = now


def totals(late: LateLog, doctor: dict[str, Any]) -> Iterator[str]:
    """Yield a difference between the numbers of the index and those of the ledger."""
    by_ledger = doctor.get("late")
    if by_ledger is not None and Counter(by_ledger) != late.total:
        yield f"total: {dict(late.total)} in the index, {by_ledger} in the ledger"


def _late_rows(late: LateLog, quiet: LateLog) -> Iterator[str]:
    got, wanted = late.rows(), quiet.rows()
    for name, rows in ("missing", wanted - got), ("unexpected", got - wanted):
        if rows:
            yield f"late rows: {sum(rows.values())} {name}, such as {next(iter(rows))}"


def _conservation(
    folder: Path, late: LateLog, doctor: dict[str, Any], *, skips: bool
) -> Iterator[str]:
    source, last = _source(folder)
    on_time, number = doctor.get("on_time"), sum(late.total.values())
    refused = doctor.get("refused", 0)
    if on_time is not None and on_time + number + refused != len(source):
        parts = f"{on_time} in windows, {number} late, {refused} refused"
        yield f"conservation: {len(source)} rows read, {parts}"
    given = _ids_given(folder)
    logged = late.ids()
    if len(logged) != number:
        yield f"conservation: {number} late rows by the index, {len(logged)} in its files"
    if both := given & set(logged):
        yield f"conservation: {len(both)} rows are in windows and late, such as {min(both)}"
    if strange := (given | set(logged)) - source:
        yield f"conservation: {len(strange)} rows that were not read, such as {min(strange)}"
    if on_time is not None and len(given) > on_time:
        yield f"conservation: {len(given)} rows in results, {on_time} taken by windows"
    nowhere = source - given - set(logged) - last  # whose windows may be open
    if len(nowhere) > refused and not skips:
        yield f"conservation: {len(nowhere)} rows are nowhere, {refused} were refused"


def _handled(folder: Path, late: LateLog) -> Iterator[str]:
    got, wanted = _calls(folder), late.ids_by_batch()
    for batch in sorted(got.keys() | wanted.keys()):
        if got.get(batch) != wanted.get(batch):
            yield f"handler: of batch {batch} it has {got.get(batch)} of {wanted.get(batch)}"


def _calls(folder: Path) -> dict[int, list[int]]:
    """Return the ids that a handler was given, by batch."""
    files = folder.glob("handled-*.json")
    return {int(file.stem.partition("-")[2]): json.loads(file.read_text("utf-8")) for file in files}


def _source(folder: Path) -> tuple[set[int], set[int]]:
    """Return the ids of all rows of the streams, and of those in their last batches."""
    every, last = set[int](), set[int]()
    for file in folder.glob("source-*"):
        *before, end = file.read_text("utf-8").split("\n\n")
        ids = [{json.loads(line)["id"] for line in batch.splitlines()} for batch in (*before, end)]
        every |= set().union(*ids)
        last |= ids[-1]
    return every, last


def _ids_given(folder: Path) -> set[int]:
    given: set[int] = set()
    for attempts in results(folder).values():
        for row in map(json.loads, attempts[0]):
            given.update(row.get("ids", []))
            for name, word in row.items():
                if re.fullmatch(r"w\d", name):
                    bits = (bit for bit in range(WORD) if word >> bit & 1)
                    given.update(int(name[1]) * WORD + bit for bit in bits)
    return given
