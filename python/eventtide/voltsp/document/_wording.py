"""Builder errors in terms of a YAML document: the line, the key, and the fix."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from eventtide._text.names import camel
from eventtide._yaml.places import placing, refused_at, shown
from eventtide.errors import short

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from eventtide._yaml.nodes import Document
    from eventtide._yaml.places import Lines, Path
    from eventtide.errors import EventtideError

__all__ = ["at", "placed"]

_OF_TIME = [
    "event_time_extractor",
    "watermark_strategy",
    "delay_window_close",
    "idle_timeout_clock",
    "idle_timeout",
    "late_rule",
    "scope",
    "heartbeat",
    "key_ttl",
    "max_rows_per_batch",
]
_OF_WINDOW = [
    "window_span",
    "key_extractor",
    "aggregate_definition",
    "maximum_duration",
    "touching",
    "late",
    "late_to",
]
_KEYS: Mapping[str, Path] = MappingProxyType(
    {name: ("timeConfig", camel(name)) for name in _OF_TIME}
    | {name: (camel(name),) for name in _OF_WINDOW}
    | {"slide": ("slideBy",), "name": ("as",), "emit": ("triggers",)}
    | {name: (name,) for name in ("column", "expression", "type")}
    | {name: (camel(name),) for name in ("at_window_end", "on_update", "every_rows")}
)
"""The paths of the builder's arguments, relative to the window or the aggregate."""

_ONE_OR_OTHER = re.compile(r"\w+='[^']*' or \w+='[^']*'")
_SNAKE_KINDS = re.compile(r"(tumbling|sliding|session)(_time|_count)?_window")

# Patterns that replace the Python calls in a builder's fix with YAML keys.
_CALLS = (
    (r"^\.with_time_config_builder\(lambda b: b\.(.*)\)", r".\1"),
    (r"^\.with_aggregate_definition\(.*\)", "aggregateDefinition: {builder: [{type: count}]}"),
    (r"^\.emit\(.*\)", "triggers: [{trigger: atWindowEnd}]"),
    (r"^\.with_(\w+)\(('.*', '.*')\)", r"\1=[\2]"),
    (r"^\.with_(\w+)\((.*)\)", r"\1=\2"),
    (r"Windows\.(\w+)\(\)", r"\1"),
    (r"(TimeSource|WatermarkStrategy)\.", ""),
)


def placed(error: EventtideError, path: Path, lines: Lines, hidden: int) -> EventtideError:
    """Return an error of the same class with the place of its argument in the document.

    Parameters
    ----------
    error : EventtideError
        An error about an argument, from `errors.refused`.
    path : tuple of str or int
        The path of the window, the item or the value of the error.
    lines : mapping
        The lines of all values.
    hidden : int
        The number of keys at the start of the path that are not shown.
    """
    where = _where(error.argument or "", path, lines)
    known = next(where[:n] for n in range(len(where), -1, -1) if where[:n] in lines)
    key = shown(where[hidden:] or where[-1:])
    problem, allowed = _named(error.problem or ""), _named(error.allowed or "")
    if error.value is None:
        problem = re.sub("^has type NoneType", "is missing", problem)
    fix = _fix(error.fix or "")
    line, value, kind = lines[known], error.value, type(error)
    text = short(value) if isinstance(value, str) else _named(short(value))
    return refused_at(line, key, value, problem, allowed=allowed, fix=fix, error=kind, text=text)


def at(document: Document, path: Path, hidden: int = 0) -> AbstractContextManager[None]:
    """Add the place of a value to errors in the block; see `placed`."""
    return placing(lambda error: placed(error, path, document.lines, hidden))


def _where(name: str, path: Path, lines: Lines) -> Path:
    """Return the actual or expected path of an argument, `path` itself if it has no key."""
    if path[-1:] == (name,) or not name:
        return path
    if (*path, name) in lines:
        return (*path, name)
    if camel(name) in path:
        return path
    if name in _KEYS:
        return (*path, *_KEYS[name])
    return (*path, camel(name)) if (*path, camel(name)) in lines else path


def _fix(fix: str) -> str:
    """Return the next step with YAML keys in place of Python calls."""
    for pattern, instead in _CALLS:
        fix = re.sub(pattern, instead, fix)
    fix = _named(fix)
    if _ONE_OR_OTHER.fullmatch(fix):
        return re.sub(r"(\w+)='([^']*)'", r"\1: \2", fix)
    return re.sub(r"^(\w+)=(?:'([^']*)'|([^']*|\[.*\]))$", r"\1: \2\3", fix)


def _named(text: str) -> str:
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b|\b(?:slide|name)(?==)", _key, text)


def _key(found: re.Match[str]) -> str:
    word = found[0]
    if _SNAKE_KINDS.fullmatch(word):
        return word.replace("_", "-")
    return str(_KEYS[word][-1]) if word in _KEYS else word
