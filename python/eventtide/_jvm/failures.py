"""The conversion of JVM errors to Python errors."""

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

    from eventtide.errors import EventtideError

__all__ = ["EXCEPTION", "JVM_ERRORS", "find_api", "named", "named_errors", "text_of"]

# The class is final and an IllegalArgumentException. PySpark keeps the Java object of such errors,
# also in query.exception(). Of errors of unknown classes it keeps only the text there.
EXCEPTION = "io.eventtide.spark.EventtideException"

# The parameters that name the subject of an error, in this order.
_ARGUMENTS = ("option", "setting", "column", "key", "aggregate", "substream", "policy")

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
    try:
        yield
    except JVM_ERRORS as error:
        found = named(error)
        if found is None:
            raise
        raise found from None


def named(error: Exception) -> EventtideError | None:
    """Return the eventtide error that caused an error of Spark, None if there is none."""
    if not isinstance(error, (Py4JJavaError, CapturedException)):
        return None
    java = _named(_java_exception(error))
    return None if java is None else _read(java)


def _read(java: Any) -> EventtideError:
    """Return the Python error of an eventtide exception, with its fields."""
    error = from_jvm(java.pythonClass(), java.getMessage())
    error.condition, error.problem, error.fix = java.getCondition(), java.problem(), java.fix()
    parameters = error.parameters = dict(java.getMessageParameters())
    named = (parameters[name] for name in _ARGUMENTS if name in parameters)
    error.argument, error.value = next(named, None), parameters.get("value")
    error.allowed = parameters.get("allowed", parameters.get("available"))
    return error


def _named(java: Any) -> Any:
    """Return the eventtide exception that caused a Java exception, or None."""
    ours = next(filter(_is_ours, _causes(java)), None)
    if ours is None and java is not None and (api := find_api()) is not None:
        return api.startConflict(java)
    return ours


def _is_ours(java: Any) -> bool:
    return bool(java.getClass().getName() == EXCEPTION)


def _causes(java: Any) -> Iterator[Any]:
    """Yield a Java exception and its causes, each with its suppressed exceptions."""
    while java is not None:
        yield java
        yield from java.getSuppressed()
        java = java.getCause()


def _java_exception(error: Any) -> Any:
    """Return the Java exception of a Python error; PySpark stores it in one of three places."""
    while isinstance(error, CapturedException) and error._origin is None:
        error = error._cause
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)
