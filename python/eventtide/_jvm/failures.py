"""The conversion of JVM errors to Python errors."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import CapturedException

from eventtide.errors import from_report, renamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.errors import EventtideError

__all__ = ["JVM_ERRORS", "find_api", "named", "named_errors", "text_of"]

JVM_ERRORS = (PySparkException, Py4JJavaError)
"""The errors that a call into Spark may raise, other than eventtide's."""


def find_api() -> Any:
    """Return the JVM's `PythonApi`, or None: py4j returns a package for a missing class."""
    # One lookup of the full name, because each partial name would be searched for in all jars.
    found = getattr(SparkContext._jvm, "io.eventtide.spark.api.PythonApi", None)
    return None if isinstance(found, JavaPackage) else found


def text_of(error: Exception) -> str:
    """Return the text of an error; for a JVM error, the text of the Java exception."""
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else str(java.toString())


@contextmanager
def named_errors() -> Iterator[None]:
    """Raise eventtide's JVM errors as their Python classes; other errors are not changed."""
    with renamed(named):
        yield


def named(error: Exception, _: object = None) -> EventtideError | None:
    """Return the eventtide error that caused an error of Spark, None if there is none."""
    if not isinstance(error, (Py4JJavaError, CapturedException)):
        return None
    api = find_api()
    report = None if api is None else api.errorJson(_java_exception(error))
    return None if report is None else from_report(str(report))


def _java_exception(error: Any) -> Any:
    """Return the Java exception of a Python error; PySpark stores it in one of three places."""
    while isinstance(error, CapturedException) and error._origin is None:
        error = error._cause
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)
