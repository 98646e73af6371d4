"""The triggers of window results, with VoltSP's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

from pyspark.sql import Column

from eventtide._text.arguments import count, of_type
from eventtide._text.columns import shown
from eventtide._text.durations import spoken, to_iso
from eventtide._text.names import Namespace
from eventtide.errors import ArgumentTypeError, refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventtide._text.durations import Duration

__all__ = ["TriggerName", "WindowTrigger", "trigger_list"]

TriggerName: TypeAlias = Literal["at_window_end", "on_update", "every", "every_rows", "when"]
"""On window close, per batch with rows, in processing time, by row count, or on a condition."""

_ALLOWED = "at_window_end, on_update, every(...), every_rows(...) or when(...)"
_FIX = ".emit(WindowTrigger.at_window_end, WindowTrigger.every('10s'))"
_EXAMPLES = {"every": "'10s'", "every_rows": "1000", "when": "'n >= 1000'"}


@dataclass(frozen=True, eq=False, repr=False)
class WindowTrigger(metaclass=Namespace):
    """A trigger, which determines when a window emits a result.

    Use the members: ``at_window_end``, ``on_update``, `every`, `every_rows` and `when`.

    Examples
    --------
    >>> WindowTrigger.at_window_end, WindowTrigger.every("10s")
    (WindowTrigger.at_window_end, WindowTrigger.every('10s'))
    """

    at_window_end: ClassVar[WindowTrigger]
    """Fires when the window closes."""
    on_update: ClassVar[WindowTrigger]
    """Fires after each batch that has rows of the window."""

    name: TriggerName
    value: Duration | int | Column | None = None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        if self.name not in get_args(TriggerName):
            raise refused("trigger", self.name, "is unknown", allowed=_ALLOWED, fix=_FIX)
        if (self.value is None) != (self.name not in _EXAMPLES):
            problem = "needs a value" if self.value is None else "takes no value"
            fix = f"WindowTrigger.{self.name}{self._example()}"
            raise refused("trigger", self.name, problem, allowed=_ALLOWED, fix=fix)
        self.to_options()

    @staticmethod
    def every(interval: Duration) -> WindowTrigger:
        """Emit a result `interval` of processing time after the last one, while rows arrive.

        Parameters
        ----------
        interval : str or timedelta
            Positive.
        """
        return WindowTrigger("every", interval)

    @staticmethod
    def every_rows(rows: int) -> WindowTrigger:
        """Emit a result after each `rows` rows of the window, one or more."""
        return WindowTrigger("every_rows", rows)

    @staticmethod
    def when(condition: str | Column) -> WindowTrigger:
        """Emit a result when a condition becomes true.

        Parameters
        ----------
        condition : str or Column
            SQL text or a Column over the aggregates, by their names.
        """
        return WindowTrigger("when", condition)

    def to_options(self) -> dict[str, str]:
        """Return the options for the JVM without the name; a condition is passed as a column."""
        if self.name == "every":
            return {"every": to_iso("every", self.value, positive=True)}  # type: ignore[arg-type] # it checks
        if self.name == "every_rows":
            return {"every_rows": count("every_rows", self.value, "1000")}
        if self.name == "when":
            kinds, allowed = (str, Column), "SQL text or a Column over the aggregates"
            of_type("when", self.value, kinds, allowed, "when='n >= 1000'")
        return {}

    @property
    def meaning(self) -> str:
        """The description of the trigger for `explain`."""
        if self.name == "at_window_end":
            return "at its end"
        if self.name == "on_update":
            return "after each batch with rows of it"
        if self.name == "every":
            return f"every {spoken(self.value)}"  # type: ignore[arg-type] # it was checked
        if self.name == "every_rows":
            return f"every {self.value} rows"
        return f"when {shown(self.value)}"

    def __repr__(self) -> str:
        """Return the expression that creates this trigger."""
        value = "" if self.value is None else f"({self.value!r})"
        return f"WindowTrigger.{self.name}{value}"

    def _example(self) -> str:
        return f"({_EXAMPLES[self.name]})" if self.name in _EXAMPLES else ""


WindowTrigger.at_window_end = WindowTrigger("at_window_end")
WindowTrigger.on_update = WindowTrigger("on_update")


def trigger_list(triggers: Sequence[WindowTrigger | str]) -> tuple[WindowTrigger, ...]:
    """Return one or more triggers, each once; a name denotes a trigger without a value.

    Examples
    --------
    >>> trigger_list(["at_window_end", "ON_UPDATE"])
    (WindowTrigger.at_window_end, WindowTrigger.on_update)
    """
    found = tuple(map(_trigger, triggers))
    names = [trigger.name for trigger in found]
    if not names or len(set(names)) < len(names):
        problem = "has a trigger twice" if names else "is empty"
        allowed = f"one or more of {_ALLOWED}, each once"
        raise refused("emit", found, problem, allowed=allowed, fix=_FIX)
    return found


def _trigger(trigger: WindowTrigger | str) -> WindowTrigger:
    if isinstance(trigger, WindowTrigger):
        return trigger
    if isinstance(trigger, str):
        return WindowTrigger(trigger.lower())  # type: ignore[arg-type] # it checks
    name = getattr(trigger, "__name__", None)  # of a method that was not called, such as every
    fix = f"WindowTrigger.{name}({_EXAMPLES[name]})" if name in _EXAMPLES else _FIX
    problem = f"has type {type(trigger).__name__}"
    raise refused("trigger", trigger, problem, allowed=_ALLOWED, fix=fix, error=ArgumentTypeError)
