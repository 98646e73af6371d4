"""Every error that eventtide raises, in one tree.

    EventtideError
    +-- InvalidArgumentError      an argument is not valid (also ValueError)
    |   +-- ArgumentTypeError     it has the wrong type (also TypeError)
    |   +-- InvalidDurationError  it is not a duration, or not an allowed duration
    |   +-- UnknownColumnError    it names a column that does not exist (also LookupError)
    |   +-- ColumnTypeError       it names a column of the wrong type (also TypeError)
    +-- UnsupportedPlanError      the query's result would be wrong (also RuntimeError)
    |   +-- DuplicateWatermarkError   it has two watermarks on one stream
    +-- CheckpointError           the checkpoint does not match the query (also RuntimeError)
    +-- ClockError                the machine's clock jumped forward too far (also RuntimeError)
    +-- PolicyError               a custom watermark policy has failed (also RuntimeError)
    +-- RefusedDataError          the rows exceed a limit of the query (also RuntimeError)
    +-- LateHandlerError          a late-row handler has failed (also RuntimeError)
    +-- SetupError                the session cannot run eventtide (also RuntimeError)
        +-- UnsupportedSparkError     eventtide has no jar for its Spark version

Each class also derives from the matching builtin, so that ``except ValueError`` works as usual. A
message names the argument and its value, the allowed values, and the next step. If the package has
the address of its docs, the message ends with the address of the error in the docs. The JVM code
raises the same errors: its report has the name of a class, which `from_report` looks up.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, metadata
from reprlib import Repr
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.metadata import PackageMetadata

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
    "PolicyError",
    "RefusedDataError",
    "SetupError",
    "UnknownColumnError",
    "UnsupportedPlanError",
    "UnsupportedSparkError",
]


class EventtideError(Exception):
    """Base of every error that eventtide raises.

    The message is built from the fields. A field is None if an error has no such part.

    Attributes
    ----------
    condition : str or None
        The error condition, such as ``"CHECKPOINT_PLAN_CHANGED"`` or ``"INVALID_ARGUMENT"``. For an
        error raised in the JVM, Spark listeners receive the same condition. ``getCondition()`` of
        the error that PySpark raises outside of `named_errors` returns it, too.
    argument : str or None
        The name of the argument, setting or column.
    value : object
        Its value, as the caller wrote it.
    problem : str or None
        The problem with the value.
    allowed : str or None
        The allowed values.
    fix : str or None
        The next step, often as code to paste.
    line : int or None
        The line in a YAML document, from 1.
    parameters : dict of str to str
        The values in the message of an error raised in the JVM, by name.

    Examples
    --------
    >>> try:
    ...     raise refused("lag", 5, "has no unit", allowed="text or a timedelta", fix="lag='5s'")
    ... except EventtideError as error:
    ...     print(error.condition, error.argument, error.value, error.fix)
    INVALID_ARGUMENT lag 5 lag='5s'
    """

    condition: str | None = None
    argument: str | None = None
    value: object = None
    problem: str | None = None
    allowed: str | None = None
    fix: str | None = None
    line: int | None = None
    parameters: Mapping[str, str] = MappingProxyType({})

    def __str__(self) -> str:
        """Return the message and, if the docs have an address, the address of the condition."""
        text = super().__str__()
        if self.condition is None or not (docs := _docs()):
            return text
        address = f"{docs}/reference/errors/#{self.condition.lower()}"
        return text if text.endswith(address) else f"{text} See {address}"


class InvalidArgumentError(EventtideError, ValueError):
    """An argument has a value that is not allowed."""

    condition = "INVALID_ARGUMENT"


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument has a type that is not allowed."""

    condition = "ARGUMENT_TYPE"


class InvalidDurationError(InvalidArgumentError):
    """An argument is not a duration, or not a duration that is allowed for it."""

    condition = "INVALID_DURATION"


class UnknownColumnError(InvalidArgumentError, LookupError):
    """An argument names a column that the DataFrame does not have."""

    condition = "UNKNOWN_COLUMN"


class ColumnTypeError(InvalidArgumentError, TypeError):
    """An argument names a column of the wrong type, such as text as event time."""

    condition = "COLUMN_TYPE"


class UnsupportedPlanError(EventtideError, RuntimeError):
    """The query has a plan whose result would be wrong."""


class DuplicateWatermarkError(UnsupportedPlanError):
    """A stream has a second watermark, from eventtide or from Spark."""


class CheckpointError(EventtideError, RuntimeError):
    """The checkpoint was written by another query, or by a version that cannot be read."""


class ClockError(EventtideError, RuntimeError):
    """The machine's clock jumped forward by more than ``max_clock_step``.

    The state of the query is correct. It can be restarted once the clock is correct.
    """


class PolicyError(EventtideError, RuntimeError):
    """A custom watermark policy has failed, gone back or taken too long.

    The message has the name of the policy. The watermark was not written, and the query can be
    restarted once the policy is correct.
    """


class RefusedDataError(EventtideError, RuntimeError):
    """The rows exceed a limit of the query, such as ``max_substreams``."""


class LateHandlerError(EventtideError, RuntimeError):
    """The late-row handler of a window has failed, and its query was stopped.

    The exception of the handler is its ``__cause__``.
    """

    condition = "LATE_HANDLER_FAILED"


class SetupError(EventtideError, RuntimeError):
    """The Spark session cannot run eventtide; the message names the setting to change."""

    condition = "SETUP_INCOMPLETE"


class UnsupportedSparkError(SetupError):
    """Eventtide has no jar for the Spark version."""

    condition = "UNSUPPORTED_SPARK"


def installed() -> PackageMetadata:
    """Return the metadata of this package: `eventtide`, or `eventtide-client` without jars.

    Raises
    ------
    PackageNotFoundError
        Neither is installed, as on a worker, which has only some of the modules.
    """
    try:
        return metadata("eventtide")
    except PackageNotFoundError:
        return metadata("eventtide-client")


def pip_install(extra: str) -> str:
    """Return how an extra of this package is installed, for the fix of an error.

    Examples
    --------
    >>> pip_install("yaml")
    "Try: pip install 'eventtide[yaml]'."
    """
    return f"Try: pip install '{installed()['Name']}[{extra}]'."


def _docs() -> str:
    """Return the address of the docs, as the metadata of the package have it, or ``""``."""
    # Not cached: workers get this module by value, but a cached function would be pickled by name.
    try:
        links = installed().get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = dict(link.split(", ", 1) for link in links)
    docs: str = named.get("Documentation", "")
    return docs.rstrip("/")


def _tree(root: type[EventtideError]) -> Iterator[type[EventtideError]]:
    yield root
    for branch in root.__subclasses__():
        yield from _tree(branch)


BY_NAME: Mapping[str, type[EventtideError]] = MappingProxyType(
    {error.__name__: error for error in _tree(EventtideError)}
)
"""The names that ``EventtideException.pythonClass()`` may return in the JVM."""


# The parameters that name the subject of an error, in this order.
_ARGUMENTS = ("option", "setting", "column", "key", "aggregate", "substream", "policy")


def from_report(report: str) -> EventtideError:
    """Return the Python error for an eventtide error of the JVM.

    Parameters
    ----------
    report : str
        A JSON object with ``class``, ``message``, ``condition``, ``problem``, ``fix`` and
        ``parameters``. The class is a name in `BY_NAME`; an unknown class becomes an
        `EventtideError` whose message starts with its name.

    Examples
    --------
    >>> from_report(
    ...     '{"class": "CheckpointError", "message": "The sizes differ.", "condition": "X",'
    ...     ' "problem": "", "fix": "", "parameters": {}}'
    ... )
    CheckpointError('The sizes differ.')
    """
    of = json.loads(report)
    name, message, parameters = of["class"], of["message"], of["parameters"]
    known = name in BY_NAME
    error = BY_NAME[name](message) if known else EventtideError(f"{name}: {message}")
    error.condition, error.problem, error.fix = of["condition"], of["problem"], of["fix"]
    error.parameters = parameters
    named = (parameters[option] for option in _ARGUMENTS if option in parameters)
    error.argument, error.value = next(named, None), parameters.get("value")
    error.allowed = parameters.get("allowed", parameters.get("available"))
    return error


@contextmanager
def renamed(named: Callable[[Exception], EventtideError | None]) -> Iterator[None]:
    """Raise the error that `named` finds in another error; errors without one are not changed."""
    try:
        yield
    except Exception as error:
        found = named(error)
        if found is None:
            raise
        raise found from None


_repr = Repr()
_repr.maxstring = _repr.maxother = 80


def short(value: object) -> str:
    """Return the repr of a value for a message, shortened if it is long."""
    return _repr.repr(value)


def unready(problem: str, fix: str, error: type[SetupError] = SetupError) -> SetupError:
    """Return the error about a session or an installation: problem, next step.

    Examples
    --------
    >>> print(unready("No Spark session is active.", "Start one: et.configure(...)."))
    No Spark session is active. Start one: et.configure(...).
    """
    made = error(f"{problem} {fix}")
    made.problem, made.fix = problem, fix
    return made


_Error = TypeVar("_Error", bound=EventtideError)


@overload
def refused(
    argument: str, value: object, problem: str, *, allowed: str, fix: str
) -> InvalidArgumentError: ...


@overload
def refused(
    argument: str, value: object, problem: str, *, allowed: str, fix: str, error: type[_Error]
) -> _Error: ...


def refused(  # noqa: PLR0913 - the fields of an error
    argument: str,
    value: object,
    problem: str,
    *,
    allowed: str,
    fix: str,
    error: type[EventtideError] = InvalidArgumentError,
) -> EventtideError:
    """Return the error about an argument: problem, allowed values, next step.

    Parameters
    ----------
    argument, value
        The argument as the caller wrote it; a long value is shortened in the message. None, of a
        missing argument, is in the message only if its type is the problem.
    problem : str
        The problem, which follows ``argument=value`` in the message.
    allowed : str
        The allowed values.
    fix : str
        The next step, preferably as code to paste.
    error : type
        The class of the error.

    Examples
    --------
    >>> print(refused("lag", 5, "has no unit", allowed="text or a timedelta", fix="lag='5s'"))
    lag=5 has no unit. Allowed: text or a timedelta. Try: lag='5s'.
    """
    is_absent = value is None and not problem.startswith("has type")
    shown = argument if is_absent else f"{argument}={short(value)}"
    made = error(f"{shown} {problem}. Allowed: {allowed}. Try: {fix}.")
    made.argument, made.value, made.problem = argument, value, problem
    made.allowed, made.fix = allowed, fix
    return made
