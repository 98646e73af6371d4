"""VoltSP's kinds of windows, and the settings of each kind."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from eventtide._text.arguments import count
from eventtide.errors import refused
from eventtide.windows._shapes import MAX_ROWS
from eventtide.windows._sizes import read_size

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OF", "WindowKind", "check_applies", "check_span"]

WindowKind: TypeAlias = Literal[
    "tumbling_time_window",
    "sliding_time_window",
    "session_window",
    "tumbling_count_window",
    "sliding_count_window",
]
"""The kind of a VoltSP window."""

_SLIDING = ("sliding_time_window", "sliding_count_window")
_SESSION = ("session_window",)
_WITH_SPAN = ("tumbling_time_window", "tumbling_count_window", *_SLIDING)

OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "window_span": _WITH_SPAN,
        "slide": _SLIDING,
        "maximum_duration": _SESSION,
        "touching": _SESSION,
    }
)
"""The settings that only some kinds have, with these kinds."""


def check_applies(kind: WindowKind, name: str, value: object) -> None:
    """Reject a setting that a kind of window does not have.

    Examples
    --------
    >>> check_applies("session_window", "window_span", "5m")
    Traceback (most recent call last):
    eventtide.errors.InvalidArgumentError: window_span='5m' does not apply to a ...
    """
    if kind in OF[name]:
        return
    allowed, fix = f"{name} of {', '.join(OF[name])}", f"remove {name}"
    problem = f"does not apply to a {kind}"
    if kind in _SESSION:
        problem += ", whose gap is its idle timeout"
        fix = f".with_time_config_builder(lambda b: b.with_idle_timeout({value!r}))"
    elif name == "slide":
        fix = f"Windows.{kind.replace('tumbling', 'sliding')}()"
    raise refused(name, value, problem, allowed=allowed, fix=fix)


def check_span(kind: WindowKind, name: str, value: object) -> None:
    """Reject an invalid span or slide: a number of rows for count windows, else a duration."""
    if "count" in kind:
        count(name, value, "100", MAX_ROWS)
    else:
        read_size(name, value)  # type: ignore[arg-type] # it checks
