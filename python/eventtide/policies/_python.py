"""Custom policies in Python, which the driver calls once per batch."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar

from eventtide._callbacks import answer_policies
from eventtide._text.arguments import of_type
from eventtide.errors import ArgumentTypeError, refused, short
from eventtide.policies._base import ON_ROWS, WatermarkPolicy

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
elif TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: bool) -> Callable[[type], type]:
        """Do nothing: this is for type checkers."""
        return lambda cls: cls


if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BatchTimes", "PythonPolicy", "answer"]

_log = logging.getLogger("eventtide")
_classes: dict[str, type[PythonPolicy]] = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST = datetime.min.replace(tzinfo=timezone.utc) - _EPOCH
_LAST = datetime.max.replace(tzinfo=timezone.utc) - _EPOCH
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class BatchTimes:
    """The times of one batch of a substream, in UTC.

    Attributes
    ----------
    highest, lowest : datetime
        The extremes of the event times of its rows on time.
    clock : datetime
        The time of the batch.

    Notes
    -----
    A time outside of the years 1 to 9999 is replaced by the nearest time in them, because
    ``datetime`` supports only these years.
    """

    highest: datetime
    lowest: datetime
    clock: datetime


@dataclass_transform(frozen_default=True)
class PythonPolicy(WatermarkPolicy):
    """A custom policy: a class with the method `advance`.

    A subclass is a frozen dataclass: its annotated attributes are its parameters. Their types are
    JSON types or ``timedelta``. It is used, decorated and combined like the other policies.

    Attributes
    ----------
    name : str
        The name in checkpoints and reports, by default the name of the class. It is a class
        attribute, without an annotation: ``name = "half_way"``.

    Raises
    ------
    InvalidArgumentError
        Another class already has the name, or the name is annotated or empty.
    ArgumentTypeError
        The name is not text, or a parameter changes in a round trip through JSON.

    Notes
    -----
    The driver calls the policy at the end of each batch, for each substream that has rows on time.
    The clock alone does not move it; `WatermarkPolicies.max_of` adds a policy that the clock moves.
    Windows with `watermark_scope` refuse it, because their watermarks are computed in tasks. One
    object is called for all substreams, so it must not store state. If it fails, goes back or takes
    longer than ``spark.eventtide.policyTimeout``, the query stops before the watermark is written.
    `eventtide.testing.check_policy` tests a policy.

    Examples
    --------
    >>> class HalfWay(PythonPolicy):
    ...     '''Follow the middle of each batch.'''
    ...
    ...     slack: timedelta = timedelta(0)
    ...
    ...     def advance(self, times, state):
    ...         middle = times.lowest + (times.highest - times.lowest) / 2 - self.slack
    ...         state = max(state or "", middle.isoformat())
    ...         return datetime.fromisoformat(state), state
    >>> HalfWay(timedelta(seconds=5)).throttle_by_frame("1s")
    HalfWay(slack=datetime.timedelta(seconds=5)).throttle_by_frame('1s')
    """

    moves: ClassVar[str] = ON_ROWS

    def __init_subclass__(cls) -> None:
        """Make the class a frozen dataclass, and register it by its name."""
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__
        cls.__doc__ = cls.__doc__ or "A policy in Python."  # a dataclass would have its signature
        try:
            dataclass(frozen=True, eq=False, repr=False)(cls)
        finally:  # the failure may be an annotated name
            cls._check_name()
        other = _classes.get(cls.name, cls)
        place = (cls.__module__, cls.__qualname__)
        if (other.__module__, other.__qualname__) != place:
            taken = f"{other.__module__}.{other.__qualname__}"
            raise refused(
                "name",
                cls.name,
                f"is the name of the policy {taken}",
                allowed="a name that no other policy has",
                fix=f"name = {cls.__module__.split('.')[0] + '_' + cls.name!r}",
            )
        _classes[cls.name] = cls

    @classmethod
    def _check_name(cls) -> None:
        allowed, fix = "text, of the class and not annotated", f"name = {cls.__name__!r}"
        of_type("name", cls.name, str, allowed, fix)
        if "name" in (field.name for field in fields(cls)):
            problem = "is annotated, which makes it a parameter"
            raise refused("name", cls.name, problem, allowed=allowed, fix=f"name = {cls.name!r}")

    def check_writable(self) -> None:
        """Reject the policy, because YAML has no classes."""
        allowed, fix = "policies of Eventtide and of jars", "the policy in Python"
        raise refused("policy", self, "cannot be written as YAML", allowed=allowed, fix=fix)

    @abstractmethod
    def advance(
        self,
        times: BatchTimes,
        state: Any,  # noqa: ANN401 - any JSON value
    ) -> tuple[datetime | None, Any]:
        """Return the watermark after a batch, and the state for the next call.

        Parameters
        ----------
        times : BatchTimes
            The extremes of the batch's rows and the clock.
        state : JSON value
            The state that the last call for this substream returned, also in an earlier run; None
            before the first call.

        Returns
        -------
        watermark : datetime or None
            The time below which no more rows are expected. It has a time zone, and is not below the
            last watermark. None: there is no watermark yet, or it does not change.
        state : JSON value
            Dictionaries by text, lists, text, numbers, booleans or None.
        """

    @property
    def meaning(self) -> str:
        """The first line of the docstring, for `explain`."""
        return cleandoc(str(type(self).__doc__)).splitlines()[0].rstrip(".")

    def parameters(self) -> dict[str, str]:
        """Return the parameters as JSON, in one option."""
        return {"parameters": json.dumps(dict(self._saved()), sort_keys=True)}

    def _kind(self) -> str:
        return f"python:{self.name}"

    def _saved(self) -> list[tuple[str, Any]]:
        names = (field.name for field in fields(self) if field.name != "decorators")
        return [(name, _kept(name, getattr(self, name))) for name in names]

    def _expression(self) -> str:
        return self._call()


def _kept(name: str, value: object) -> object:
    """Return a parameter as a JSON value; reject a parameter that JSON would change."""
    kept = {"timedelta": value // _MICROSECOND} if isinstance(value, timedelta) else value
    problem, fix = "cannot be saved as JSON", "a parameter of one of these types"
    with suppress(TypeError, ValueError, OverflowError):
        read = json.loads(json.dumps(kept, allow_nan=False), object_hook=_value)
        if read == value:
            return kept
        problem, fix = f"comes back from JSON as {short(read)}", f"{name}={read!r}"
    allowed = "text, numbers, booleans, None, lists, dicts by text, and timedelta"
    raise refused(name, value, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)


def answer(request: str) -> str:
    """Return the answer of a policy to the rows of a batch; both are JSON, for the JVM."""
    asked = json.loads(request)
    try:
        policy = _policy(asked["policy"], asked["parameters"])
        times = BatchTimes(*(_time(asked[name]) for name in ("highest", "lowest", "clock")))
        watermark, state = _advanced(policy, times, json.loads(asked["state"]))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the JVM raises it
        _log.exception("The policy %s failed.", asked["policy"])
        return json.dumps({"problem": _problem(error)})
    return json.dumps({"watermark": watermark, "state": state})


class _NonsenseError(Exception):
    """A policy has returned an unusable value."""


def _advanced(policy: PythonPolicy, times: BatchTimes, state: object) -> tuple[int | None, str]:
    returned = policy.advance(times, state)
    if not isinstance(returned, tuple) or len(returned) != 2:  # noqa: PLR2004 - a pair
        problem = f"advance returned {returned!r}, which is not a pair of a watermark and a state"
        raise _NonsenseError(problem)
    watermark, state = returned
    if watermark is not None and not isinstance(watermark, datetime):
        problem = f"advance returned the watermark {watermark!r}, which is not a datetime"
        raise _NonsenseError(problem)
    if watermark is not None and watermark.tzinfo is None:
        problem = f"advance returned the watermark {watermark!r}, which has no time zone"
        raise _NonsenseError(problem)
    try:
        text = json.dumps(state, allow_nan=False)
    except (TypeError, ValueError) as error:
        problem = f"its state cannot be saved as JSON: {error}"
        raise _NonsenseError(problem) from None
    if json.loads(text) != state:
        problem = f"its state {short(state)} comes back from JSON as {short(json.loads(text))}"
        raise _NonsenseError(problem)
    return None if watermark is None else (watermark - _EPOCH) // _MICROSECOND, text


def _policy(name: str, parameters: str) -> PythonPolicy:
    if name not in _classes:
        problem = "its class is not defined in this Python process"
        raise _NonsenseError(problem)
    return _classes[name](**json.loads(parameters, object_hook=_value))


def _value(read: dict[str, Any]) -> object:
    return timedelta(microseconds=read["timedelta"]) if read.keys() == {"timedelta"} else read


def _time(micros: int) -> datetime:
    return _EPOCH + min(max(timedelta(microseconds=micros), _FIRST), _LAST)


def _problem(error: BaseException) -> str:
    if isinstance(error, _NonsenseError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"advance raised {error!r} in line {last.lineno} of {last.filename}"


answer_policies(answer)
