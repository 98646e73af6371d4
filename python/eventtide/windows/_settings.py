"""The settings of a window, as they were written, and their options for the JVM."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from pyspark.sql import Column

from eventtide._text.arguments import count, of_type
from eventtide._text.durations import to_iso
from eventtide.errors import InvalidArgumentError, sentence
from eventtide.windows._event_time import EventTime
from eventtide.windows._execution import Execution
from eventtide.windows._handlers import LateHandler
from eventtide.windows._key_time import IdleTimeout, Scope
from eventtide.windows._shapes import Shape
from eventtide.windows._zones import instant, read_origin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from eventtide._text.durations import Duration
    from eventtide.windows._profiles import LateAction, LateRule, Profile
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["Early", "Settings"]

_LENGTHS = ("offset", "delay", "allowed_lateness", "key_ttl", "heartbeat", "late_retention")
_TEXTS = ("time_zone", "profile", "late_rule", "late", "late_to")


@dataclass(frozen=True, eq=False, repr=False)
class Early:
    """The conditions for early results; each one that is met fires.

    Raises
    ------
    InvalidArgumentError
        No condition is set, or one is not valid.
    """

    every: Duration | None
    rows: int | None
    when: str | Column | None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        if self.when is not None:
            kinds, allowed = (str, Column), "SQL text or a Column over the aggregates"
            of_type("when", self.when, kinds, allowed, "when='n >= 1000'")
        if not self._given():
            problem, allowed = "has no condition", "every=, rows= or when=, or several of them"
            fix = ".early(every='10s')"
            raise InvalidArgumentError(sentence("early", None, problem, allowed=allowed, fix=fix))
        self.to_options()

    def to_options(self) -> dict[str, str]:
        """Return the options for the JVM; the condition is passed as a column."""
        options = {}
        if self.every is not None:
            options["early.every"] = to_iso("every", self.every, positive=True)
        if self.rows is not None:
            options["early.rows"] = count("rows", self.rows, "1000")
        return options

    def __repr__(self) -> str:
        """Return the method call that creates this."""
        arguments = (f"{name}={value!r}" for name, value in self._given().items())
        return f"early({', '.join(arguments)})"

    def _given(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if value is not None}


# Types whose repr is the method call that creates them.
_CALLS = (EventTime, Scope, Shape, IdleTimeout, LateHandler, Early, Execution)


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """All settings of a window; None or empty if a setting is not set.

    Each value was checked when it was set. `check` checks the combination.
    """

    event_time: EventTime | None = None
    processing_time: bool = False
    key_by: tuple[str | Column, ...] = ()
    watermark_scope: Scope | None = None
    shape: Shape | None = None
    offset: Duration | None = None
    origin: datetime | str | None = None
    time_zone: str | None = None
    profile: Profile | None = None
    late_rule: LateRule | None = None
    delay: Duration | None = None
    allowed_lateness: Duration | None = None
    idle_timeout: IdleTimeout | None = None
    key_ttl: Duration | None = None
    heartbeat: Duration | None = None
    max_rows_per_batch: int | None = None
    late: LateAction | None = None
    late_to: str | None = None
    late_retention: Duration | None = None
    on_late: LateHandler | None = None
    early: Early | None = None
    updates: bool = False
    discarding: bool = False
    emit: tuple[WindowTrigger, ...] = ()
    agg: tuple[Column, ...] = ()
    execution: Execution | None = None

    def to_options(self) -> dict[str, str]:
        """Return the flat option map for the JVM, with only the settings that are set.

        Returns
        -------
        dict of str to str
            ``kind``, and ``size`` with its ``slide`` or ``step``, or ``gap``, or ``rows``. The
            other settings have the names of their methods, except ``scope`` for the watermark
            scope, ``key_idle_timeout`` and ``key_idle_clock``, ``early.every`` and ``early.rows``
            for early results, and ``triggers`` for the names of all triggers. Durations are ISO
            8601 in seconds. Calendar sizes are periods in days or months (``P14D``, ``P12M``). An
            origin is an instant in UTC. A flag is ``"true"``. Columns, conditions and functions
            are not in the map.
        """
        zoned = self.time_zone is not None
        options = {} if self.shape is None else self.shape.to_options(zoned=zoned)
        for name in _LENGTHS:
            if (length := getattr(self, name)) is not None:
                options[name] = to_iso(name, length)
        options |= {name: text for name in _TEXTS if (text := getattr(self, name)) is not None}
        if self.max_rows_per_batch is not None:
            options["max_rows_per_batch"] = str(self.max_rows_per_batch)
        if self.watermark_scope is not None:
            options["scope"] = self.watermark_scope.name
        if self.on_late is not None:
            options["on_late"] = "true"
        if self.origin is not None:
            options["origin"] = instant(read_origin(self.origin), self.time_zone)
        for one in (self.idle_timeout, self.early, self.execution, *self.emit):
            options |= {} if one is None else one.to_options()
        if self.emit:
            options["triggers"] = ",".join(trigger.name for trigger in self.emit)
        return options | {name: "true" for name in ("updates", "discarding") if getattr(self, name)}

    @property
    def condition(self) -> str | Column | None:
        """The condition for early results, None without one."""
        if self.early is not None:
            return self.early.when
        values = (trigger.value for trigger in self.emit if trigger.name == "when")
        return next(values, None)  # type: ignore[return-value] # of when

    def columns(self) -> Iterator[tuple[str, str | Column]]:
        """Yield every input column in the settings, with the name of its argument."""
        if self.event_time is not None:
            yield "event_time", self.event_time.column
            yield from (("substream", part) for part in self.event_time.parts)
        yield from (("key_by", key) for key in self.key_by)
        if self.watermark_scope is not None:
            yield from (("watermark_scope", part) for part in self.watermark_scope.columns)

    def calls(self) -> Iterator[str]:
        """Yield the method calls that create these settings."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or value is False or value == ():
                continue
            if isinstance(value, _CALLS):
                yield repr(value)
            elif isinstance(value, tuple):
                yield f"{field.name}({', '.join(map(repr, value))})"
            else:
                yield f"{field.name}({'' if value is True else repr(value)})"
