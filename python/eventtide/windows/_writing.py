"""Windows to YAML."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column

from eventtide import _bridge
from eventtide._text.columns import is_name, shown
from eventtide._text.durations import spoken
from eventtide._watermark import chosen
from eventtide._yaml.files import dump
from eventtide.errors import refused
from eventtide.windows._sql import SqlAggregate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from eventtide.policies import WatermarkPolicy
    from eventtide.windows._settings import Settings
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["written"]

_SCALARS = (
    "offset",
    "origin",
    "time_zone",
    "profile",
    "late_rule",
    "delay",
    "allowed_lateness",
    "key_ttl",
    "heartbeat",
    "max_rows_per_batch",
    "late",
    "late_to",
    "late_retention",
)


def written(settings: Settings) -> str:
    """Return the document that describes a window.

    Raises
    ------
    InvalidArgumentError
        A setting has no text: an expression, a function, or a policy in Python.
    """
    return dump(dict(_entries(settings)))


def _entries(settings: Settings) -> Iterator[tuple[str, Any]]:
    if (time := settings.event_time) is not None:
        values = {name: _value(name, value) for name, value in time.written()}
        yield "event_time", values["column"] if len(values) == 1 else values
    if settings.processing_time:
        yield "processing_time", True
    yield from _keys(settings)
    if (shape := settings.shape) is not None:
        name, arguments = shape.written()
        yield name, _arguments(arguments)
    for name in _SCALARS:
        if (value := getattr(settings, name)) is not None:
            yield name, _value(name, value)
    yield from _results(settings)


def _keys(settings: Settings) -> Iterator[tuple[str, Any]]:
    if settings.key_by:
        yield "key_by", [_value("key_by", key) for key in settings.key_by]
    if (scope := settings.watermark_scope) is not None:
        yield "watermark_scope", _value("watermark_scope", scope.written)
    if (idle := settings.key_idle_timeout) is not None:
        clock = {} if idle.clock == "processing_time" else {"clock": idle.clock}
        yield "key_idle_timeout", _arguments({"timeout": idle.timeout, **clock})


def _results(settings: Settings) -> Iterator[tuple[str, Any]]:
    for name in ("on_late", "execution"):
        if (function := getattr(settings, name)) is not None:
            raise _refused(name, function, f"{name} in Python")
    if settings.emit:
        flags = {name: True for name in ("discarding", "late_updates") if getattr(settings, name)}
        triggers = [_trigger(one) for one in settings.emit]
        yield "emit", {"triggers": triggers, **flags} if flags else triggers
    if settings.agg:
        named = list(map(_aggregate, settings.agg))
        if len(dict(named)) < len(named):
            raise _refused("agg", settings.agg, "another alias for each aggregate")
        yield "agg", dict(named)


def _arguments(arguments: Mapping[str, Any]) -> object:
    """Return the arguments of a method: a single argument, or all arguments by their names."""
    values = {name: _value(name, value) for name, value in arguments.items()}
    return next(iter(values.values())) if len(values) == 1 else values


def _trigger(trigger: WindowTrigger) -> object:
    if trigger.value is None:
        return trigger.name
    return {trigger.name: _value(trigger.name, trigger.value)}


def _aggregate(one: Column | SqlAggregate) -> tuple[str, str]:
    if isinstance(one, SqlAggregate):
        return one.name, one.text
    named = _bridge.of(one).named_sql(one)
    if named is None:
        raise _refused("agg", one, "SQL text with an alias, F.expr('sum(amount)').alias('total')")
    return named


def _value(name: str, value: object) -> object:
    """Return an argument as plain data."""
    if isinstance(value, timedelta):
        return spoken(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Column):
        if name == "gap":
            raise _refused(name, value, "one gap for all rows, or the window in Python")
        if not is_name(shown(value)):
            raise _refused(name, value, f"a column, by df.withColumn(..., {shown(value)})")
        return shown(value)
    if name == "policy":
        return _policy(value)
    if isinstance(value, (list, tuple)):
        return [_value(name, one) for one in value]
    return value


def _policy(value: Any) -> object:  # noqa: ANN401 - a policy, or the rules of one
    policy: WatermarkPolicy = chosen(value)
    policy.check_writable()
    return policy.to_dict()


def _refused(name: str, value: object, fix: str) -> Exception:
    allowed = "columns, SQL text of aggregates, durations and names"
    return refused(name, value, "cannot be written as YAML", allowed=allowed, fix=fix)
