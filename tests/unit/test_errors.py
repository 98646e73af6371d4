"""The error tree, the names that cross from the JVM, and the form of a message."""

from __future__ import annotations

import pickle

import eventtide
import pytest
from eventtide import errors
from eventtide.errors import BY_NAME, EventtideError, from_jvm, sentence


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        ("InvalidArgumentError", ValueError),
        ("ArgumentTypeError", TypeError),
        ("InvalidDurationError", ValueError),
        ("UnknownColumnError", LookupError),
        ("ColumnTypeError", TypeError),
        ("UnsupportedPlanError", RuntimeError),
        ("DuplicateWatermarkError", RuntimeError),
        ("CheckpointError", RuntimeError),
        ("ClockError", RuntimeError),
        ("RefusedDataError", RuntimeError),
        ("LateHandlerError", RuntimeError),
        ("SetupError", RuntimeError),
        ("UnsupportedSparkError", RuntimeError),
    ],
)
def test_each_error_is_also_the_builtin_that_fits(error: str, builtin: type[BaseException]) -> None:
    """`except ValueError` and the like work as usual."""
    assert issubclass(BY_NAME[error], EventtideError)
    assert issubclass(BY_NAME[error], builtin)


def test_every_error_is_public_and_drawn_in_the_tree() -> None:
    """The drawing at the top of the module and the package's names are complete."""
    assert set(BY_NAME) == set(errors.__all__)
    for name in BY_NAME:
        assert getattr(eventtide, name) is BY_NAME[name]
        assert name in str(errors.__doc__)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_an_error_of_the_jvm_becomes_the_class_it_names(name: str) -> None:
    """The JVM raises the same classes, with its own finished message."""
    error = from_jvm(name, "lag=-1 is negative.")
    assert type(error) is BY_NAME[name]
    assert str(error) == "lag=-1 is negative."


def test_an_error_class_of_a_newer_jar_keeps_its_name() -> None:
    """Nothing is lost when the JVM knows more errors than Python."""
    assert str(from_jvm("NewError", "what happened")) == "NewError: what happened"


@pytest.mark.parametrize("error", BY_NAME.values())
def test_errors_are_picklable(error: type[EventtideError]) -> None:
    """They cross process borders, as in a test run on several processes."""
    copy = pickle.loads(pickle.dumps(error("a message")))  # noqa: S301 - our own bytes
    assert type(copy) is error
    assert str(copy) == "a message"


def test_a_long_value_is_shortened_in_a_message() -> None:
    """An error about a long text stays readable."""
    message = sentence("lag", "x" * 10_000, "is no duration", allowed="text", fix="lag='5s'")
    assert len(message) < 200
