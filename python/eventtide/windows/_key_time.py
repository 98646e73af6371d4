"""Which clock a key has, and when it is silent: arguments, as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from pyspark.sql import Column

from eventtide._text.arguments import choice
from eventtide._text.columns import column_list
from eventtide._text.durations import Duration, to_iso

__all__ = ["IdleClock", "IdleTimeout", "Scope", "ScopeName", "WatermarkScope", "scope_columns"]

ScopeName: TypeAlias = Literal["key", "global", "group"]
"""Whether each key has a watermark of its own, all have one, or those of a group have one."""

WatermarkScope: TypeAlias = str | Column | Sequence[str | Column]
"""``"key"``, ``"global"``, or the columns whose values keys of one group have in common."""

IdleClock: TypeAlias = Literal["processing_time", "event_time"]
"""What silence is measured by: the clock, or the watermark over all keys."""


@dataclass(frozen=True, eq=False, repr=False)
class Scope:
    """The argument of `WindowBuilder.watermark_scope`, as it was written.

    Raises
    ------
    InvalidArgumentError
        It is no scope and no column.
    """

    written: WatermarkScope

    def __post_init__(self) -> None:
        """Refuse what is wrong, where the caller can see the line."""
        _ = self.columns

    @property
    def name(self) -> ScopeName:
        """Which of the three it is."""
        if isinstance(self.written, str) and self.written in {"key", "global"}:
            return self.written  # type: ignore[return-value] # one of the two
        return "group"

    @cached_property
    def columns(self) -> list[str | Column]:
        """The columns of a group, none for the other scopes."""
        return scope_columns("watermark_scope", self.written)

    def __repr__(self) -> str:
        """Return the method call that makes it."""
        return f"watermark_scope({self.written!r})"


def scope_columns(name: str, scope: WatermarkScope) -> list[str | Column]:
    """Return the columns of a scope, which goes by this name; none for ``key`` and ``global``."""
    if isinstance(scope, str) and scope in {"key", "global"}:
        return []
    columns = [scope] if isinstance(scope, (str, Column)) else scope
    allowed, fix = "'key', 'global', a column, or a list of columns", f"{name}='key'"
    return column_list(name, columns, allowed, fix)


@dataclass(frozen=True, eq=False, repr=False)
class IdleTimeout:
    """The arguments of `WindowBuilder.idle_timeout`, as they were written.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        One is wrong.
    """

    timeout: Duration
    clock: IdleClock = "processing_time"

    def __post_init__(self) -> None:
        """Refuse what is wrong, where the caller can see the line."""
        self.to_options()

    def to_options(self) -> dict[str, str]:
        """Return what the JVM reads; the name without ``key_`` is that of substreams."""
        return {
            "key_idle_timeout": to_iso("idle_timeout", self.timeout, positive=True),
            "key_idle_clock": choice("clock", self.clock, get_args(IdleClock)),
        }

    def __repr__(self) -> str:
        """Return the method call that makes it."""
        clock = "" if self.clock == "processing_time" else f", clock={self.clock!r}"
        return f"idle_timeout({self.timeout!r}{clock})"
