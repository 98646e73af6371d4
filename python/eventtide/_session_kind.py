"""The kind of session that an object belongs to: classic, or Spark Connect.

Spark Connect has classes of its own for sessions, queries and writers. They are known only once
Spark Connect is imported, and no object has them before.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from eventtide.errors import unready

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide.errors import SetupError

__all__ = [
    "EXTENSION",
    "PLUGIN",
    "RELATIONS",
    "combined",
    "is_connect",
    "is_query",
    "no_session",
    "queries",
    "sessions",
    "writers",
]

EXTENSION = "io.eventtide.spark.EventtideExtensions"
"""The class in ``spark.sql.extensions`` of every session."""

PLUGIN = "io.eventtide.spark.connect.EventtideRelationPlugin"
"""The class in `RELATIONS` of a Spark Connect server."""

RELATIONS = "spark.connect.extensions.relation.classes"

_Query = TypeVar("_Query")


def is_connect(thing: object) -> bool:
    """Return whether an object belongs to Spark Connect, without importing Spark Connect."""
    return any(base.__module__.startswith("pyspark.sql.connect.") for base in type(thing).__mro__)


def sessions() -> tuple[type, ...]:
    """Return the classes of sessions."""
    return _both(SparkSession, "pyspark.sql.connect.session")


def queries() -> tuple[type, ...]:
    """Return the classes of running queries."""
    return _both(StreamingQuery, "pyspark.sql.connect.streaming.query")


def is_query(thing: object) -> TypeGuard[StreamingQuery]:
    """Return whether an object is a running query, of either kind."""
    return isinstance(thing, queries())


def writers() -> tuple[type, ...]:
    """Return the classes of writers of streams."""
    return _both(DataStreamWriter, "pyspark.sql.connect.streaming.readwriter")


def _both(classic: type, module: str) -> tuple[type, ...]:
    connect = getattr(sys.modules.get(module), classic.__name__, None)
    return (classic,) if connect is None else (classic, connect)


def combined(calls: type[_Query], base: type) -> Callable[..., _Query]:
    """Return a class of queries with the methods of `calls`, over those of a kind of session."""
    kind: Any = type(calls.__name__, (calls, base), {"__module__": calls.__module__})
    made: Callable[..., _Query] = kind
    return made


def no_session() -> SetupError:
    """Return the error about a session that is needed and not there."""
    fix = "Start one: spark = et.configure(SparkSession.builder).getOrCreate()."
    return unready("No Spark session is active.", fix)
