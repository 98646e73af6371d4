"""Windows in a YAML document; the module needs the extra ``eventtide[yaml]``.

A key is a method of the builder. Its value has the arguments: a mapping by their names, a list, or
only the required argument.
"""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from eventtide._text.arguments import of_type
from eventtide._yaml.calls import call, mapping, one_of, sequence
from eventtide._yaml.nodes import parse
from eventtide.errors import refused
from eventtide.policies._document import policy_at
from eventtide.windows._builder import WindowBuilder
from eventtide.windows._closing import Closing
from eventtide.windows._framing import Framing
from eventtide.windows._sql import SqlAggregate
from eventtide.windows._timing import Timing
from eventtide.windows._triggers import WindowTrigger

if TYPE_CHECKING:
    from eventtide._yaml.nodes import Document

__all__ = ["KEYS", "read"]

_NOT_IN_YAML = ("on_late",)
KEYS = tuple(
    name
    for half in (Framing, Timing, Closing)
    for name in vars(half)
    if not name.startswith("_") and name not in _NOT_IN_YAML
)
"""The keys of a document."""

_PLAIN = ("at_window_end", "on_update")
_VALUES = ("every", "every_rows", "when")
_TRIGGERS = "at_window_end, on_update, {every: 10s}, {every_rows: 1000} or {when: n > 3}"


def read(text: str) -> WindowBuilder:
    """Return the window that a document describes, without rows."""
    document = parse(text)
    with document.at(()):
        entry = mapping(document.data, "a mapping of " + ", ".join(KEYS), "tumbling: 1m")
    builder = WindowBuilder()
    for key, value in entry.items():
        with document.at((key,)):
            builder = _called(builder, document, key, value)
    return builder


def _called(builder: WindowBuilder, document: Document, key: str, value: Any) -> WindowBuilder:  # noqa: ANN401 - of YAML
    if key in _NOT_IN_YAML:
        allowed, fix = ", ".join(KEYS), f"from_yaml(...).{key}(...) in Python"
        raise refused(key, None, "is a function, and YAML has none", allowed=allowed, fix=fix)
    method = getattr(builder, one_of(key, KEYS, "is an unknown key"))
    if value is None:
        raise refused(key, None, "is empty", allowed="a value", fix=f"remove {key}")
    if key == "agg":
        return replace(builder, settings=replace(builder.settings, agg=_aggregates(value)))
    if key == "processing_time":
        of_type(key, value, bool, "true", "processing_time: true")
        return builder.processing_time() if value else builder
    if key == "emit":
        return _emitting(builder, document, value)
    if key == "event_time" and isinstance(value, dict) and "policy" in value:
        value = {**value, "policy": policy_at(document, value["policy"], (key, "policy"))}
    if key == "key_by":
        return method(*_columns(value))  # type: ignore[no-any-return] # of the builder
    if isinstance(value, dict) and len(signature(method).parameters) > 1:
        return call(method, value)  # type: ignore[no-any-return]
    return call(method, {next(iter(signature(method).parameters)): value})  # type: ignore[no-any-return]


def _columns(value: object) -> list[str]:
    for one in sequence(value):
        of_type("key_by", one, str, "a column, or a list of columns", "[site, device]")
    return sequence(value)


def _aggregates(value: object) -> tuple[SqlAggregate, ...]:
    allowed, fix = "the names of results with SQL text", "agg: {n: count(*)}"
    entry = mapping(value, allowed, fix)
    if not entry:
        raise refused("agg", None, "is empty", allowed=allowed, fix=fix)
    for name, text in entry.items():
        of_type(name, text, str, "SQL text of an aggregate", f"{name}: sum(amount)")
    return tuple(SqlAggregate(name, text) for name, text in entry.items())


def _emitting(builder: WindowBuilder, document: Document, value: object) -> WindowBuilder:
    is_whole = isinstance(value, dict) and not set(value) & set(_VALUES)
    entry: dict[str, Any] = dict(value) if is_whole else {"triggers": value}  # type: ignore[call-overload]
    place = ("emit", "triggers") if is_whole else ("emit",)
    triggers = []
    for i, one in enumerate(sequence(entry.pop("triggers", []))):
        with document.at((*place, i)):
            triggers.append(_trigger(one))
    known = ("triggers", "discarding", "late_updates")
    flags = {one_of(key, known, "is an unknown key"): flag for key, flag in entry.items()}
    return builder.emit(*triggers, **flags)


def _trigger(one: object) -> WindowTrigger | str:
    if one in _PLAIN:
        return one
    if isinstance(one, dict) and len(one) == 1:
        [(name, value)] = one.items()
        if name in _VALUES:
            return WindowTrigger(name, value)
    raise refused("trigger", one, "is not a trigger", allowed=_TRIGGERS, fix="every: 10s")
