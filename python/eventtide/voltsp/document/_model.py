"""The model of a document: its keys and their places.

The builder checks the values, so that each error has one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from eventtide._text.names import camel
from eventtide.errors import ArgumentTypeError, InvalidArgumentError, refused

__all__ = [
    "AggregateEntry",
    "Aggregates",
    "Emitter",
    "Pipeline",
    "TimeConfigEntry",
    "TriggerEntry",
    "WindowEntry",
]

_SEVERAL = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_TRIGGERS = {
    "anyOf": [
        {"enum": ["atWindowEnd", "onUpdate"]},
        *(
            {
                "type": "object",
                "properties": {name: {"type": kind}},
                "required": [name],
                "additionalProperties": False,
            }
            for name, kind in {"every": "string", "everyRows": "integer", "when": "string"}.items()
        ),
    ]
}


def _whole(value: object) -> object:
    """Reject ``true`` and ``1.0``, which Python takes for 1."""
    if type(value) is not int:
        raise ValueError(value)
    return value


_Text: TypeAlias = Annotated[Any, WithJsonSchema({"type": "string"})]
_Length: TypeAlias = Annotated[Any, WithJsonSchema({"type": "string", "examples": ["5s", "1h"]})]
_Span: TypeAlias = Annotated[Any, WithJsonSchema({"type": ["string", "integer"]})]
_Number: TypeAlias = Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1})]
_Several: TypeAlias = Annotated[Any, WithJsonSchema(_SEVERAL)]


class _Part(BaseModel):
    """A mapping of the document, without extra keys."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=camel, use_attribute_docstrings=True, frozen=True
    )
    instead: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """VoltSP keys that are not supported here, each with an alternative."""
    unknown: ClassVar[str] = "is an unknown key"

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: object) -> object:
        known = _keys(cls)
        allowed = ", ".join(known)
        if not isinstance(data, dict):
            problem, fix = f"has type {type(data).__name__}", f"{known[0]}: ... below it"
            allowed = f"a mapping of {allowed}"
            raise refused("", data, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
        for key, value in data.items():
            if key in cls.instead:
                raise _wrong(key, "is not allowed here", allowed, cls.instead[key])
            if key not in known:
                near = get_close_matches(key, known, n=1, cutoff=0.5) or known[:1]
                raise _wrong(key, cls.unknown, allowed, f"{near[0]} in its place")
            if value is None:
                raise _wrong(key, "is empty", "a value", f"remove {key}")
        return data


def _needing(*keys: str) -> ConfigDict:
    """Return a configuration that adds keys required by the builder to the schema."""
    return ConfigDict(json_schema_extra={"required": list(keys)})


def _wrong(key: str, problem: str, allowed: str, fix: str) -> InvalidArgumentError:
    """Return the error about a key, regardless of its value."""
    return refused(key, None, problem, allowed=allowed, fix=fix)


class TimeConfigEntry(_Part):
    """The time settings of the window."""

    event_time_extractor: _Text = None
    """The event time: a column or an SQL expression; without it, the time of processing."""
    watermark_strategy: Annotated[
        Any, WithJsonSchema({"enum": ["MIN_EVENT_TIME", "MAX_EVENT_TIME"]})
    ] = None
    """The rule by which the watermark follows the rows of a batch."""
    delay_window_close: _Length = None
    """The time that a window stays open after its end."""
    idle_timeout: _Length = None
    """The time without rows after which a key emits its windows; the gap of a session."""
    idle_timeout_clock: Annotated[
        Any, WithJsonSchema({"enum": ["PROCESSING_TIME", "EVENT_TIME"]})
    ] = None
    """The clock that measures idleness."""
    scope: _Several = None
    """The keys that share a watermark: key, global, or columns."""
    late_rule: Annotated[
        Any, WithJsonSchema({"enum": ["behind_watermark", "frame_closed", "window_closed"]})
    ] = None
    """The rule by which a row is late."""
    heartbeat: _Length = None
    """The maximum interval between checks for idle keys."""
    key_ttl: _Length = None
    """The time after its last row at which a key without open windows is removed."""
    max_rows_per_batch: _Number = None
    """The number of rows of a key after which its watermark moves, within batches too."""


def _keys(part: type[_Part]) -> list[str]:
    return [str(field.alias) for field in part.model_fields.values()]


class AggregateEntry(_Part):
    """One aggregate."""

    type: Annotated[
        Any, WithJsonSchema({"enum": ["count", "sum", "avg", "min", "max", "expression"]})
    ] = None
    """The kind of aggregate."""
    column: _Text = None
    """The input of the aggregate: a column or an SQL expression of the rows."""
    expression: _Text = None
    """An aggregate as an SQL expression, for the type `expression`."""
    name: _Text = Field(None, alias="as")
    """The name of the aggregate's column in the results."""


class Aggregates(_Part):
    """The aggregates of the window."""

    instead = MappingProxyType({"from": "remove from, since rows have no class"})
    builder: list[AggregateEntry] = []
    """The list of aggregates."""


class TriggerEntry(_Part):
    """A trigger of the window's results."""

    instead = MappingProxyType(
        {
            "processors": "results.where(\"trigger = 'at_window_end'\") in Python",
            "sink": "results.writeStream in Python",
        }
    )
    trigger: Annotated[Any, WithJsonSchema(_TRIGGERS)] = None
    """The trigger: at the end, per batch with rows, by the clock, by rows, or on a condition."""


class WindowEntry(_Part):
    """A window; its keys depend on its kind."""

    instead = MappingProxyType(
        {"exceptionHandler": "et.voltsp.from_yaml(text).with_exception_handler(handle) in Python"}
        | {key: f"{key} below timeConfig" for key in _keys(TimeConfigEntry)}
    )
    window_span: _Span = None
    """The length of a window: a duration, or a number of rows for count windows."""
    slide: _Span = Field(None, alias="slideBy")
    """The distance between the starts of windows."""
    key_extractor: _Several = None
    """The key: columns or SQL expressions."""
    time_config: TimeConfigEntry = Field(default_factory=TimeConfigEntry)
    """The time of rows and of the window."""
    maximum_duration: _Length = None
    """The maximum duration of a session."""
    touching: Annotated[Any, WithJsonSchema({"enum": ["separate", "merge"]})] = None
    """Whether rows exactly one gap apart belong to two sessions or to one."""
    aggregate_definition: Aggregates = Field(default_factory=Aggregates)
    """The aggregates."""
    late: Annotated[Any, WithJsonSchema({"enum": ["log", "count", "fail"]})] = None
    """The action for late rows."""
    late_to: _Text = None
    """The folder of the late log."""
    triggers: list[TriggerEntry] = []
    """The triggers of results; without triggers, there is one result, at the window's end."""


class SpanEntry(WindowEntry):
    """Adjacent windows of one length."""

    model_config = _needing("windowSpan", "aggregateDefinition")


class SlidingEntry(WindowEntry):
    """Overlapping windows of one length."""

    model_config = _needing("windowSpan", "slideBy", "aggregateDefinition")


class SessionEntry(WindowEntry):
    """Sessions, which end with a gap."""

    model_config = _needing("timeConfig", "aggregateDefinition")


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Emitter(_Part):
    """The window, by its kind."""

    unknown = "is not a kind of window"
    model_config = ConfigDict(alias_generator=_kebab)
    tumbling_time_window: SpanEntry | None = None
    sliding_time_window: SlidingEntry | None = None
    session_window: SessionEntry | None = None
    tumbling_count_window: SpanEntry | None = None
    sliding_count_window: SlidingEntry | None = None


class Pipeline(Emitter):
    """A document: the window by its kind, or as the emitter of a pipeline."""

    unknown = _Part.unknown
    instead = MappingProxyType(
        {
            "source": "et.voltsp.from_yaml(text).over(df), whose rows are those of df",
            "processors": "df.where(...) and the like before .over(df)",
            "sink": "et.voltsp.from_yaml(text).over(df).results.writeStream",
        }
    )
    version: Annotated[Literal[1], BeforeValidator(_whole)] = 1
    """The version of the document format."""
    name: Annotated[str, Field(strict=True)] = ""
    """A name for readers of the document; the name of a query is set by its writer."""
    emitter: Emitter = Field(default_factory=Emitter)
    """The window, as in VoltSP's pipelines."""
