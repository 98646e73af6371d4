"""The repr of a VoltSP window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.voltsp._definition import WindowDefinition

__all__ = ["calls"]


def calls(window: WindowDefinition) -> Iterator[str]:
    """Yield the method calls that create a window, after the call that begins it."""
    yield from _given(window, "window_span", "slide")
    if window.key_extractor:
        yield f"with_key_extractor({_listed(window.key_extractor)})"
    if window.time_config.given():
        yield f"with_time_config({window.time_config!r})"
    if window.aggregate_definition.aggregates:
        yield f"with_aggregate_definition(lambda a: a.{window.aggregate_definition!r})"
    if (handler := window.exception_handler) is not None:
        how = "" if handler.on_error == "fail" else f", on_handler_error={handler.on_error!r}"
        yield f"with_exception_handler({handler.title}{how})"
    yield from _given(window, "maximum_duration", "touching", "late", "late_to")
    if window.triggers:
        yield f"emit({_listed(window.triggers)})"


def _given(window: WindowDefinition, *names: str) -> Iterator[str]:
    values = ((name, getattr(window, name)) for name in names)
    return (f"with_{name}({value!r})" for name, value in values if value is not None)


def _listed(values: tuple[object, ...]) -> str:
    return ", ".join(map(repr, values))
