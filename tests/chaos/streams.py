"""What the queries of the campaigns read: a few small batches of disorder, then two of much later.

The last batches close what can be closed by time, so each of their rows has one. A file holds a
row of JSON a line, and an empty line after each batch, as ``io.eventtide.chaos.BatchSource`` reads
it.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "id long, ts timestamp, user string, site int, amount int"
USERS, SITES = ("a", "b", ""), (0, 1)
START = datetime(2024, 1, 1)  # noqa: DTZ001 - text in UTC
LATE_BY, GAP = 40.0, 1.5  # seconds
Row = dict[str, Any]


def batches(seed: int, *, of: int = 6, rows: int = 14, stretch: int = 1) -> list[list[Row]]:
    """Return a stream; its ids are numbered from 0 on.

    Parameters
    ----------
    seed : int
        Of the random numbers.
    of, rows : int
        How many batches before the last two, and how many rows in each.
    stretch : int
        How many seconds go for one.
    """
    random = Random(seed)  # noqa: S311 - test data
    now, made = 5.0, list[list[Row]]()
    for _ in range(of):
        batch = []
        for _ in range(rows):
            now += random.uniform(0, GAP)
            late = random.random() ** 3 * LATE_BY
            batch.append(_row(random, max(0.0, now - late) * stretch))
        made.append(batch)
    for hours in 1, 2:
        each = [(user, site) for user in USERS for site in SITES]
        later = (now + 3600 * hours) * stretch
        closing = {"ts": _text(later)}
        made.append([_row(random, later) | closing | {"user": u, "site": s} for u, s in each])
    numbers = iter(range(of * rows + 2 * len(USERS) * len(SITES)))
    return [[{"id": next(numbers)} | row for row in batch] for batch in made]


def _text(seconds: float) -> str:
    time = START + timedelta(milliseconds=round(seconds * 1000))
    return time.isoformat(" ", "milliseconds")


def _row(random: Random, seconds: float) -> Row:
    bad = random.random() < 0.04
    return {
        "ts": None if bad else _text(seconds),
        "user": random.choice(USERS),
        "site": random.choice(SITES),
        "amount": random.randrange(-9, 99),
    }


def write(file: Path, made: list[list[Row]]) -> None:
    """Write a stream, once."""
    text = "\n".join("".join(json.dumps(row) + "\n" for row in batch) for batch in made)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def ids(file: Path) -> list[int]:
    """Return the ids of a file."""
    lines = file.read_text("utf-8").splitlines()
    return [json.loads(line)["id"] for line in lines if line]
