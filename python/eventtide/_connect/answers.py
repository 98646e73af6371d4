"""The questions of a client of Spark Connect, and the check of its server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from weakref import WeakSet

from pyspark.errors import PySparkException

from eventtide._connect.failures import in_flow, named_errors
from eventtide._connect.plans import TYPE_URL, answer
from eventtide._request import Request
from eventtide._session_kind import EXTENSION, PLUGIN, RELATIONS
from eventtide._version import __version__
from eventtide.errors import unready

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.connect.streaming.query import StreamingQuery

__all__ = ["ask", "ask_of", "check"]

_checked: WeakSet[SparkSession] = WeakSet()


def ask(session: SparkSession, question: Request, rows: DataFrame | None = None) -> str | None:
    """Return the server's answer to a question, None if it has none."""
    check(session)
    with named_errors(session):
        return answer(session, question, rows)


def ask_of(query: StreamingQuery, name: str, **options: str) -> str | None:
    """Return the server's answer to a question about a query of its session."""
    of = {"query": query.id, "run": query.runId}
    return ask(query._session, Request.of(name, {**of, **options}))


def check(session: SparkSession) -> None:
    """Check once that the server of a session has eventtide, in this version.

    Raises
    ------
    SetupError
        The server lacks the jar, the plugin or the extension, or has another version.
    """
    if session in _checked:
        return
    try:
        with named_errors(session):
            versions = answer(session, Request.of("version", {}))
    except PySparkException as error:
        if in_flow(error):  # of a pipeline, which allows no question
            return
        if TYPE_URL not in str(error):
            raise
        raise unready(
            "The Spark Connect server does not have eventtide.",
            f"Start it with eventtide's jar in --jars, --conf {RELATIONS}={PLUGIN} and --conf"
            f" spark.sql.extensions={EXTENSION}.",
        ) from None
    version, spark = json.loads(versions or "[]")
    if version != __version__:
        raise unready(
            f"The Spark Connect server has the jar of eventtide {version}, and Python has"
            f" eventtide {__version__}.",
            f"Use one version: pip install eventtide-client=={version}, or start the server with"
            f" the jar of eventtide {__version__} for Spark {spark}.",
        )
    _checked.add(session)
