"""`read_late`: what crosses to the JVM, and what is refused before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import clean_late, compact_late, forget_late_reader, read_late
from eventtide.errors import (
    ArgumentTypeError,
    CheckpointError,
    InvalidArgumentError,
    SetupError,
)
from eventtide.observe import LateCompaction
from pyspark.sql import SparkSession

from tests.unit.fakes import FakeSession, WrappedFrame, ours, raised

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

    from tests.unit.fakes import FakeDoor

SESSION = FakeSession()


@pytest.mark.parametrize("checkpoint", ["/data/checkpoint", Path("/data/checkpoint")])
def test_a_checkpoint_crosses_as_text(door: FakeDoor, checkpoint: str | Path) -> None:
    """The answer is a DataFrame of the session that was given."""
    late = read_late(checkpoint, spark=SESSION)
    assert isinstance(late, WrappedFrame)
    assert (late._jdf, late.session) == (door.answer, SESSION)
    assert door.calls == [("readLate", "the java session", {"checkpoint": "/data/checkpoint"})]


def test_a_query_is_asked_for_its_checkpoint(door: FakeDoor, query: StreamingQuery) -> None:
    """The JVM knows where it is, and when there is a log in it."""
    door.answer = "file:/tmp/temporary"
    read_late(query, spark=SESSION)
    assert door.calls == [
        ("checkpointOf", query._jsq),
        ("awaitLateLog", query._jsq),
        ("readLate", "the java session", {"checkpoint": "file:/tmp/temporary"}),
    ]


def test_one_of_several_windows_is_chosen_by_its_number(door: FakeDoor) -> None:
    """As text, like every option."""
    read_late("/data/checkpoint", window=1, spark=SESSION)
    assert door.calls[0][2] == {"checkpoint": "/data/checkpoint", "window": "1"}


def test_what_there_is_of_a_log_is_asked_for(door: FakeDoor) -> None:
    """Only where it is: the JVM refuses otherwise."""
    read_late("/data/checkpoint", missing="skip", spark=SESSION)
    assert door.calls[0][2] == {"checkpoint": "/data/checkpoint", "missing": "skip"}
    with pytest.raises(InvalidArgumentError, match=r"missing='drop' is unknown.*'fail', 'skip'"):
        read_late("/data/checkpoint", missing="drop", spark=SESSION)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("late_to", "crosses"),
    [((), []), ("/a", ["/a"]), (Path("/a"), ["/a"]), (["/a", Path("/b")], ["/a", "/b"])],
)
def test_folders_to_clean_cross_as_text(
    door: FakeDoor, late_to: str | Path | list[str | Path], crosses: list[str]
) -> None:
    """None unless they are named."""
    door.answer = []
    assert clean_late("/data/checkpoint", late_to=late_to, spark=SESSION) == []
    assert door.calls == [("cleanLate", "the java session", "/data/checkpoint", False, crosses)]


def test_a_compaction_says_what_it_has_done(door: FakeDoor) -> None:
    """How many batches, and files before and after."""
    door.answer = [20, 40, 2]
    done = compact_late("/data/checkpoint", late_to="/a", spark=SESSION)
    assert done == LateCompaction(batches=20, files_before=40, files_after=2)
    assert door.calls == [("compactLate", "the java session", "/data/checkpoint", ["/a"])]


def test_a_reader_is_forgotten_by_its_id(door: FakeDoor) -> None:
    """A text, and nothing else."""
    forget_late_reader("/data/checkpoint", "a-0", spark=SESSION)
    assert door.calls == [("forgetLateReader", "the java session", "/data/checkpoint", "a-0")]
    with pytest.raises(ArgumentTypeError, match=r"reader=7 .*the id of a reader"):
        forget_late_reader("/data/checkpoint", 7, spark=SESSION)  # type: ignore[arg-type]


@pytest.mark.parametrize("action", [clean_late, compact_late])
@pytest.mark.parametrize(
    ("late_to", "error"),
    [(7, ArgumentTypeError), ([7], ArgumentTypeError), ("", InvalidArgumentError)],
)
def test_a_folder_to_clean_is_a_path(
    door: FakeDoor, action: Callable[..., object], late_to: Any, error: type[Exception]
) -> None:
    """With what is allowed."""
    with pytest.raises(error, match=r"late_to=.*Allowed: the path of a folder"):
        action("/data/checkpoint", late_to=late_to, spark=SESSION)
    assert door.calls == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("/data", 7), ArgumentTypeError, r"spark=7 .*Allowed: a SparkSession"),
        ((7, SESSION), ArgumentTypeError, r"query=7 .*a StreamingQuery or a checkpoint location"),
        ((SESSION, None), ArgumentTypeError, r"query=.* has type FakeSession"),
        (("", SESSION), InvalidArgumentError, r"query='' is empty"),
        (("/data", SESSION, "0"), ArgumentTypeError, r"window='0' has type str"),
        (("/data", SESSION, True), ArgumentTypeError, r"window=True has type bool"),
        (("/data", SESSION, -1), InvalidArgumentError, r"window=-1 is out of range"),
    ],
)
def test_a_wrong_argument_is_refused_before_it_crosses(
    door: FakeDoor, arguments: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    """With what is allowed."""
    query, spark, *window = arguments
    with pytest.raises(error, match=message):
        read_late(query, spark=spark, window=window[0] if window else None)
    assert door.calls == []


def test_a_refusal_of_the_jvm_has_its_class(door: FakeDoor) -> None:
    """As everywhere."""
    door.fails_with = raised(ours("CheckpointError"))
    with pytest.raises(CheckpointError):
        read_late("/data/checkpoint", spark=SESSION)


def test_a_query_is_read_in_its_own_session_and_a_path_in_the_active_one(
    door: FakeDoor, query: StreamingQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless another one is given."""
    own, active = FakeSession(), FakeSession()
    monkeypatch.setattr("eventtide._jvm.session_of", {query: own}.get)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: active)
    door.answer = "file:/tmp/temporary"
    read = [read_late(query), read_late(query, spark=SESSION), read_late("/data")]
    sessions = [late.session for late in read if isinstance(late, WrappedFrame)]
    assert sessions == [own, SESSION, active]
    door.answer = []
    assert clean_late(query) == clean_late("/data") == []


def test_without_a_session_the_error_shows_how_to_start_one(
    door: FakeDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path has no session of its own."""
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    fix = r"spark = et\.configure\(SparkSession\.builder\)\.getOrCreate\(\)"
    with pytest.raises(SetupError, match=fix):
        read_late("/data/checkpoint")
    assert door.calls == []
