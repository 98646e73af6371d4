"""The conversion of a server's errors to Python errors."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.errors.exceptions.connect import SparkConnectException
from pyspark.sql.connect.session import SparkSession

from eventtide._connect.plans import answer
from eventtide._request import Request
from eventtide.errors import from_report, renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql.connect.streaming.query import StreamingQuery

    from eventtide.errors import EventtideError

__all__ = ["in_flow", "named", "named_errors"]

# The text of a failure has its causes, each with its class.
_CAUSE = re.compile(r"io\.eventtide\.spark\.EventtideException: (\[([A-Z_]+)\] [^\n]*)")
_UNFILLED = re.compile(r"<\w+>")
_QUERY = re.compile(r"\[id = ([0-9a-f-]{36}), runId = ([0-9a-f-]{36})\]")
_IN_FLOW = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"


@contextmanager
def named_errors(session: SparkSession) -> Iterator[None]:
    """Raise the server's eventtide errors as their Python classes; others are not changed."""
    with renamed(lambda error: _asked(error, session)):
        yield


def in_flow(error: PySparkException) -> bool:
    """Return whether an error is that a pipeline's flow function has asked the server."""
    return error.getCondition() == _IN_FLOW


def named(error: Exception, query: StreamingQuery | None = None) -> EventtideError | None:
    """Return the eventtide error that caused an error of Spark, None if there is none.

    The server describes it, because its version has the messages.
    """
    with suppress(PySparkException):  # there may be no session
        return _asked(error, SparkSession.active() if query is None else query._session)
    return None


def _asked(error: Exception, session: SparkSession) -> EventtideError | None:
    if not isinstance(error, SparkConnectException):
        return None
    with suppress(PySparkException):  # the server may be gone
        return (
            _of_query(error, session) or _of_condition(error, session) or _of_cause(error, session)
        )
    return None


def _of_query(error: SparkConnectException, session: SparkSession) -> EventtideError | None:
    """Return the error that ended a query: the client has its text only."""
    for query, run in _QUERY.findall(str(error))[:1]:
        with suppress(PySparkException):  # a query of another session
            return _error(answer(session, Request.of("failure", {"query": query, "run": run})))
    return None


def _of_condition(error: SparkConnectException, session: SparkSession) -> EventtideError | None:
    condition, parameters = error.getCondition(), error.getMessageParameters()
    found = None if condition is None else _described(session, condition, parameters)
    if found is None or parameters or not _UNFILLED.search(str(found)):
        return found
    return _as_received(found, str(error))


def _of_cause(error: SparkConnectException, session: SparkSession) -> EventtideError | None:
    """Return the error among the causes, whose parameters a client does not have."""
    trace = getattr(error, "getStackTrace", lambda: None)() or ""
    for message, condition in _CAUSE.findall(trace)[:1]:
        found = _described(session, condition, {})
        return None if found is None else _as_received(found, message)
    return None


def _as_received(error: EventtideError, message: str) -> EventtideError:
    """Return an error without parameters, with the message that the client has received."""
    error.args, error.problem, error.fix = (message,), None, None
    return error


def _described(
    session: SparkSession, condition: str, parameters: Mapping[str, str] | None
) -> EventtideError | None:
    options = {"condition": condition, "parameters": json.dumps(dict(parameters or {}))}
    return _error(answer(session, Request.of("error", options)))


def _error(report: str | None) -> EventtideError | None:
    return None if report is None else from_report(report)
