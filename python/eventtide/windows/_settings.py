"""The settings of a window, as the user wrote them, and their options for the JVM."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.durations import to_iso
from eventtide.windows._event_time import EventTime
from eventtide.windows._execution import Execution
from eventtide.windows._handlers import LateHandler
from eventtide.windows._key_time import IdleTimeout, Scope
from eventtide.windows._shapes import Shape
from eventtide.windows._sql import columns
from eventtide.windows._unframed import Session
from eventtide.windows._zones import instant, read_origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from eventtide._text.durations import Duration
    from eventtide.windows._profiles import LateAction, LateRule, Profile
    from eventtide.windows._sql import SqlAggregate
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["Settings"]

_LENGTHS = ("offset", "delay", "allowed_lateness", "key_ttl", "heartbeat", "late_retention")
_FLAGS = ("discarding", "late_updates")
_TEXTS = ("time_zone", "profile", "late_rule", "late", "late_to")


# Types whose repr is the method call that creates them.
_CALLS = (EventTime, Scope, Shape, IdleTimeout, LateHandler, Execution)


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
    key_idle_timeout: IdleTimeout | None = None
    key_ttl: Duration | None = None
    heartbeat: Duration | None = None
    max_rows_per_batch: int | None = None
    late: LateAction | None = None
    late_to: str | None = None
    late_retention: Duration | None = None
    on_late: LateHandler | None = None
    emit: tuple[WindowTrigger, ...] = ()
    discarding: bool = False
    late_updates: bool = False
    agg: tuple[Column | SqlAggregate, ...] = ()
    execution: Execution | None = None

    def to_options(self) -> dict[str, str]:
        """Return the flat option map for the JVM, with only the settings that are set.

        Returns
        -------
        dict of str to str
            ``kind``, and ``size`` with its ``slide`` or ``step``, or ``gap``, or ``rows`` with its
            ``slide``. The other settings have the names of their methods. Exceptions are ``scope``
            for the watermark scope, ``key_idle_timeout`` and ``key_idle_clock``, ``triggers`` for
            the names of all triggers, and ``every`` and ``every_rows`` for their values. Durations
            are ISO 8601 in seconds. Calendar sizes are periods in days or months (``P14D``,
            ``P12M``). An origin is an instant in UTC. A flag is ``"true"``. Columns, conditions and
            functions are not in the map; a gap for each row is ``"column"``.
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
        for one in (self.key_idle_timeout, self.execution, *self.emit):
            options |= {} if one is None else one.to_options()
        if self.emit:
            options["triggers"] = ",".join(trigger.name for trigger in self.emit)
        return options | {name: "true" for name in _FLAGS if getattr(self, name)}

    @property
    def is_by_key(self) -> bool:
        """Whether keys, or groups of keys, have their own watermark."""
        return self.watermark_scope is not None and self.watermark_scope.name != "global"

    @property
    def condition(self) -> str | Column | None:
        """The condition of a trigger, None without one."""
        values = (trigger.value for trigger in self.emit if trigger.name == "when")
        return next(values, None)  # type: ignore[return-value] # of when

    @property
    def row_gap(self) -> Column | None:
        """The session gap of each row, None if all rows have one gap, or need none."""
        gap = self.shape.gap if isinstance(self.shape, Session) else None
        return gap if isinstance(gap, Column) else None

    def lists(self) -> dict[str, Sequence[str | Column]]:
        """Return the columns of a request; columns in SQL text need an active session."""
        time, scope, when, gap = (
            self.event_time,
            self.watermark_scope,
            self.condition,
            self.row_gap,
        )
        return {
            "substream": [] if time is None else time.parts,
            "keys": self.key_by,
            "aggregates": columns(self.agg),
            "when": [] if when is None else [F.expr(when) if isinstance(when, str) else when],
            "gap": [] if gap is None else [gap],
            "scope": [] if scope is None else scope.columns,
        }

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
            if value is None or value is False or value == () or field.name in _FLAGS:
                continue
            if isinstance(value, _CALLS):
                yield repr(value)
            elif isinstance(value, tuple):
                flags = [f"{flag}=True" for flag in _FLAGS if getattr(self, flag)]
                more = flags if field.name == "emit" else []
                yield f"{field.name}({', '.join([*map(repr, value), *more])})"
            else:
                yield f"{field.name}({'' if value is True else repr(value)})"
