"""The fuzzer finds what is planted: errors without a name, reads and changes, and hangs."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from eventtide.errors import CheckpointError, InvalidArgumentError
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException, IllegalArgumentException

from tests.chaos.fuzz import campaign, round  # noqa: A004 - the module
from tests.chaos.fuzz.canaries import Canaries
from tests.chaos.fuzz.damage import Signed, damage
from tests.chaos.fuzz.judge import Check, Violation, judge
from tests.chaos.fuzz.kept import files_of
from tests.chaos.fuzz.round import INPUT, Round
from tests.chaos.fuzz.values import ODD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.chaos.fuzz.damage import Files

KEPT = "keys-0.1.0"


@pytest.fixture
def canaries(tmp_path: Path) -> Canaries:
    """Return canaries in a folder of their own."""
    return Canaries(tmp_path / "files")


def raising(error: Exception) -> Callable[[Any], None]:
    """Return a use that fails."""

    def use(_: Any) -> None:
        raise error

    return use


def used(canaries: Canaries, use: Callable[[Any], object], *, reads: bool = False) -> None:
    """Use an input."""
    judge(Check(st.none(), use, 1, lambda _, __: reads), None, canaries)


@pytest.mark.parametrize(
    "error",
    [
        KeyError("name"),
        RecursionError(),
        CheckpointError("a CheckpointError has no condition by itself"),
        AnalysisException("it has no condition"),
        AnalysisException("[INTERNAL_ERROR] oh", errorClass="INTERNAL_ERROR"),
        AnalysisException("[STREAM_FAILED] java.lang.NullPointerException"),
        AnalysisException("[CANNOT_LOAD] java.lang.OutOfMemoryError"),
        OSError("[PARSE_ERROR] that Spark has not raised"),
    ],
    ids=repr,
)
def test_an_error_without_a_name_is_a_violation(canaries: Canaries, error: Exception) -> None:
    """Of Python, of Spark and of Eventtide."""
    with pytest.raises(Violation, match="has no name"):
        used(canaries, raising(error))


@pytest.mark.parametrize(
    "error",
    [
        InvalidArgumentError("lag=5 has no unit"),
        IllegalArgumentException("[INVALID_DURATION] Option 'lag' is '5 sek'"),
        AnalysisException("[PARSE_SYNTAX_ERROR] Syntax error"),
    ],
    ids=repr,
)
def test_an_error_with_a_name_is_none(canaries: Canaries, error: Exception) -> None:
    """Nor is no error."""
    used(canaries, raising(error))
    used(canaries, lambda _: None)


@pytest.mark.parametrize(
    ("use", "wrong"),
    [
        (lambda of: (of / "hidden/secret.txt").read_text(), "was read: hidden/secret.txt"),
        (lambda of: list((of / "named/late").iterdir()), "was read: named/late"),
        (lambda of: (of / "named/secret.txt").unlink(), "was changed: named, named/secret.txt"),
        (lambda of: (of / "named/secret.txt").write_text("x"), "was changed: named/secret.txt"),
        (lambda of: (of / "hidden/late/new").touch(), "was changed: hidden/late"),
        (lambda of: (of / "beside").touch(), "was changed: beside"),
    ],
)
def test_what_is_outside_is_not_touched(
    canaries: Canaries, use: Callable[[Path], object], wrong: str
) -> None:
    """A read counts, unless it is allowed; a change always does. Then they are new."""
    folder = canaries.given.parent
    with pytest.raises(Violation, match=f"^{wrong}"):
        used(canaries, lambda _: use(folder))
    (folder / "beside").unlink(missing_ok=True)
    used(canaries, lambda _: None)


def test_a_read_may_be_allowed(canaries: Canaries) -> None:
    """As of a folder that an input names."""
    file = canaries.given.parent / "named/secret.txt"
    used(canaries, lambda _: file.read_text("utf-8"), reads=True)
    with pytest.raises(Violation, match="was changed"):
        used(canaries, lambda _: file.write_text("", "utf-8"), reads=True)


def test_a_round_makes_what_is_wrong_small(tmp_path: Path) -> None:
    """And ends with it; the rounds of a seed are alike."""

    def use(value: int) -> None:
        if value > 100:
            raise KeyError(value)

    def found() -> tuple[list[str], int]:
        of = Round(tmp_path, 7, time.monotonic() + 100, 1000)
        return of.run(lambda _: [Check(st.integers(), use, 50)]), of.trials

    (wrong,), trials = first = found()
    assert wrong.startswith("101 has no name: KeyError: 101")
    assert 0 < trials < 1000
    assert found() == first


def test_a_round_has_as_many_inputs_as_it_may(tmp_path: Path) -> None:
    """Of all checks in turn, or until the time is over."""
    seen = list[Any]()
    checks = [Check(st.integers(), seen.append, 20), Check(st.text(), seen.append, 20)]
    of = Round(tmp_path, 7, time.monotonic() + 100, 100)
    assert of.run(lambda _: checks) == []
    assert of.trials == len(seen) == 100
    assert {type(value) for value in seen} == {int, str}
    assert Round(tmp_path, 7, time.monotonic() - 1, 100).run(lambda _: checks) == []


def test_a_round_ends_although_no_input_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the time is over, as Hypothesis may draw many that it refuses."""
    clock = count()
    monkeypatch.setattr(round, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    drawn = list[int]()
    of = Round(tmp_path, 7, 20, 100)
    checks = [Check(st.integers().filter(drawn.append), drawn.append, 1000)]
    assert of.run(lambda _: checks) == []
    assert of.trials == 0
    assert 0 < len(drawn) < 100


def test_a_process_that_hangs_or_is_gone_is_a_violation(tmp_path: Path) -> None:
    """With the input that it had; without one, it is an error of the campaign's."""
    command = [sys.executable, "-c", "import time; time.sleep(100)"]
    (tmp_path / "log").write_text("a trace", "utf-8")
    (tmp_path / INPUT).write_text("'an input'", "utf-8")
    with subprocess.Popen(command) as process:  # noqa: S603 - our own
        found = campaign._ended(process, tmp_path, 0.1)
    assert found["violations"] == ["'an input' hangs, or has ended the process: a trace"]
    (tmp_path / INPUT).unlink()
    with pytest.raises(RuntimeError, match="the round is broken: a trace"):
        campaign._ended(process, tmp_path, 0.1)


@pytest.mark.parametrize("path", ["eventtide/plan", "eventtide/ledger/3"])
def test_a_file_that_is_signed_again_is_as_it_was(path: str) -> None:
    """With the content that it had: as Eventtide has written it."""
    whole = files_of(KEPT)[path]
    is_plan = path.endswith("plan")
    head, content = (b"", whole.partition(b"\n")[2]) if is_plan else (whole[:16], whole[16:])
    assert Signed(head, content).whole(content) == whole


def test_odd_values_are_new_each_time() -> None:
    """What an input does with its own is not in the next one, nor in itself."""
    mark = "changed"

    @settings(max_examples=300, database=None)
    @given(ODD, st.integers())  # so that a value comes again
    def change(value: Any, _: int) -> None:
        if isinstance(value, list):
            assert mark not in value
            value.append(mark)
        elif isinstance(value, dict):
            assert mark not in value
            value[mark] = value

    change()


def test_damage_is_of_every_kind() -> None:
    """Files that are others, signed again, gone, new and links."""
    kinds = set[str]()

    @settings(max_examples=300, database=None)
    @given(damage(files_of(KEPT), ("",)))
    def collect(changes: Files) -> None:
        kinds.update(type(content).__name__ for content in changes.values())

    collect()
    assert kinds == {"bytes", "Signed", "Link", "NoneType"}


def test_most_damage_is_where_it_is_aimed() -> None:
    """And some is elsewhere."""
    late, others = list[str](), list[str]()

    @settings(max_examples=300, database=None)
    @given(damage(files_of(KEPT), ("eventtide/late/", "late/")))
    def collect(changes: Files) -> None:
        for path in changes:
            (late if path.startswith(("eventtide/late/", "late/")) else others).append(path)

    collect()
    assert len(late) > len(others) > 0
