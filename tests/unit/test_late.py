"""`read_late`: what crosses to the JVM, and what is refused before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import (
    ArgumentTypeError,
    CheckpointError,
    InvalidArgumentError,
    LateCompaction,
    clean_late,
    compact_late,
    forget_late_reader,
    read_late,
)

from tests.unit.fakes import FakeSession, WrappedFrame, ours, raised

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

    from tests.unit.fakes import FakeDoor

SESSION = FakeSession()


@pytest.mark.parametrize("checkpoint", ["/data/checkpoint", Path("/data/checkpoint")])
def test_a_checkpoint_crosses_as_text(door: FakeDoor, checkpoint: str | Path) -> None:
    """The answer is a DataFrame of the session that was given."""
    late = read_late(SESSION, checkpoint)
    assert isinstance(late, WrappedFrame)
    assert (late._jdf, late.session) == (door.answer, SESSION)
    assert door.calls == [("readLate", "the java session", {"checkpoint": "/data/checkpoint"})]


def test_a_query_is_asked_for_its_checkpoint(door: FakeDoor, query: StreamingQuery) -> None:
    """The JVM knows where it is, and when there is a log in it."""
    door.answer = "file:/tmp/temporary"
    read_late(SESSION, query)
    assert door.calls == [
        ("checkpointOf", query._jsq),
        ("awaitLateLog", query._jsq),
        ("readLate", "the java session", {"checkpoint": "file:/tmp/temporary"}),
    ]


def test_one_of_several_windows_is_chosen_by_its_number(door: FakeDoor) -> None:
    """As text, like every option."""
    read_late(SESSION, "/data/checkpoint", window=1)
    assert door.calls[0][2] == {"checkpoint": "/data/checkpoint", "window": "1"}


def test_what_there_is_of_a_log_is_asked_for(door: FakeDoor) -> None:
    """Only where it is: the JVM refuses otherwise."""
    read_late(SESSION, "/data/checkpoint", missing="skip")
    assert door.calls[0][2] == {"checkpoint": "/data/checkpoint", "missing": "skip"}
    with pytest.raises(InvalidArgumentError, match=r"missing='drop' is unknown.*'fail', 'skip'"):
        read_late(SESSION, "/data/checkpoint", missing="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("late_to", "crosses"),
    [((), []), ("/a", ["/a"]), (Path("/a"), ["/a"]), (["/a", Path("/b")], ["/a", "/b"])],
)
def test_folders_to_clean_cross_as_text(
    door: FakeDoor, late_to: str | Path | list[str | Path], crosses: list[str]
) -> None:
    """None unless they are named."""
    door.answer = []
    assert clean_late(SESSION, "/data/checkpoint", late_to=late_to) == []
    assert door.calls == [("cleanLate", "the java session", "/data/checkpoint", False, crosses)]


def test_a_compaction_says_what_it_has_done(door: FakeDoor) -> None:
    """How many batches, and files before and after."""
    door.answer = [20, 40, 2]
    done = compact_late(SESSION, "/data/checkpoint", late_to="/a")
    assert done == LateCompaction(batches=20, files_before=40, files_after=2)
    assert door.calls == [("compactLate", "the java session", "/data/checkpoint", ["/a"])]


def test_a_reader_is_forgotten_by_its_id(door: FakeDoor) -> None:
    """A text, and nothing else."""
    forget_late_reader(SESSION, "/data/checkpoint", "a-0")
    assert door.calls == [("forgetLateReader", "the java session", "/data/checkpoint", "a-0")]
    with pytest.raises(ArgumentTypeError, match=r"reader=7 .*the id of a reader"):
        forget_late_reader(SESSION, "/data/checkpoint", 7)  # type: ignore[arg-type]


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
        action(SESSION, "/data/checkpoint", late_to=late_to)
    assert door.calls == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None, "/data"), ArgumentTypeError, r"Allowed: a SparkSession"),
        ((SESSION, 7), ArgumentTypeError, r"of=7 .*a checkpoint location or a StreamingQuery"),
        ((SESSION, ""), InvalidArgumentError, r"of='' is empty"),
        ((SESSION, "/data", "0"), ArgumentTypeError, r"window='0' has type str"),
        ((SESSION, "/data", True), ArgumentTypeError, r"window=True has type bool"),
        ((SESSION, "/data", -1), InvalidArgumentError, r"window=-1 is out of range"),
    ],
)
def test_a_wrong_argument_is_refused_before_it_crosses(
    door: FakeDoor, arguments: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    """With what is allowed."""
    spark, of, *window = arguments
    with pytest.raises(error, match=message):
        read_late(spark, of, window=window[0] if window else None)
    assert door.calls == []


def test_a_refusal_of_the_jvm_has_its_class(door: FakeDoor) -> None:
    """As everywhere."""
    door.fails_with = raised(ours("CheckpointError"))
    with pytest.raises(CheckpointError):
        read_late(SESSION, "/data/checkpoint")
