"""Suggestions for names that a builder does not have."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Hinting", "hint"]

# Names in other systems and their equivalents in `WindowBuilder`.
_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "aggregate": "agg",
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
        "watermark": "event_time",
        "withWatermark": "event_time",
        "with_watermark": "event_time",
    }
)

_OF_WINDOW_BUILDER = ("results", "start")  # other builders create it


class Hinting:
    """A builder of a window that answers an unknown name with a suggestion."""

    _results: ClassVar[str] = ".results"
    """The expression that leads from the builder to a DataFrame."""

    if not TYPE_CHECKING:  # a type checker reports unknown names by itself

        def __getattr__(self, name: str) -> object:
            """Refuse an unknown name; a name of a DataFrame belongs to the results."""
            if hasattr(type(self), name):  # a property has failed; raise its error again
                return object.__getattribute__(self, name)
            message = hint(name, type(self), self._results)
            raise AttributeError(message, name=name, obj=self)


def hint(name: str, builder: type, results: str) -> str:
    """Return the message about a name that a builder does not have.

    Examples
    --------
    >>> from eventtide.windows import WindowBuilder
    >>> hint("show", WindowBuilder, ".results")
    "a window has no 'show', and its results do. Try: .results.show"
    >>> hint("sliding_window", WindowBuilder, ".results")
    "a window has no 'sliding_window'. Try: .sliding"
    """
    message = f"a window has no {name!r}"
    known = [known for known in dir(builder) if known[0] != "_"]
    methods = [method for method in known if callable(getattr(builder, method))]
    instead = _ELSEWHERE.get(name, "")
    if instead.partition("(")[0] in methods:
        return f"{message}. Try: .{instead}"
    if name in _OF_WINDOW_BUILDER:
        return f"{message} yet. Try: {results.replace('results', name)}"
    if hasattr(DataFrame, name) and not instead:
        return f"{message}, and its results do. Try: {results}.{name}"
    near = [m for m in methods if name.lower() in m] or get_close_matches(name, methods, n=1)
    return f"{message}. Try: .{near[0]}" if near else f"{message}. Known: {', '.join(methods)}"
