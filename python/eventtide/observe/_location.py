"""The checkpoint location of a query, from a path or a query handle."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _jvm
from eventtide._text.arguments import of_type

__all__ = ["checkpoint_location"]


def checkpoint_location(of: str | Path | StreamingQuery, fix: str) -> str:
    """Return the checkpoint location of a query, or the given location as text."""
    if isinstance(of, StreamingQuery):
        return _jvm.checkpoint_of(of)
    path = str(of) if isinstance(of, Path) else of
    of_type("of", path, str, "a checkpoint location or a StreamingQuery", fix)
    return path
