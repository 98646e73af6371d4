"""Errors of the JVM, as Python has them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import CapturedException

from eventtide.errors import from_jvm

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXCEPTION", "JVM_ERRORS", "find_api", "named_errors", "text_of"]

# Final, and an IllegalArgumentException: of those PySpark keeps the Java object wherever it reports
# them, also in query.exception(), where it keeps only the text of classes that it does not know.
EXCEPTION = "io.eventtide.spark.EventtideException"

JVM_ERRORS = (PySparkException, Py4JJavaError)
"""What a call into Spark may raise that is none of eventtide's."""


def find_api() -> Any:
    """Return the JVM's door, or None: py4j takes a class that is not there for a package."""
    # Package by package, each name would be looked for in all jars.
    found = getattr(SparkContext._jvm, "io.eventtide.spark.api.PythonApi", None)
    return None if isinstance(found, JavaPackage) else found


def text_of(error: Exception) -> str:
    """Return what an error says; one of the JVM says more than the call that it ended."""
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else str(java.toString())


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise eventtide's errors of the JVM as their Python classes; leave all others alone.

    .. versionadded:: 0.1

    What eventtide's own functions raise is named already. A query runs in a thread of its own, so
    that what stops it reaches Python as Spark's ``StreamingQueryException``; this finds the cause.

    Raises
    ------
    EventtideError
        In place of an exception that one of eventtide's own caused: `CheckpointError`,
        `RefusedDataError` and the like.

    Examples
    --------
    >>> import eventtide as et
    >>> with et.named_errors():  # doctest: +SKIP
    ...     query.awaitTermination()
    """
    try:
        yield
    except (Py4JJavaError, CapturedException) as error:
        java = _named(_java_exception(error))
        if java is None:
            raise
        named = from_jvm(java.pythonClass(), java.getMessage())
        named.condition = java.getCondition()
        raise named from None


def _named(java: Any) -> Any:
    """Return eventtide's exception behind one of Java, or None."""
    ours = next(filter(_is_ours, _told_by(java)), None)
    if ours is None and java is not None and (api := find_api()) is not None:
        return api.startConflict(java)
    return ours


def _is_ours(java: Any) -> bool:
    return bool(java.getClass().getName() == EXCEPTION)


def _told_by(java: Any) -> Iterator[Any]:
    """Return a Java exception with its causes, and what eventtide has put beside each."""
    while java is not None:
        yield java
        yield from java.getSuppressed()
        java = java.getCause()


def _java_exception(error: Any) -> Any:
    """Return the Java exception behind a Python one; PySpark keeps it in one of three places."""
    while isinstance(error, CapturedException) and error._origin is None:
        error = error._cause
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)
