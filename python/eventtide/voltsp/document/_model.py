"""The model of a document: its keys and their places.

The builder checks the values, so that each error has one text.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

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
                raise _wrong(key, "has no place here", allowed, cls.instead[key])
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
    """How the window handles time."""

    event_time_extractor: _Text = None
    """The event time: a column or an SQL expression; without it, the time of processing."""
    watermark_strategy: Annotated[
        Any, WithJsonSchema({"enum": ["MIN_EVENT_TIME", "MAX_EVENT_TIME"]})
    ] = None
    """How the watermark follows the rows of a batch."""
    delay_window_close: _Length = None
    """How long a window stays open after its end."""
    idle_timeout: _Length = None
    """A key without rows for this long emits its open windows; the gap of a session window."""
    idle_timeout_clock: Annotated[
        Any, WithJsonSchema({"enum": ["PROCESSING_TIME", "EVENT_TIME"]})
    ] = None
    """The clock that measures idleness."""
    scope: _Several = None
    """Which keys have a watermark together: key, global, or columns."""
    late_rule: Annotated[
        Any, WithJsonSchema({"enum": ["behind_watermark", "frame_closed", "window_closed"]})
    ] = None
    """When a row is late."""
    heartbeat: _Length = None
    """The interval at which idle keys are looked for."""
    key_ttl: _Length = None
    """A key is removed this long after its last row, if it has no open window."""
    max_rows_per_batch: _Number = None
    """The watermark of a key moves after this number of its rows, wherever batches are cut."""


def _keys(part: type[_Part]) -> list[str]:
    return [str(field.alias) for field in part.model_fields.values()]


class AggregateEntry(_Part):
    """One aggregate."""

    type: Annotated[
        Any, WithJsonSchema({"enum": ["count", "sum", "avg", "min", "max", "expression"]})
    ] = None
    """What it is."""
    column: _Text = None
    """What it is over: a column or an SQL expression of the rows."""
    expression: _Text = None
    """An SQL expression that is an aggregate, for the type of that name."""
    name: _Text = Field(None, alias="as")
    """The name of its column in the results."""


class Aggregates(_Part):
    """What the window computes."""

    instead = MappingProxyType({"from": "remove from, since rows have no class"})
    builder: list[AggregateEntry] = []
    """The aggregates, one after the other."""


class TriggerEntry(_Part):
    """When the window gives a result."""

    instead = MappingProxyType(
        {
            "processors": "results.where(\"trigger = 'at_window_end'\") in Python",
            "sink": "results.writeStream in Python",
        }
    )
    trigger: Annotated[Any, WithJsonSchema(_TRIGGERS)] = None
    """At its end, after each batch with rows of it, by the clock, by rows, or on a condition."""


class WindowEntry(_Part):
    """A window; which of the keys it has depends on its kind."""

    instead = MappingProxyType(
        {"exceptionHandler": "et.voltsp.from_yaml(text).with_exception_handler(handle) in Python"}
        | {key: f"{key} below timeConfig" for key in _keys(TimeConfigEntry)}
    )
    window_span: _Span = None
    """How long it is: a duration, or a number of rows for windows that count."""
    slide: _Span = Field(None, alias="slideBy")
    """The distance between the starts of windows."""
    key_extractor: _Several = None
    """The key: columns or SQL expressions."""
    time_config: TimeConfigEntry = Field(default_factory=TimeConfigEntry)
    """The time of rows and of the window."""
    maximum_duration: _Length = None
    """How long a session may be at the most."""
    touching: Annotated[Any, WithJsonSchema({"enum": ["separate", "merge"]})] = None
    """Whether rows exactly one gap apart are of two sessions or of one."""
    aggregate_definition: Aggregates = Field(default_factory=Aggregates)
    """What it computes."""
    late: Annotated[Any, WithJsonSchema({"enum": ["log", "count", "fail"]})] = None
    """How late rows are handled."""
    late_to: _Text = None
    """The folder of the late log."""
    triggers: list[TriggerEntry] = []
    """When it gives results; once, at its end, if there are none."""


class SpanEntry(WindowEntry):
    """A window of this length, side by side with the next."""

    model_config = _needing("windowSpan", "aggregateDefinition")


class SlidingEntry(WindowEntry):
    """A window of this length, which overlaps the next."""

    model_config = _needing("windowSpan", "slideBy", "aggregateDefinition")


class SessionEntry(WindowEntry):
    """A window that ends with a gap."""

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
    version: Literal[1] = 1
    """The version of the form."""
    name: Annotated[str, Field(strict=True)] = ""
    """For the reader; a query has the name that its writer gives it."""
    emitter: Emitter = Field(default_factory=Emitter)
    """The window, as VoltSP's pipelines have it."""
