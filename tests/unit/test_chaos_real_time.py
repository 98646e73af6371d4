"""The rules of windows, and the checker for real-time mode, find each violation that is planted."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.chaos.expected import Counts, Panes, Rules, Sessions, Tumbling
from tests.chaos.realtime_checker import Left, check, covered, given
from tests.chaos.realtime_victim import is_lost

if TYPE_CHECKING:
    from pathlib import Path

TIMES = 1, 12, 15, 3, 34, 20, 70, 140  # seconds; 3 and 20 come late


def rows(*seconds: int) -> list[dict[str, Any]]:
    """Return rows of one key, numbered from 0, and one without a time."""
    times = [f"2024-01-01 00:{one // 60:02}:{one % 60:02}.000" for one in seconds]
    return [
        {"id": number, "ts": time, "user": "a", "site": 0}
        for number, time in enumerate([*times, None])
    ]


@pytest.mark.parametrize(
    ("rules", "ids", "late"),
    [
        (Tumbling(10), [[0], [1, 2], [4], [6]], {3, 5, 8}),
        (Tumbling(10, delay=6), [[0, 3], [1, 2], [5], [4], [6]], {8}),
        (Tumbling(10, lag=30), [[0, 3], [1, 2], [5], [4], [6]], {8}),
        (Panes(20, every=2), [[0, 1], [0, 1, 2, 3], [0, 1, 2, 3], [4, 5], [4, 5], [6], [6]], {8}),
        (Sessions(6), [[0], [1, 2], [4], [6]], {3, 5, 8}),
        (Sessions(10, lag=20), [[0, 1, 2, 3, 5], [4], [6]], {8}),
        (Counts(3, every=2), [[0, 1], [1, 2, 3], [3, 4, 5], [5, 6, 7]], set()),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Rules) else "",
)
def test_a_window_has_its_rows(rules: Rules, ids: list[list[int]], late: set[int]) -> None:
    """By the watermark that the rows before have set; the last row stays in an open window."""
    rules.play(rows(*TIMES))
    assert [result["ids"] for result in rules.results] == ids
    assert set(rules.late) == late
    assert rules.on_time + len(rules.late) == len(TIMES) + 1


@pytest.fixture
def left(tmp_path: Path) -> Left:
    """Return what a query has left in which nothing is wrong, with one result twice."""
    rules = expected()
    for folder in "eventtide/late", "late", "offsets", "commits":
        (tmp_path / folder).mkdir(parents=True)
    late = [{"id": key, "_reason": why, "_batch_id": 0} for key, why in rules.late.items()]
    write_late(tmp_path, late)
    (tmp_path / "commits/0").write_text("v1\n{}")
    (tmp_path / "offsets/0").write_text('v1\n{"batchWatermarkMs":0}\n{}\n')
    (tmp_path / "eventtide/late/window-0.0").write_text('{"version":1}')
    values = [json.dumps(result) for result in rules.results]
    counted = dict(Counter(rules.late.values()))
    doctor = {"problems": [], "late": counted, "on_time": rules.on_time}
    return Left(tmp_path, [*values, values[0]], doctor)


def expected() -> Rules:
    """Return what the rows have to give."""
    return Tumbling(10).play(rows(*TIMES))


def write_late(checkpoint: Path, late: list[dict[str, Any]]) -> None:
    """Write the late rows of a batch, with a line of the index."""
    file = checkpoint / "late/0-0.parquet"
    pq.write_table(pa.Table.from_pylist(late), file)
    total = dict(Counter(row["_reason"] for row in late))
    files = [{"name": file.name, "bytes": file.stat().st_size}]
    windows = [{"window": 0, "rows": total, "files": files}]
    line = {"batch": 0, "total": total, "windows": windows}
    (checkpoint / "eventtide/late/0").write_text(f"v1\n{json.dumps(line)}")


def test_nothing_is_found_where_nothing_is_wrong(left: Left) -> None:
    """A copy of a result is allowed."""
    assert check(left, expected()) == []


def test_results_that_differ_are_found(left: Left) -> None:
    """A copy with other content, a result that is missing, and one of another window."""
    first, *others = left.values
    altered = json.dumps(json.loads(first) | {"n": 7})
    found = check(Left(left.checkpoint, [first, altered, *others], left.doctor), expected())
    assert [line.partition(":")[0] for line in found] == ["copies", "results"]
    found = check(Left(left.checkpoint, others[:-1], left.doctor), expected())
    assert found == [f"results: 1 missing, such as {json.dumps(json.loads(first), sort_keys=True)}"]
    other = json.dumps(json.loads(first) | {"user": "b"})
    found = check(Left(left.checkpoint, [first, *others, other], left.doctor), expected())
    assert [line[:22] for line in found] == ["results: 1 unexpected,"]


def test_late_rows_that_differ_are_found(left: Left) -> None:
    """One that is missing, and one that is there twice; the totals of the ledger differ too."""
    late = [{"id": 3, "_reason": "window_closed", "_batch_id": 0}]
    write_late(left.checkpoint, late)
    found = check(left, expected())
    assert [line[:20] for line in found] == ["total: {'window_clos", "late rows: 2 missing"]
    write_late(left.checkpoint, [*late, {**late[0], "id": 5}, {**late[0], "id": 8}, *late])
    assert any(line.startswith("late rows: 2 unexpected") for line in check(left, expected()))


@pytest.mark.parametrize(
    ("says", "found"),
    [({"on_time": 5}, "ledger: 5 rows on time, not 6"), ({"problems": ["x"]}, "doctor: it names")],
)
def test_what_the_doctor_says_counts(left: Left, says: dict[str, Any], found: str) -> None:
    """The rows in windows, and problems."""
    [line] = check(Left(left.checkpoint, left.values, left.doctor | says), expected())
    assert line.startswith(found)


def test_committed_batches_have_given_their_results(left: Left) -> None:
    """Those of the rows up to the first one that no committed batch has."""
    sent = [{**row, "site": row["id"] % 2} for row in rows(*TIMES)]
    assert [row["id"] for row in covered(sent, {"0": 3, "1": 2})] == [0, 1, 2, 3, 4]
    assert not list(covered(sent, {}))
    assert not given(left.values, expected())
    [found] = given(left.values[1:-1], expected())
    assert found.startswith("results of committed batches: 1 missing")


@pytest.mark.parametrize(
    ("cause", "lost"),
    [
        ("ExecutorLostFailure (executor 1 exited caused by one of the running tasks)", True),
        ("java.lang.NullPointerException", False),
    ],
)
def test_only_a_lost_executor_is_no_failure(cause: str, *, lost: bool) -> None:
    """Spark names the executor of each task that fails."""
    assert is_lost(f"Lost task 0.0 in stage 3.0 (TID 7) (127.0.0.1 executor 1): {cause}") == lost
