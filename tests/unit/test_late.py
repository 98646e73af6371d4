"""`read_late`: what crosses to the JVM, and what is refused before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import ArgumentTypeError, CheckpointError, InvalidArgumentError, read_late

from tests.unit.fakes import FakeSession, WrappedFrame, ours, raised

if TYPE_CHECKING:
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
