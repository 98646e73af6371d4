"""The creation of a window from a YAML document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from eventtide._text.arguments import choice
from eventtide._text.names import camel
from eventtide._yaml.nodes import Document, parse
from eventtide.errors import ArgumentTypeError, refused
from eventtide.voltsp._aggregates import AggregateDefinition
from eventtide.voltsp._binding import bound, check_rows
from eventtide.voltsp._checks import check
from eventtide.voltsp._time_config import TimeConfig
from eventtide.voltsp._window import VoltSPWindow
from eventtide.voltsp.document._model import Emitter, Pipeline
from eventtide.voltsp.document._wording import at
from eventtide.windows._triggers import WindowTrigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

    from eventtide._yaml.places import Path
    from eventtide.voltsp.document._model import AggregateEntry, WindowEntry
    from eventtide.windows import WindowBuilder

__all__ = ["read"]

_Item = TypeVar("_Item")

_TYPES = ("count", "sum", "avg", "min", "max", "expression")
_TRIGGERS = "atWindowEnd, onUpdate, {every: 10s}, {everyRows: 100} or {when: 'n > 3'}"
_MADE_BY: dict[str, Any] = {
    "every": WindowTrigger.every,
    "everyRows": WindowTrigger.every_rows,
    "when": WindowTrigger.when,
}
_BY_NAME = {"atwindowend": WindowTrigger.at_window_end, "onupdate": WindowTrigger.on_update}
_WRONG_TYPES = {
    "list_type": ("a list", "a dash in front of each entry"),
    "string_type": ("text", "quotes around it"),
}


@dataclass(frozen=True, eq=False, repr=False)
class _WindowOfDocument(VoltSPWindow):
    """A window from a document; its errors about rows name the line, too."""

    document: Document = field(default_factory=lambda: Document({}, {(): 1}))
    path: Path = ()

    def over(self, df: DataFrame) -> WindowBuilder:
        """Return the window over rows; see `VoltSPWindow.over`."""
        check_rows(df)
        document, path, shown = self.document, self.path, len(self.path)
        with at(document, path, shown):
            over = bound(self, df)
        items = (*path, "aggregateDefinition", "builder")
        aggregates = _each(document, shown, over.aggregates(), items)
        results = over.triggers(aggregates)
        triggers = _each(document, shown, results, (*path, "triggers"), ("trigger",))
        with at(document, path, shown):
            return over.finished(aggregates, triggers)


def read(text: str) -> VoltSPWindow:
    """Return the window that a document describes.

    Raises
    ------
    EventtideError
        The first error, with its line and its key.
    """
    document = parse(text)
    path, entry = _entry(document, _validated(document))
    shown = len(path)
    aggregates = AggregateDefinition()
    for i, one in enumerate(entry.aggregate_definition.builder):
        with at(document, (*path, "aggregateDefinition", "builder", i), shown):
            aggregates = _with_aggregate(aggregates, one)
    triggers = []
    for i, each in enumerate(entry.triggers):
        with at(document, (*path, "triggers", i, "trigger"), shown):
            triggers.append(_trigger(each.trigger))
    with at(document, path, shown):
        kind: Any = str(path[-1]).replace("-", "_")
        window: VoltSPWindow = _WindowOfDocument(
            kind, aggregate_definition=aggregates, document=document, path=path
        )
        for call, *values in _calls(entry, triggers):
            window = getattr(window, call)(*values)
        check(window)
    return window


def _each(
    document: Document, shown: int, items: Iterator[_Item], path: Path, inside: Path = ()
) -> list[_Item]:
    """Return the items of a list; an error about an item names its place."""
    found: list[_Item] = []
    while True:
        with at(document, (*path, len(found), *inside), shown):
            item = next(items, None)
        if item is None:
            return found
        found.append(item)


def _validated(document: Document) -> Pipeline:
    try:
        return Pipeline.model_validate(document.data)
    except ValidationError as error:
        wrong = error.errors()
    first = min(wrong, key=lambda one: document.lines.get(one["loc"], 0))
    path, value = first["loc"], first["input"]
    with at(document, path, _hidden(path)):
        if first["type"] in _WRONG_TYPES:
            problem = f"has type {type(value).__name__}"
            allowed, fix = _WRONG_TYPES[first["type"]]
            raise refused("", value, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
        if path == ("version",):
            raise refused("", value, "is unknown", allowed="1", fix="version: 1")
        raise first.get("ctx", {})["error"]  # of the model


def _hidden(path: Path) -> int:
    """Return the number of keys up to the window, 0 if the path does not lead into a window."""
    kinds = [str(field.alias) for field in Emitter.model_fields.values()]
    return next((i + 1 for i, key in enumerate(path) if key in kinds), 0)


def _entry(document: Document, pipeline: Pipeline) -> tuple[Path, WindowEntry]:
    """Return the only window of a document, with its path."""
    places: tuple[tuple[Path, Emitter], ...] = ((), pipeline), (("emitter",), pipeline.emitter)
    found: list[tuple[Path, WindowEntry]] = [
        ((*path, str(field.alias)), entry)
        for path, emitter in places
        for name, field in Emitter.model_fields.items()
        if (entry := getattr(emitter, name)) is not None
    ]
    if len(found) == 1:
        return found[0]
    kinds = ", ".join(str(field.alias) for field in Emitter.model_fields.values())
    problem = "cannot be combined with another window" if found else "has no window"
    fix = "remove one of them" if found else "tumbling-time-window: ... below it"
    path = found[1][0] if found else ()
    with at(document, path):
        raise refused("", None, problem, allowed=f"one window, {kinds}", fix=fix)


def _calls(entry: WindowEntry, triggers: list[WindowTrigger]) -> Iterator[tuple[Any, ...]]:
    for name in ("window_span", "slide", "maximum_duration", "touching", "late", "late_to"):
        if (value := getattr(entry, name)) is not None:
            yield f"with_{name}", value
    if (key := entry.key_extractor) is not None:
        yield "with_key_extractor", *(key if isinstance(key, list) else [key])
    yield "with_time_config", TimeConfig(**entry.time_config.model_dump())
    if triggers:
        yield "emit", *triggers


def _with_aggregate(aggregates: AggregateDefinition, entry: AggregateEntry) -> AggregateDefinition:
    kind = choice("type", entry.type, _TYPES)
    of, other = ("expression", "column") if kind == "expression" else ("column", "expression")
    if (value := getattr(entry, other)) is not None:
        problem, fix = f"is not of type {kind}", f"{of} in its place"
        raise refused(other, value, problem, allowed=f"{of} for type {kind}", fix=fix)
    if kind == "count":
        return aggregates.count("count" if entry.name is None else entry.name, entry.column)
    method: Callable[..., AggregateDefinition] = getattr(aggregates, kind)
    return method(entry.name, getattr(entry, of))


def _trigger(trigger: object) -> WindowTrigger:
    if isinstance(trigger, dict) and len(trigger) == 1:
        [(name, value)] = trigger.items()
        if name in _MADE_BY:
            return _MADE_BY[name](value)  # type: ignore[no-any-return] # by its name
    _, java, last = str(trigger).rpartition("#")
    found = _BY_NAME.get(last.replace("_", "").lower())
    if found is not None and isinstance(trigger, str) and not java:
        return found
    problem = "is a Java name" if java else "is unknown"
    fix = "trigger: " + camel("at_window_end" if found is None else found.name)
    raise refused("trigger", trigger, problem, allowed=_TRIGGERS, fix=fix)
