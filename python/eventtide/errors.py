"""Every error that eventtide raises, in one tree.

    EventtideError
    +-- InvalidArgumentError      an argument is wrong (also ValueError)
    |   +-- ArgumentTypeError     it has the wrong type (also TypeError)
    |   +-- InvalidDurationError  it is no duration, or none that is allowed there
    |   +-- UnknownColumnError    it names a column that is not there (also LookupError)
    |   +-- ColumnTypeError       it names a column of the wrong type (also TypeError)
    +-- UnsupportedPlanError      the query cannot be right (also RuntimeError)
    |   +-- DuplicateWatermarkError   it has two watermarks on one stream
    +-- CheckpointError           the checkpoint does not fit the query (also RuntimeError)
    +-- ClockError                the machine's clock went too far by itself (also RuntimeError)
    +-- RefusedDataError          the rows broke a limit that the query set (also RuntimeError)
    +-- LateHandlerError          a handler of late rows has failed (also RuntimeError)
    +-- SetupError                the session cannot run eventtide (also RuntimeError)
        +-- UnsupportedSparkError     it runs a Spark version that eventtide has no jar for

Each class is also the builtin that fits, so that ``except ValueError`` works as usual. A message
names the argument and its value, what is allowed, and what to do next. The JVM half raises the
same classes: its exception carries the name of one of them, and `from_jvm` finds it.
"""

from __future__ import annotations

from reprlib import Repr
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "ArgumentTypeError",
    "CheckpointError",
    "ClockError",
    "ColumnTypeError",
    "DuplicateWatermarkError",
    "EventtideError",
    "InvalidArgumentError",
    "InvalidDurationError",
    "LateHandlerError",
    "RefusedDataError",
    "SetupError",
    "UnknownColumnError",
    "UnsupportedPlanError",
    "UnsupportedSparkError",
]


class EventtideError(Exception):
    """Base of every error that eventtide raises.

    .. versionadded:: 0.1

    Attributes
    ----------
    condition : str or None
        What is wrong in one word, such as ``"CHECKPOINT_PLAN_CHANGED"``, where the JVM half found
        it. Spark's listeners have it too, and so has ``getCondition()`` of the error that PySpark
        raises outside of `named_errors`.
    """

    condition: str | None = None


class InvalidArgumentError(EventtideError, ValueError):
    """An argument has a value that is not allowed.

    .. versionadded:: 0.1
    """


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument has a type that is not allowed.

    .. versionadded:: 0.1
    """


class InvalidDurationError(InvalidArgumentError):
    """An argument is not a duration, or not one that is allowed in its place.

    .. versionadded:: 0.1
    """


class UnknownColumnError(InvalidArgumentError, LookupError):
    """An argument names a column that the DataFrame does not have.

    .. versionadded:: 0.1
    """


class ColumnTypeError(InvalidArgumentError, TypeError):
    """An argument names a column whose type does not fit, such as text as event time.

    .. versionadded:: 0.1
    """


class UnsupportedPlanError(EventtideError, RuntimeError):
    """The query has a shape whose result could not be right.

    .. versionadded:: 0.1
    """


class DuplicateWatermarkError(UnsupportedPlanError):
    """A stream has a second watermark, by eventtide or by Spark.

    .. versionadded:: 0.1
    """


class CheckpointError(EventtideError, RuntimeError):
    """The checkpoint was written by another query, or by a version that cannot be read.

    .. versionadded:: 0.1
    """


class ClockError(EventtideError, RuntimeError):
    """The machine's clock went forward by itself, further than ``max_clock_step`` allows.

    .. versionadded:: 0.1

    What the query has is right: once the clock is, a start goes on.
    """


class RefusedDataError(EventtideError, RuntimeError):
    """The rows broke a limit that the query set, such as ``max_substreams``.

    .. versionadded:: 0.1
    """


class LateHandlerError(EventtideError, RuntimeError):
    """The handler of a window's late rows has failed, and its query was stopped.

    .. versionadded:: 0.1

    The handler's own exception is its ``__cause__``.
    """


class SetupError(EventtideError, RuntimeError):
    """The Spark session cannot run eventtide; the message says which setting to write.

    .. versionadded:: 0.1
    """


class UnsupportedSparkError(SetupError):
    """The Spark version is not one of those that eventtide has a jar for.

    .. versionadded:: 0.1
    """


def _tree(root: type[EventtideError]) -> Iterator[type[EventtideError]]:
    yield root
    for branch in root.__subclasses__():
        yield from _tree(branch)


BY_NAME: Mapping[str, type[EventtideError]] = MappingProxyType(
    {error.__name__: error for error in _tree(EventtideError)}
)
"""The names that ``EventtideException.pythonClass()`` may return in the JVM."""


def from_jvm(error_class: str, message: str) -> EventtideError:
    """Return the Python error for an error of the JVM half.

    Parameters
    ----------
    error_class : str
        A name in `BY_NAME`. A name this version does not know becomes a plain `EventtideError`
        that starts with the name, so that nothing is lost.
    message : str
        The finished message.

    Examples
    --------
    >>> from_jvm("CheckpointError", "frame size: the checkpoint has 1s, the query has 2s.")
    CheckpointError('frame size: the checkpoint has 1s, the query has 2s.')
    >>> from_jvm("NewerError", "no such tide")
    EventtideError('NewerError: no such tide')
    """
    if error_class in BY_NAME:
        return BY_NAME[error_class](message)
    return EventtideError(f"{error_class}: {message}")


_short = Repr()
_short.maxstring = _short.maxother = 80


def sentence(name: str, value: object, problem: str, *, allowed: str, fix: str) -> str:
    """Compose the message of an error about an argument: problem, what is allowed, next step.

    Parameters
    ----------
    name, value
        The argument as the caller wrote it; a long value is shortened.
    problem : str
        What is wrong, read after ``name=value``.
    allowed : str
        What may stand there.
    fix : str
        The next step, best as code to paste.

    Examples
    --------
    >>> print(sentence("lag", 5, "has no unit", allowed="text or a timedelta", fix="lag='5s'"))
    lag=5 has no unit. Allowed: text or a timedelta. Try: lag='5s'.
    """
    return f"{name}={_short.repr(value)} {problem}. Allowed: {allowed}. Try: {fix}."


def refused(
    name: str, value: object, problem: str, *, allowed: str, fix: str
) -> InvalidArgumentError:
    """Return the error about an argument whose value is not allowed; see `sentence`."""
    return InvalidArgumentError(sentence(name, value, problem, allowed=allowed, fix=fix))
