"""The checker of the campaigns finds each violation that is planted."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row

from tests.chaos.checker import Outcome, Query, check
from tests.chaos.clocks import Case, Play
from tests.chaos.figures import Figures, commit
from tests.chaos.kills import lost_tasks
from tests.chaos.trial import is_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCTOR = {"problems": [], "late": {"bad_time": 2}, "on_time": 2, "refused": 0}
SAYS = DOCTOR | {"problems": ["it is missing"]}


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    """Return what a query of four rows has left, two of them late."""
    folder = tmp_path / "quiet"
    for name in "results", "checkpoint/eventtide/late", "checkpoint/late":
        (folder / name).mkdir(parents=True)
    for name in "offsets", "commits":
        (folder / "checkpoint" / name).mkdir()
    source = "".join(json.dumps({"id": number}) + "\n" for number in range(4))
    (folder / "source-0.jsonl").write_text(source)
    for batch in range(2):
        late_log(folder, batch, [{"id": batch, "_reason": "bad_time"}])
        entry(folder, batch, batch + 1)
        row = json.dumps({"window": batch, "user": "a", "ids": [batch + 2], "n": 1})
        (folder / f"results/{batch}.a.jsonl").write_text(row + "\n")
        mark = json.dumps({"batchWatermarkMs": 1000 * batch})
        (folder / f"checkpoint/offsets/{batch}").write_text(f"v1\n{mark}\n{batch}\n")
        (folder / f"checkpoint/commits/{batch}").write_text("v1\n{}")
    (folder / "checkpoint/eventtide/late/window-0.0").write_text('{"version":1}')
    return folder


def test_a_stream_of_closed_windows_has_each_once(quiet: Path, tmp_path: Path) -> None:
    """Not more of them than the query has closed, and not fewer."""
    closed = DOCTOR | {"complete": [(str(batch), 1) for batch in range(2)]}
    followed = quiet / "followed/results"
    followed.mkdir(parents=True)
    for batch in range(2):
        (followed / f"{batch}.a.jsonl").write_text(json.dumps({"window": batch, "rows": 1}) + "\n")
    assert check(quiet, quiet, Outcome(doctor=closed)) == []
    trial = tmp_path / "trial"
    shutil.copytree(quiet, trial)
    (trial / "followed/results/0.a.jsonl").unlink()
    (trial / "followed/results/2.a.jsonl").write_text('{"window": 1, "rows": 1}\n')
    assert check(trial, quiet, Outcome(doctor=closed)) == [
        "followed: 1 windows missing, such as ('0', 1)",
        "followed: 1 windows unexpected, such as ('1', 1)",
    ]


def late_log(folder: Path, batch: int, rows: list[dict[str, Any]]) -> None:
    """Write the late rows of a batch."""
    made = [{"_batch_id": batch} | row for row in rows]
    pq.write_table(pa.Table.from_pylist(made), folder / f"checkpoint/late/{batch}-0.parquet")


def entry(folder: Path, batch: int, total: int, **changes: Any) -> None:
    """Write a line of the index."""
    size = (folder / f"checkpoint/late/{batch}-0.parquet").stat().st_size
    files = [{"name": f"{batch}-0.parquet", "bytes": size}]
    windows = [{"window": 0, "rows": {"bad_time": 1}, "files": files}]
    line = {"batch": batch, "total": {"bad_time": total}, "windows": windows} | changes
    if batch:
        line = {"after": batch - 1} | line
    file = folder / f"checkpoint/eventtide/late/{batch}"
    file.write_text(f"v1\n{json.dumps(line)}")


def test_a_handler_that_misses_rows_is_found(quiet: Path, tmp_path: Path) -> None:
    """By batch: it was called for one of two."""
    for batch in range(2):
        (quiet / f"handled-{batch}.json").write_text(f"[{batch}]")
    handles = Query(handles=True)
    assert check(quiet, quiet, Outcome(doctor=DOCTOR), handles) == []
    trial = tmp_path / "trial"
    shutil.copytree(quiet, trial)
    (trial / "handled-1.json").unlink()
    found = check(trial, quiet, Outcome(doctor=DOCTOR), handles)
    assert found == ["handler: of batch 1 it has None of [1]"]


def test_a_row_that_no_run_has_is_found(quiet: Path) -> None:
    """Its windows have closed, as it was not in the last batch; a refused row is nowhere, too."""
    source = [json.dumps({"id": number}) for number in range(5)]
    (quiet / "source-0.jsonl").write_text("\n".join([*source[3:], "", *source[:3]]))
    read = DOCTOR | {"on_time": 3}
    found = ["conservation: 1 rows are nowhere, 0 were refused"]
    assert check(quiet, quiet, Outcome(doctor=read)) == found
    assert check(quiet, quiet, Outcome(doctor=DOCTOR | {"refused": 1})) == []
    assert check(quiet, quiet, Outcome(doctor=read), Query(skips=True)) == []


def test_a_quiet_run_has_no_violation(quiet: Path) -> None:
    """Nor has one in which a batch was run twice, with one result."""
    shutil.copy(quiet / "results/1.a.jsonl", quiet / "results/1.b.jsonl")
    assert check(quiet, quiet, Outcome(doctor=DOCTOR)) == []


@pytest.mark.parametrize(
    ("closed", "found"),
    [
        ([("0", 1), ("1", 1)], []),
        ([("0", 1)], ["completeness: 1 has 0 rows, its results 1"]),
        ([("0", 2), ("1", 1)], ["completeness: 0 has 2 rows, its results 1"]),
        (
            [("0", 1), ("1", 1), ("1", 1)],
            [
                "completeness: 1 windows are twice among the closed ones",
                "completeness: 1 has 2 rows, its results 1",
            ],
        ),
    ],
    ids=["right", "lost", "wrong", "twice"],
)
def test_closed_windows_that_do_not_fit_the_results_are_found(
    quiet: Path, closed: list[tuple[str, int]], found: list[str]
) -> None:
    """Each is there once, with the rows of its results."""
    assert check(quiet, quiet, Outcome(doctor={**DOCTOR, "complete": closed})) == found


def compact(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Put a large late file in the place of both batches; the index still has the small ones."""
    large = folder / "checkpoint/late/0-1-0.parquet"
    pq.write_table(pa.Table.from_pylist(rows), large)
    index = folder / "checkpoint/eventtide/late"
    lines = [json.loads((index / f"{batch}").read_text().splitlines()[1]) for batch in range(2)]
    for line in lines:
        line["windows"][0]["files"] = [{"name": large.name, "bytes": large.stat().st_size}]
    (index / "compact-0-1").write_text("\n".join(["v1", *map(json.dumps, lines)]))


COMPACTED = [{"_batch_id": batch, "id": batch, "_reason": "bad_time"} for batch in range(2)]


def test_compacted_files_are_read(quiet: Path, tmp_path: Path) -> None:
    """Each row once, whether or not what they stand for is still there."""
    folder = tmp_path / "disturbed"
    shutil.copytree(quiet, folder)
    compact(folder, COMPACTED)
    assert check(folder, quiet, Outcome(doctor=DOCTOR)) == []
    for batch in range(2):
        (folder / f"checkpoint/late/{batch}-0.parquet").unlink()
        (folder / f"checkpoint/eventtide/late/{batch}").unlink()
    assert check(folder, quiet, Outcome(doctor=DOCTOR)) == []


@pytest.mark.parametrize(
    "rows",
    [COMPACTED[:1], [*COMPACTED, COMPACTED[0]], [COMPACTED[0], COMPACTED[1] | {"_batch_id": 5}]],
    ids=["lost", "twice", "of another batch"],
)
def test_a_compaction_that_changes_rows_is_found(
    quiet: Path, tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    """A row that is lost, that is there twice, or that is of a batch the file is not named for."""
    folder = tmp_path / "disturbed"
    shutil.copytree(quiet, folder)
    compact(folder, rows)
    found = check(folder, quiet, Outcome(doctor=DOCTOR))
    assert any(line.startswith("late rows: ") for line in found), found
    assert any(line.startswith("conservation: ") for line in found), found


def test_the_last_revision_and_the_highest_fold_count(quiet: Path, tmp_path: Path) -> None:
    """Whatever the files before them say."""
    folder = tmp_path / "disturbed"
    shutil.copytree(quiet, folder)
    index = folder / "checkpoint/eventtide/late"
    right = (index / "1").read_text()
    entry(folder, 1, 9)
    assert check(folder, quiet, Outcome(doctor=DOCTOR))
    (index / "1.10").write_text(right)
    (index / "1.9").write_text((index / "1").read_text())
    assert check(folder, quiet, Outcome(doctor=DOCTOR)) == []
    both = ["v1", (index / "0").read_text().splitlines()[1], right.splitlines()[1]]
    (index / "fold1-0-1").write_text("\n".join(both))
    (index / "1.10").unlink()
    assert check(folder, quiet, Outcome(doctor=DOCTOR)) == []


def _result(folder: Path) -> None:
    (folder / "results/1.a.jsonl").write_text('{"window": 1, "user": "a", "ids": [2]}\n')


def _lost(folder: Path) -> None:
    (folder / "results/1.a.jsonl").write_text("")


def _replay(folder: Path) -> None:
    (folder / "results/1.b.jsonl").write_text('{"window": 1, "user": "b", "ids": [3]}\n')


def _late_row(folder: Path) -> None:
    late_log(folder, 1, [{"id": 7, "_reason": "bad_time"}])
    entry(folder, 1, 2)


def _twice(folder: Path) -> None:
    late_log(folder, 1, [{"id": 2, "_reason": "bad_time"}])
    entry(folder, 1, 2)


def _file(folder: Path) -> None:
    (folder / "checkpoint/late/1-0.parquet").unlink()


def _length(folder: Path) -> None:
    with (folder / "checkpoint/late/1-0.parquet").open("ab") as file:
        file.write(b"x")


def _tail(folder: Path) -> None:
    (folder / "checkpoint/eventtide/late/1").unlink()


def _head(folder: Path) -> None:
    (folder / "checkpoint/eventtide/late/0").unlink()


def _total(folder: Path) -> None:
    entry(folder, 1, 5)


def _source(folder: Path) -> None:
    with (folder / "source-0.jsonl").open("a") as file:
        file.write('{"id": 9}\n')


def _mark(folder: Path) -> None:
    lines = json.dumps({"batchWatermarkMs": -1})
    (folder / "checkpoint/offsets/1").write_text(f"v1\n{lines}\n1\n")


@pytest.mark.parametrize(
    ("plant", "invariant"),
    [
        (_result, "results"),
        (_lost, "results"),
        (_replay, "replay"),
        (_late_row, "late rows"),
        (_twice, "conservation"),
        (_file, "files"),
        (_length, "files"),
        (_tail, "total"),
        (_head, "index"),
        (_total, "index"),
        (_source, "conservation"),
        (_mark, "watermark"),
    ],
)
def test_a_violation_is_found(
    quiet: Path, tmp_path: Path, plant: Callable[[Path], None], invariant: str
) -> None:
    """By the name of the invariant."""
    folder = tmp_path / "disturbed"
    shutil.copytree(quiet, folder)
    plant(folder)
    found = check(folder, quiet, Outcome(doctor=DOCTOR))
    assert any(line.startswith(f"{invariant}: ") for line in found), found


def test_the_doctor_has_to_say_so(quiet: Path, tmp_path: Path) -> None:
    """When a file is gone; and only then."""
    folder = tmp_path / "disturbed"
    shutil.copytree(quiet, folder)
    assert check(folder, quiet, Outcome(doctor=SAYS)) == ["doctor: it names ['it is missing']"]
    _file(folder)
    silent = check(folder, quiet, Outcome(doctor=DOCTOR))
    assert "doctor: it names no problem" in silent
    assert "doctor: it names no problem" not in check(folder, quiet, Outcome(doctor=SAYS))


def test_a_restart_that_fails_and_an_error_without_a_name_are_found(quiet: Path) -> None:
    """Whatever the files are like."""
    outcome = Outcome([("len < 0", False), ("chaos: halted", True)], "it is missing", DOCTOR)
    found = check(quiet, quiet, outcome)
    assert found == ["unnamed error: len < 0", "plain restart: it is missing"]


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (None, True),
        ("StreamingQueryException: chaos: it fails before list commits", True),
        ("CheckpointError [] The ledger ...", True),
        ("StreamingQueryException: [STREAM_FAILED] Query [id = 7] ... len < 0", False),
        ("StreamingQueryException: [STREAM_FAILED] [CONCURRENT_STREAM_LOG_UPDATE] ...", True),
        ("StreamingQueryException: [STREAM_FAILED] <- [INTERNAL_ERROR] The Spark ...", False),
        ("SparkException: [INTERNAL_ERROR_EXECUTOR] ...", False),
        (
            "StreamingQueryException: [STREAM_FAILED] <- [CANNOT_LOAD_STATE_STORE.UNCATEGORIZED]",
            True,
        ),
        ("Py4JJavaError: java.lang.NullPointerException", False),
        ("E: [CANNOT_WRITE_STATE_STORE] <- java.lang.NullPointerException: null", False),
        ("E: [CANNOT_WRITE_STATE_STORE] <- java.io.IOException: No space left", True),
        ("StreamingQueryException: assertion failed in chaos://a7/checkpoint", False),
    ],
)
def test_which_errors_have_a_name(error: str | None, *, named: bool) -> None:
    """Eventtide's, those with a condition of Spark's, and the faults themselves."""
    assert is_named(error) == named


def test_why_tasks_have_failed(tmp_path: Path) -> None:
    """As Spark logs it; the executor of a task may be gone."""
    log = tmp_path / "log"
    at = "Lost task 0.0 in stage 3.0 (TID 7) (127.0.0.1 executor 1): "
    why = ["ExecutorLostFailure (executor 1 exited)", "java.lang.NullPointerException: null"]
    log.write_text("".join(f"26/01/01 12:00:00 WARN TaskSetManager: {at}{one}\n" for one in why))
    assert lost_tasks(log) == why


def test_a_play_with_the_clock_finds_rows_that_are_nowhere_or_twice() -> None:
    """But for the last ones, whose windows are open."""
    play = Play(Case("with_fixed_lag", "an hour ahead", "within a run", limited=True), [])
    play._rows, play.results = 7, [Row(ids=[0, 1]), Row(ids=[3])]
    assert list(play._astray([2, 4])) == []
    play.results[0] = Row(ids=[0, 4])
    assert list(play._astray([2, 4])) == [
        "conservation: 1 rows are given twice, such as 4",
        "conservation: 1 rows are nowhere, such as 1",
    ]


def test_luck_does_not_undo_a_failure(tmp_path: Path) -> None:
    """Neither on the same engine, nor with fewer kills."""
    figures = Figures("random", tmp_path)
    figures.add(seed=5, kills=3, violations=["lost"])
    cases: list[dict[str, Any]] = [{"kills": 3}, {"kills": 2, "commit": "a later one"}]
    for about in cases:
        figures.add(seed=5, violations=[], **about)
        assert not figures.done()
    figures.add(seed=5, kills=3, violations=[], commit="a later one")
    assert figures.done() == {(5,)}


def test_a_case_is_tried_again_until_it_goes_well(tmp_path: Path) -> None:
    """With its seed, before new ones, which come after those of other commits too."""
    figures = Figures("drivers", tmp_path)
    figures.add(seed=5, violations=["lost"])
    figures.add(seed=6, violations=[])
    assert list(islice(figures.seeds(1), 3)) == [5, 7, 8]
    figures.add(seed=5, commit="a later one", violations=[])
    assert figures.done() == {(5,), (6,)}
    assert [trial["violations"] for trial in figures.trials()] == [[], []]
    figures.file.write_text(figures.file.read_text().replace(commit(), "0123456789"))
    assert list(islice(figures.seeds(1), 2)) == [7, 8]


def test_two_processes_do_not_take_the_same_seeds(tmp_path: Path) -> None:
    """The second is refused; other campaigns go on beside the first."""
    random, drivers = Figures("random", tmp_path), Figures("drivers", tmp_path)
    refused = pytest.raises(SystemExit, match="this campaign runs already")
    with random.alone(), drivers.alone(), refused, random.alone():
        pytest.fail("both run")
    with random.alone():
        pass
