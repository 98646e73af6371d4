"""What a worker does with the lines of windows: rows that are held, and rows that are returned."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from eventtide._worker.by_value import ByValue
from eventtide._worker.held import ArrivedRows, HeldRows, Ranges
from eventtide._worker.returned import Returned, in_batches
from eventtide._worker.stage import Stage
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.windows._execution import _OF_WORKERS
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventtide.storm import TupleWindow

SCHEMA = pa.schema([("user", pa.string()), ("n", pa.int64())])
numbers = st.sets(st.integers(0, 40))


def ranges(of: set[int]) -> Ranges:
    """Return numbers as ranges."""
    bounds: list[int] = []
    for number in sorted(of):
        if bounds and bounds[-1] == number:
            bounds[-1] = number + 1
        else:
            bounds += [number, number + 1]
    return Ranges(bounds)


def spelled(of: Ranges) -> set[int]:
    """Return ranges as numbers."""
    return {number for since, until in of for number in range(since, until)}


@given(numbers, numbers)
def test_ranges_are_sets_of_numbers(one: set[int], other: set[int]) -> None:
    """What is in one and not in the other."""
    assert spelled(ranges(one).without(ranges(other))) == one - other
    assert len(ranges(one)) == len(one)


@given(st.lists(st.integers(0, 9), max_size=8), numbers, st.integers(1, 30), st.booleans())
def test_rows_are_found_by_their_numbers(
    pieces: list[int], wanted: set[int], most: int, as_pandas: bool
) -> None:
    """Whatever came together, and wherever it lies."""
    held = HeldRows(as_pandas=as_pandas, most=most)
    arrived = ArrivedRows(table(0, 40))
    held.add(arrived, 0, 0)
    count = 0
    for number, piece in enumerate(pieces):
        if number % 3 == 2:  # of another batch
            arrived = ArrivedRows(table(0, 80))
        held.add(arrived, count, count + piece)
        count += piece
    there = sorted(number for number in wanted if number < count)
    rows = held.take(ranges(set(there)))
    assert (list(rows["n"]) if as_pandas else rows["n"].to_pylist()) == there
    assert list(rows.columns if as_pandas else rows.column_names) == ["n"]


def table(since: int, until: int) -> pa.Table:
    """Return rows that say their numbers."""
    return pa.table({"n": pa.array(range(since, until), pa.int64())})


def add(held: HeldRows, rows: pa.Table) -> None:
    """Let rows come that are all of one key."""
    held.add(ArrivedRows(rows), 0, rows.num_rows)


def test_rows_in_a_file_are_there_for_as_long_as_somebody_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of Spark's, under no name, so that nothing of them is left."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/nowhere")
    held = HeldRows(as_pandas=True, most=10)
    for since in range(0, 100, 10):
        add(held, table(since, since + 10))
    assert [piece.in_memory for piece in held._pieces] == [False] * 9 + [True]
    assert list(held.take(Ranges([5, 95]))["n"]) == list(range(5, 95))
    assert [piece.rows._frame is not None for piece in held._pieces] == [False] * 9 + [True]
    tables = [piece.table for piece in held._pieces]
    held.clear()
    assert [row for one in tables for row in one["n"].to_pylist()] == list(range(100))
    assert not list(tmp_path.iterdir())


def test_types_in_pandas_do_not_depend_on_nulls() -> None:
    """Not on those of rows that a window has not, nor on how long a number is."""
    held = HeldRows(as_pandas=True, most=10)
    large = 2**53 + 1
    columns = {
        "n": pa.array([large, None], pa.int64()),
        "ok": pa.array([True, None]),
        "small": pa.array([None, None], pa.int16()),
        "x": pa.array([0.5, None], pa.float64()),
    }
    add(held, pa.table(columns))
    kinds = {"n": "Int64", "ok": "boolean", "small": "Int16", "x": "float64"}
    for rows in held.take(Ranges([0, 1])), held.take(Ranges([0, 2])), held.take(Ranges([])):
        assert {name: str(kind) for name, kind in rows.dtypes.items()} == kinds
    assert held.take(Ranges([0, 2]))["n"].tolist() == [large, pd.NA]


def test_what_a_function_does_to_its_rows_is_not_seen_by_other_windows() -> None:
    """Each has rows of its own."""
    held = HeldRows(as_pandas=True, most=10)
    add(held, table(0, 5))
    first = held.take(Ranges([0, 4]))
    first["n"] = -1
    first.loc[0, "n"] = 7
    assert list(held.take(Ranges([0, 5]))["n"]) == [0, 1, 2, 3, 4]


def test_rows_that_no_window_needs_are_let_go() -> None:
    """Those of the last window stay, for it to say what has expired."""
    held = HeldRows(as_pandas=False, most=100)
    for since in range(0, 30, 10):
        add(held, table(since, since + 10))
    held.needs(lowest=15, last=Ranges([5, 8, 20, 25]))
    held.forget()
    assert held.take(Ranges([5, 8]))["n"].to_pylist() == [5, 6, 7]
    held.needs(lowest=22, last=Ranges([22, 25]))
    held.forget()
    assert held.take(Ranges([5, 8, 22, 23]))["n"].to_pylist() == [22]


def rows_of(returned: object) -> list[dict[str, Any]]:
    """Return what becomes of a returned value."""
    batches = list(in_batches(Returned(SCHEMA, "UTC").tables(returned)))
    assert all(batch.schema == SCHEMA and batch.num_rows for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def generated() -> Iterator[object]:
    """Return rows in several ways, one after the other."""
    yield {"user": "ada", "n": 1}
    yield None
    yield [{"user": "bob"}]


ADA = {"user": "ada", "n": 3}


@pytest.mark.parametrize(
    ("returned", "rows"),
    [
        (None, []),
        ({"user": float("nan"), "n": pd.NA}, [{"user": None, "n": None}]),
        ({"user": None, "n": np.int32(3)}, [{"user": None, "n": 3}]),
        (pd.DataFrame({"user": ["ada"], "n": pd.array([3], "Int64")}), [ADA]),
        ([], []),
        (ADA, [ADA]),
        ([ADA, {"user": "bob"}], [ADA, {"user": "bob", "n": None}]),
        (pd.DataFrame([ADA]), [ADA]),
        (pd.DataFrame({"n": [3], "user": ["ada"]}, index=[17]), [ADA]),
        (pd.DataFrame({"n": [], "user": []}), []),
        (pa.Table.from_pylist([ADA]), [ADA]),
        (pa.table({"n": pa.array([3], pa.int8()), "user": ["ada"]}), [ADA]),
        (pa.RecordBatch.from_pylist([ADA]), [ADA]),
        (generated(), [{"user": "ada", "n": 1}, {"user": "bob", "n": None}]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rows_may_be_returned_in_any_form(returned: object, rows: list[dict[str, Any]]) -> None:
    """Spark gets them with the columns that were declared, in that order."""
    assert rows_of(returned) == rows


@pytest.mark.parametrize(
    ("returned", "error", "problem"),
    [
        (7, ArgumentTypeError, "returned rows=7 has type int"),
        ("ada", ArgumentTypeError, "returned rows='ada' has type str"),
        ([ADA, 7], ArgumentTypeError, "has type list"),
        ({"name": "ada"}, InvalidArgumentError, "'name'.* are not the columns"),
        (pd.DataFrame({"user": ["ada"]}), InvalidArgumentError, r"\['user'\] are not the columns"),
        (pa.table({"n": [3]}), InvalidArgumentError, r"\['n'\] are not the columns"),
        (pa.table([["a"], ["b"]], ["n", "n"]), InvalidArgumentError, "are not the columns"),
        (pd.DataFrame([["a", 1]]), InvalidArgumentError, r"\[0, 1\] are not the columns"),
        ({"user": "ada", 7: 1}, InvalidArgumentError, "are not the columns"),
        ({"user": "ada", "n": "many"}, InvalidArgumentError, "do not match the columns"),
        ({"user": "ada", "n": 2**70}, InvalidArgumentError, "do not match the columns"),
        ({"user": "\ud800", "n": 1}, InvalidArgumentError, "do not match the columns"),
        (pd.DataFrame({"user": ["a"], "n": ["many"]}), InvalidArgumentError, "do not match"),
        (pa.table({"user": ["a"], "n": ["many"]}), InvalidArgumentError, "do not match"),
    ],
)
def test_what_is_returned_has_to_fit(
    returned: object, error: type[InvalidArgumentError], problem: str
) -> None:
    """The error says what was returned, and what is allowed."""
    with pytest.raises(error, match=problem):
        rows_of(returned)


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("value", [1_704_067_200_000, pd.Series([1_704_067_200_000])])
def test_whole_numbers_are_no_times(zone: str | None, value: object) -> None:
    """Of which unit they are, nobody can know."""
    returned = Returned(pa.schema({"end": pa.timestamp("us", zone)}), "UTC")
    rows = pd.DataFrame({"end": value}) if isinstance(value, pd.Series) else {"end": value}
    with pytest.raises(
        InvalidArgumentError, match="end has whole numbers, and is declared as a ti"
    ):
        list(returned.tables(rows))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_times_without_a_zone_are_in_that_of_the_session(zone: str) -> None:
    """As those that Spark's own functions return; others are what they are."""
    schema = pa.schema([("at", pa.timestamp("us", "UTC")), ("clock", pa.timestamp("us"))])
    naive = datetime(2024, 7, 1, 12)  # noqa: DTZ001 - which is the matter
    aware = naive.replace(tzinfo=ZoneInfo(zone))
    forms = [
        {"at": naive, "clock": naive},
        {"at": aware, "clock": naive},
        pd.DataFrame({"at": [naive], "clock": [naive]}),
        pd.DataFrame({"at": pd.to_datetime([aware]), "clock": [naive]}),
        pa.table({"at": pa.array([naive]), "clock": pa.array([naive])}),
    ]
    for form in forms:
        (table,) = Returned(schema, zone).tables(form)
        assert table.to_pylist() == [{"at": aware, "clock": naive}]
    (nothing,) = Returned(schema, zone).tables({"at": pd.NaT})
    assert nothing.to_pylist() == [{"at": None, "clock": None}]


ROW = pa.struct([("id", pa.int64())])
WINDOW = pa.struct(
    [
        ("start", pa.timestamp("us", "UTC")),
        ("end", pa.timestamp("us", "UTC")),
        ("rows", pa.binary()),
        ("lowest", pa.int32()),
    ]
)
KEY = pa.struct([("key", pa.struct([("user", pa.string())])), ("before", pa.binary())])


def lines(*of: dict[str, Any]) -> pa.RecordBatch:
    """Return lines as the JVM sends them."""
    columns = {"_window": WINDOW, "_rows": pa.list_(ROW), "_key": KEY}
    return pa.RecordBatch.from_pydict(
        {name: pa.array([line[name] for line in of], kind) for name, kind in columns.items()}
    )


def line(
    *ids: int, window: dict[str, Any] | None = None, key: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a line with rows."""
    return {"_window": window, "_rows": [{"id": number} for number in ids], "_key": key}


def key(user: str, *before: int) -> dict[str, Any]:
    """Return what the first line of a key has."""
    return {"key": {"user": user}, "before": packed(before)}


def packed(numbers: tuple[int, ...]) -> bytes:
    """Return numbers as the JVM sends them."""
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def window(end: int, lowest: int, *rows: int) -> dict[str, Any]:
    """Return what the line of a window has."""
    at = datetime.fromtimestamp(end, timezone.utc)
    return {"start": None, "end": at, "rows": packed(rows), "lowest": lowest}


LINES = [
    line(10, 11, key=key("ada", 0, 1)),
    line(12, window=window(5, 1, 1, 3)),
    line(13, window=window(6, 2, 2, 4)),
    line(window=window(7, 3, 3, 4)),
    line(20, 21, window=window(8, 0, 0, 1), key=key("bob")),
    line(window=window(9, 1, 1, 2)),
]
WINDOWS = [
    ("ada", 5, [11, 12], [11, 12], [10]),
    ("ada", 6, [12, 13], [13], [11]),
    ("ada", 7, [13], [], [12]),
    ("bob", 8, [20], [20], []),
    ("bob", 9, [21], [21], [20]),
]


@pytest.mark.parametrize("cut", range(1, len(LINES) + 1))
@pytest.mark.parametrize("as_pandas", [True, False], ids=["pandas", "arrow"])
def test_windows_are_put_together_wherever_batches_are_cut(cut: int, as_pandas: bool) -> None:
    """Each with its key, its rows, and what is new and has expired."""
    seen = []

    def note(given_: TupleWindow[Any]) -> None:
        of = (given_.get(), given_.get_new(), given_.get_expired())
        ids = (list(rows["id"]) if as_pandas else rows["id"].to_pylist() for rows in of)
        assert given_.start_timestamp is None
        seen.append((given_.key["user"], given_.end_timestamp.timestamp(), *ids))

    stage = Stage(note, SCHEMA, zone="UTC", as_pandas=as_pandas, most=2)
    batches = [lines(*LINES[since : since + cut]) for since in range(0, len(LINES), cut)]
    assert list(stage(iter(batches))) == []
    assert seen == WINDOWS


def test_a_window_prints_what_tells_it_from_others() -> None:
    """Its key, its bounds and its rows."""
    shown: list[str] = []
    stage = Stage(lambda one: shown.append(repr(one)), SCHEMA, zone="UTC", as_pandas=False, most=2)
    list(stage(iter([lines(*LINES)])))
    assert shown[0] == (
        "<TupleWindow {'user': 'ada'} up to 1970-01-01T00:00:05+00:00, Ranges([1, 3])>"
    )


def test_what_windows_return_comes_together() -> None:
    """A batch for each would cost more than the rows."""
    tables = [pa.Table.from_pylist([ADA] * rows, schema=SCHEMA) for rows in (1, 2, 9_997, 3, 4)]
    assert [batch.num_rows for batch in in_batches(iter(tables))] == [10_000, 7]


WORKER = """
import pickle, sys
sys.modules["eventtide"] = None  # as where it is not installed
import pyarrow as pa
stage, batches = pickle.load(sys.stdin.buffer)
print([batch.to_pylist() for batch in stage(iter(batches))])
"""


def counted(one: TupleWindow[Any]) -> dict[str, Any]:
    """Return what a function may return."""
    return {"user": one.key["user"], "n": len(one.get())}


def test_workers_need_no_eventtide() -> None:
    """The function goes to them with what it needs."""
    stage = Stage(counted, SCHEMA, zone="UTC", as_pandas=True, most=2)
    pickling: Any = cloudpickle  # which has no types
    pickling.register_pickle_by_value(sys.modules[__name__])  # as a script's own functions go
    sent = pickling.dumps((ByValue(stage, *_OF_WORKERS), [lines(*LINES)]))
    pickling.unregister_pickle_by_value(sys.modules[__name__])
    assert not pickling.list_registry_pickle_by_value()
    command = [sys.executable, "-c", WORKER]
    done = subprocess.run(command, input=sent, capture_output=True, check=True)  # noqa: S603
    assert eval(done.stdout) == [  # noqa: S307 - what our own code has printed
        [{"user": user, "n": len(rows)} for user, _, rows, _, _ in WINDOWS]
    ]


def test_a_window_is_good_for_one_call() -> None:
    """Kept longer, it would have the rows of other windows, or of another key."""
    kept: list[TupleWindow[Any]] = []
    stage = Stage(kept.append, SCHEMA, zone="UTC", as_pandas=True, most=2)
    list(stage(iter([lines(*LINES)])))
    for window_ in kept:
        with pytest.raises(InvalidArgumentError, match="was kept beyond the call"):
            window_.get()
