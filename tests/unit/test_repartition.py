"""`repartition`: what crosses to the JVM, and what is refused before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eventtide.errors import ArgumentTypeError, CheckpointError, InvalidArgumentError
from eventtide.observe import repartition

from tests.unit.fakes import FakeSession, ours, raised

if TYPE_CHECKING:
    from tests.unit.fakes import FakeDoor

SESSION = FakeSession()


@pytest.mark.parametrize("checkpoint", ["/data/checkpoint", Path("/data/checkpoint")])
def test_a_checkpoint_and_a_number_cross(door: FakeDoor, checkpoint: str | Path) -> None:
    """The answer is the number before."""
    door.answer = 200
    assert repartition(checkpoint, 16, spark=SESSION) == 200
    assert door.calls == [("repartition", "the java session", "/data/checkpoint", 16)]


@pytest.mark.parametrize(
    ("partitions", "error", "message"),
    [
        (0, InvalidArgumentError, r"partitions=0 is out of range.*from 1 to .*partitions=16"),
        (2**31, InvalidArgumentError, r"partitions=2147483648 is out of range"),
        (2.5, ArgumentTypeError, r"partitions=2\.5 has type float"),
        ("16", ArgumentTypeError, r"partitions='16' has type str"),
        (True, ArgumentTypeError, r"partitions=True has type bool"),
    ],
)
def test_a_number_that_is_none_is_refused_before_it_crosses(
    door: FakeDoor, partitions: Any, error: type[Exception], message: str
) -> None:
    """With what is allowed."""
    with pytest.raises(error, match=message):
        repartition("/data/checkpoint", partitions, spark=SESSION)
    assert door.calls == []


def test_a_refusal_of_the_jvm_has_its_class(door: FakeDoor) -> None:
    """As everywhere."""
    door.fails_with = raised(ours("CheckpointError"))
    with pytest.raises(CheckpointError):
        repartition("/data/checkpoint", 16, spark=SESSION)
