"""The creation of a YAML document from a window."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from pyspark.sql import Column

from eventtide._text.durations import spoken
from eventtide._text.names import camel
from eventtide._yaml.files import dump
from eventtide.errors import refused
from eventtide.voltsp._aggregates import Aggregate
from eventtide.voltsp._choices import TimeSource, WatermarkStrategy, member

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventtide.voltsp._definition import WindowDefinition
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["written"]


def written(window: WindowDefinition) -> str:
    """Return the document that describes a window.

    Raises
    ------
    InvalidArgumentError
        The window has a value that is not text: a Column, a function, or a policy.
    """
    if window.exception_handler is not None:
        fix = "et.voltsp.from_yaml(text).with_exception_handler(handle)"
        raise _refused("exception_handler", window.exception_handler.handler, fix)
    entry = {
        "windowSpan": window.window_span,
        "slideBy": window.slide,
        "keyExtractor": _one_or_more("key_extractor", window.key_extractor),
        "timeConfig": _time_config(window),
        "maximumDuration": window.maximum_duration,
        "touching": window.touching,
        "aggregateDefinition": {"builder": _aggregates(window)},
        "late": window.late,
        "lateTo": window.late_to,
        "triggers": [{"trigger": _trigger(one)} for one in window.triggers],
    }
    kept = {key: _plain(key, value) for key, value in entry.items() if value not in (None, [], {})}
    document = {"version": 1, "emitter": {window.kind.replace("_", "-"): kept}}
    return dump(document)


def _time_config(window: WindowDefinition) -> dict[str, object]:
    given = window.time_config.given()
    if "policy" in given:
        raise _refused("policy", given["policy"], "a watermark_strategy, or the window in Python")
    for name, kind in {
        "watermark_strategy": WatermarkStrategy,
        "idle_timeout_clock": TimeSource,
    }.items():
        if name in given:
            given[name] = member(kind, name, given[name]).name
    return {camel(name): _plain(name, value) for name, value in given.items()}


def _aggregates(window: WindowDefinition) -> list[dict[str, object]]:
    entries = []
    for one in window.aggregate_definition.aggregates:
        if not isinstance(one, Aggregate):
            raise _refused("agg", one, ".expression('n', 'count_if(ok)') for SQL text")
        of = "expression" if one.kind == "expression" else "column"
        entry = {"type": one.kind, of: _plain(of, one.of), "as": one.name}
        entries.append({key: value for key, value in entry.items() if value is not None})
    return entries


def _trigger(trigger: WindowTrigger) -> object:
    name = camel(trigger.name)
    return name if trigger.value is None else {name: _plain(trigger.name, trigger.value)}


def _one_or_more(name: str, values: Sequence[object]) -> object:
    plain = [_plain(name, value) for value in values]
    return plain[0] if len(plain) == 1 else plain


def _plain(name: str, value: object) -> object:
    """Return a value as plain YAML data."""
    if isinstance(value, timedelta):
        return spoken(value)
    if isinstance(value, Column):
        raise _refused(name, value, f"{name} as SQL text")
    if isinstance(value, (list, tuple)):
        return [_plain(name, one) for one in value]
    return value


def _refused(name: str, value: object, fix: str) -> Exception:
    allowed = "columns, SQL text, durations and names"
    return refused(name, value, "cannot be written as YAML", allowed=allowed, fix=fix)
