"""The late rows of a checkpoint, read by pyarrow and JSON alone: the checker's own reader.

The index is a folder of files with a line for each batch. ``<batch>`` and ``<batch>.<revision>``
are a batch, of which the highest revision counts. ``fold<level>-<first>-<last>`` stands for several
of these. ``compact-<first>-<last>`` names large Parquet files with the rows of several batches; up
to the last batch of the last one, no other file counts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator

Line = dict[str, Any]

BATCH = re.compile(r"\d+(?:\.(?P<revision>\d+))?")
FOLD = re.compile(r"fold(?P<level>\d)-\d+-\d+")
COMPACT = re.compile(r"compact-\d+-(?P<last>\d+)")


def numbers(folder: Path) -> list[int]:
    """Return the batches of a log of Spark's."""
    return sorted(int(file.name) for file in folder.glob("*") if file.name.isdigit())


def _lines(index: Path) -> dict[int, Line]:
    """Return what the index says of each batch."""
    own, compacted = list[tuple[int, int, Path]](), list[Path]()
    reached = -1
    for file in index.glob("*"):
        if of_batch := BATCH.fullmatch(file.name):
            own.append((0, int(of_batch["revision"] or 0), file))
        elif fold := FOLD.fullmatch(file.name):
            own.append((1, int(fold["level"]), file))
        elif compact := COMPACT.fullmatch(file.name):
            compacted.append(file)
            reached = max(reached, int(compact["last"]))
    lines = dict[int, Line]()
    for *_, file in sorted(own):  # the last one that is about a batch counts
        lines.update((line["batch"], line) for line in _read(file) if line["batch"] > reached)
    for file in compacted:
        lines.update((line["batch"], line) for line in _read(file))
    return lines


def _read(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()[1:]]


class LateLog:
    """The late rows of a checkpoint, as its index has them."""

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint = checkpoint
        index = checkpoint / "eventtide/late"
        committed = max(numbers(checkpoint / "commits"), default=-1)
        lines = _lines(index)
        self.entries = [lines[batch] for batch in sorted(lines) if batch <= committed]
        self._folders = {
            int(file.name.split("-")[1].split(".")[0]): self._folder(file)
            for file in sorted(index.glob("window-*"), key=lambda file: file.suffix)
        }

    def _folder(self, file: Path) -> Path:
        to = json.loads(file.read_text("utf-8")).get("to")
        return self._checkpoint / "late" if to is None else Path(re.sub(r"^\w+://[^/]*", "", to))

    @property
    def total(self) -> Counter[str]:
        """Rows by reason, by the lines of the batches."""
        rows: Counter[str] = Counter()
        for entry in self.entries:
            for window in entry["windows"]:
                rows.update(window["rows"])
        return rows

    def faults(self) -> list[str]:
        """Return what the index does not fit with: itself, and the files."""
        found, before, total = [], None, Counter[str]()
        for entry in self.entries:
            if entry.get("after") != before:
                found.append(f"index: batch {entry['batch']} is after {entry.get('after')}")
            before = entry["batch"]
            for window in entry["windows"]:
                total.update(window["rows"])
                for file in window["files"]:
                    path = self._folders[window["window"]] / file["name"]
                    length = path.stat().st_size if path.is_file() else None
                    if length != file["bytes"]:
                        found.append(f"files: {file['name']} has {length} of {file['bytes']} bytes")
            if total != Counter(entry["total"]):
                found.append(f"index: the total of batch {before} is {entry['total']}")
        return found

    def rows(self) -> Counter[str]:
        """Return all rows of the files that are named."""
        found: Counter[str] = Counter()
        for number, row in self._rows():
            found[json.dumps([number, row], default=str, sort_keys=True)] += 1
        return found

    def ids(self) -> list[int]:
        """Return the ids of all rows."""
        return [row["id"] for _, row in self._rows()]

    def reasons(self) -> Counter[tuple[int, str]]:
        """Return the ids of all rows with their reasons."""
        return Counter((row["id"], row["_reason"]) for _, row in self._rows())

    def ids_by_batch(self) -> dict[int, list[int]]:
        """Return the ids of the rows of each batch, in order."""
        found = dict[int, list[int]]()
        for _, row in self._rows():
            found.setdefault(row["_batch_id"], []).append(row["id"])
        return {batch: sorted(ids) for batch, ids in found.items()}

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for (window, name), batches in self._named().items():
            for row in pq.read_table(self._folders[window] / name).to_pylist():
                if row["_batch_id"] in batches:
                    yield window, row

    def _named(self) -> dict[tuple[int, str], set[int]]:
        """Return which batches name a file: several, where it is a compacted one."""
        named = dict[tuple[int, str], set[int]]()
        for entry in self.entries:
            for window in entry["windows"]:
                for file in window["files"]:
                    named.setdefault((window["window"], file["name"]), set()).add(entry["batch"])
        return named
