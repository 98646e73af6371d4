"""The repr of a bolt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.storm._model import Bolt

__all__ = ["calls"]

_OTHERS = (
    "timestamp_field",
    "timestamp_extractor",
    "lag",
    "watermark_interval",
    "late_tuple_stream",
    "max_events_in_memory",
    "late",
    "late_to",
)


def calls(bolt: Bolt) -> Iterator[str]:
    """Yield the method calls that create a bolt, after the constructor."""
    if bolt.length is not None:
        yield f"with_window({bolt.length!r}, {bolt.slide!r})"
    values = ((name, getattr(bolt, name)) for name in _OTHERS)
    yield from (f"with_{name}({value!r})" for name, value in values if value is not None)
    if bolt.streams is not None:
        yield f"over({', '.join(bolt.streams.declared)})"
    if bolt.keys:
        ttl = [] if bolt.key_ttl is None else [f"key_ttl={bolt.key_ttl!r}"]
        yield f"group_by({', '.join([*map(repr, bolt.keys), *ttl])})"
