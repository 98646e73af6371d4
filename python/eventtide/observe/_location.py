"""The checkpoint of a query, and the session that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from eventtide import _bridge
from eventtide._session_kind import no_session, queries, sessions
from eventtide._text.arguments import of_type

__all__ = ["QueryOrPath", "located"]

QueryOrPath: TypeAlias = str | Path | StreamingQuery
"""A query, running or stopped, or the location of its checkpoint."""


def located(query: QueryOrPath, spark: SparkSession | None, fix: str) -> tuple[SparkSession, str]:
    """Return the session to read with, and the checkpoint location of a query.

    Parameters
    ----------
    query : str, Path or StreamingQuery
        The query or its checkpoint location.
    spark : SparkSession or None
        The given session, if any. By default the session of the query, or the active session.
    fix : str
        A call for the error.
    """
    path = str(query) if isinstance(query, Path) else query
    allowed = "a StreamingQuery or a checkpoint location"
    of_type("query", path, (str, *queries()), allowed, fix)
    if spark is not None:
        of_type("spark", spark, sessions(), "a SparkSession", f"{fix[:-1]}, spark=spark)")
    if isinstance(path, str):
        return spark or _active(), path
    bridge = _bridge.of(path)
    return spark or bridge.session_of(path), bridge.checkpoint_of(path)


def _active() -> SparkSession:
    session = SparkSession.getActiveSession()
    if session is None:
        raise no_session()
    return session
