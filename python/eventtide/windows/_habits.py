"""What to write in place of a name that a window does not have."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["hint"]

# Names of other systems, and of this one before, in the words of this builder.
_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "aggregate": "agg",
        "discarding": "emit(..., discarding=True)",
        "early": "emit(WindowTrigger.every('10s'))",
        "groupBy": "key_by",
        "groupby": "key_by",
        "group_by": "key_by",
        "hop": "sliding",
        "hopping": "sliding",
        "idle_timeout": "key_idle_timeout",
        "keyBy": "key_by",
        "partitionBy": "key_by",
        "select": "agg",
        "slide": "sliding",
        "trigger": "emit",
        "tumble": "tumbling",
        "updates": "emit(late_updates=True)",
        "watermark": "event_time",
        "withWatermark": "event_time",
        "with_watermark": "event_time",
    }
)


def hint(name: str, builder: type) -> str:
    """Return the message about a name that a window does not have.

    Examples
    --------
    >>> from eventtide.windows import WindowBuilder
    >>> hint("show", WindowBuilder)
    "a window has no 'show', and its results do. Try: .results.show"
    >>> hint("sliding_window", WindowBuilder)
    "a window has no 'sliding_window'. Try: .sliding"
    """
    message = f"a window has no {name!r}"
    if name in _ELSEWHERE:
        return f"{message}. Try: .{_ELSEWHERE[name]}"
    if hasattr(DataFrame, name):
        return f"{message}, and its results do. Try: .results.{name}"
    known = [known for known in dir(builder) if known[0] != "_"]
    near = get_close_matches(name, known, n=1)
    return f"{message}. Try: .{near[0]}" if near else message
