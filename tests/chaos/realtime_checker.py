"""Judges what a query in real-time mode has left, beside what its rows have to give.

Invariants: each result that is expected is there, and no other; those of committed batches are
there before a restart; copies of a result are equal, by window, key and pane; the rows in windows
and the late rows are those that are expected, by the ledger, the index and the files of the late
log; no watermark in the offset log is below the one before; a plain restart suffices; the doctor
names no problem.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.chaos.checker import SHOWN, totals, watermarks
from tests.chaos.late_log import LateLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tests.chaos.expected import Rules

CONTENT = ("n", "ids", "pane_timing", "is_last")  # the other columns identify a result


@dataclass(frozen=True)
class Left:
    """What all runs together have left.

    Attributes
    ----------
    checkpoint : Path
        Of the query.
    values : sequence of str
        The results in the topic, each as JSON.
    doctor : dict
        What eventtide says of the checkpoint.
    restart : str or None
        What ended the last run, a plain restart; None if it came to the end of the rows.
    """

    checkpoint: Path
    values: Sequence[str]
    doctor: dict[str, Any]
    restart: str | None = None


def check(left: Left, rules: Rules) -> list[str]:
    """Return each violation as one line that begins with the invariant; none when all hold."""
    if left.restart is not None:
        return [f"plain restart: {left.restart}"]
    late = LateLog(left.checkpoint)
    found = [*_results(left.values, rules), *watermarks(left.checkpoint), *late.faults()]
    if not late.faults():
        found += [*totals(late, left.doctor), *_late_rows(late, rules)]
    if left.doctor["on_time"] != rules.on_time:
        found.append(f"ledger: {left.doctor['on_time']} rows on time, not {rules.on_time}")
    if left.doctor["problems"]:
        found.append(f"doctor: it names {left.doctor['problems']}")
    return found


def given(values: Sequence[str], rules: Rules) -> list[str]:
    """Return which results are missing of rows that are in committed batches, as one line."""
    got = {_text(json.loads(value)) for value in values}
    missing = {*map(_text, rules.results)} - got
    return [*_differences("results of committed batches", missing, ())]


def covered(sent: Iterable[dict[str, Any]], reached: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield rows up to the first one that is not among the first ones of its partition."""
    before = Counter[str]()
    for row in sent:
        partition = str(row["site"])
        if before[partition] >= reached.get(partition, 0):
            return
        before[partition] += 1
        yield row


def _results(values: Sequence[str], rules: Rules) -> Iterator[str]:
    got = dict[str, set[str]]()
    for row in map(json.loads, values):
        identity = _text({name: row[name] for name in row if name not in CONTENT})
        got.setdefault(identity, set()).add(_text(row))
    for identity, rows in got.items():
        if len(rows) > 1:
            yield f"copies: {len(rows)} results of {identity} differ"
    all_got = {row for rows in got.values() for row in rows}
    wanted = set(map(_text, rules.results))
    yield from _differences("results", wanted - all_got, all_got - wanted)


def _late_rows(late: LateLog, rules: Rules) -> Iterator[str]:
    got, wanted = late.reasons(), Counter(rules.late.items())
    missing, unexpected = (map(str, each.elements()) for each in (wanted - got, got - wanted))
    yield from _differences("late rows", missing, unexpected)


def _differences(name: str, missing: Iterable[str], unexpected: Iterable[str]) -> Iterator[str]:
    for what, rows in ("missing", sorted(missing)), ("unexpected", sorted(unexpected)):
        if rows:
            yield f"{name}: {len(rows)} {what}, such as {'; '.join(rows[:SHOWN])}"


def _text(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)
