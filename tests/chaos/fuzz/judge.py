"""What an input may lead to: a result, or an error with a name; and nothing outside is touched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import eventtide as et
from py4j.protocol import Py4JJavaError
from pyspark.errors import ParseException, PySparkException

from tests.chaos.trial import is_named, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from tests.chaos.fuzz.canaries import Canaries

SHOWN = 3000  # characters of an error
_ACCIDENTS = re.compile("INTERNAL_ERROR|OutOfMemoryError|StackOverflowError")


class Violation(Exception):  # noqa: N818 - it is no error of the campaign's
    """An input has led to an error without a name, or to something outside of what was given."""


@dataclass(frozen=True)
class Check:
    """Inputs of one kind, and what is done with each.

    Attributes
    ----------
    inputs : SearchStrategy
        Valid ones in which something has been changed.
    use : callable
        It may fail with a named error.
    examples : int
        How many there are, before another check has its turn.
    reads : callable
        Whether an input may lead to the read of a canary, by the name of that.
    """

    inputs: SearchStrategy[Any]
    use: Callable[[Any], object]
    examples: int
    reads: Callable[[Any, str], bool] = lambda _, __: False


def judge(check: Check, given: Any, canaries: Canaries) -> None:
    """Use an input.

    Raises
    ------
    Violation
        Its text says what is wrong.
    """
    try:
        check.use(given)
    except Violation:
        raise
    except Exception as error:
        if wrong := unnamed(error):
            raise Violation(f"has no name: {wrong}") from error
    read, changed = canaries.read(), canaries.changed()
    if read or changed:
        canaries.restore()
    if changed:
        raise Violation(f"was changed: {', '.join(changed)}")
    if touched := [name for name in read if not check.reads(given, name)]:
        raise Violation(f"was read: {', '.join(touched)}")


def unnamed(error: Exception) -> str | None:
    """Return an error that has no name, with its causes in the JVM; None if it has one."""
    if isinstance(error, et.EventtideError):
        return None if error.condition else said(error)
    if isinstance(error, ParseException):  # by its class: Spark gives some of them no condition
        return None
    text = said(error)
    named = isinstance(error, (PySparkException, Py4JJavaError)) and is_named(text)
    return None if named and not _ACCIDENTS.search(text) else text[:SHOWN]
