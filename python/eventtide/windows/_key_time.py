"""The arguments for the watermark scope and the idle timeout of keys, as the user wrote them."""

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
"""Whether there is one watermark for each key, for all keys, or for each group of keys."""

WatermarkScope: TypeAlias = str | Column | Sequence[str | Column]
"""``"key"``, ``"global"``, or the columns that are equal for all keys of a group."""

IdleClock: TypeAlias = Literal["processing_time", "event_time"]
"""The time that measures idleness: processing time, or the watermark over all keys."""


@dataclass(frozen=True, eq=False, repr=False)
class Scope:
    """The argument of `WindowBuilder.watermark_scope`, as the user wrote it.

    Raises
    ------
    InvalidArgumentError
        The argument is neither a scope name nor columns.
    """

    written: WatermarkScope

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        _ = self.columns

    @property
    def name(self) -> ScopeName:
        """The kind of scope."""
        if isinstance(self.written, str) and self.written in {"key", "global"}:
            return self.written  # type: ignore[return-value] # one of the two
        return "group"

    @cached_property
    def columns(self) -> list[str | Column]:
        """The columns of a group, empty for the other scopes."""
        return scope_columns("watermark_scope", self.written)

    def __repr__(self) -> str:
        """Return the method call that creates this."""
        return f"watermark_scope({self.written!r})"


def scope_columns(name: str, scope: WatermarkScope) -> list[str | Column]:
    """Return the columns of a scope, empty for ``key`` and ``global``; errors use `name`."""
    if isinstance(scope, str) and scope in {"key", "global"}:
        return []
    columns = [scope] if isinstance(scope, (str, Column)) else scope
    allowed, fix = "'key', 'global', a column, or a list of columns", f"{name}='key'"
    return column_list(name, columns, allowed, fix)


@dataclass(frozen=True, eq=False, repr=False)
class IdleTimeout:
    """The arguments of `WindowBuilder.key_idle_timeout`, as the user wrote them.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        An argument is not valid.
    """

    timeout: Duration
    clock: IdleClock = "processing_time"

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        self.to_options()

    def to_options(self) -> dict[str, str]:
        """Return the options for the JVM; see `Settings.to_options`."""
        return {
            "key_idle_timeout": to_iso("key_idle_timeout", self.timeout, positive=True),
            "key_idle_clock": choice("clock", self.clock, get_args(IdleClock)),
        }

    def __repr__(self) -> str:
        """Return the method call that creates this."""
        clock = "" if self.clock == "processing_time" else f", clock={self.clock!r}"
        return f"key_idle_timeout({self.timeout!r}{clock})"
