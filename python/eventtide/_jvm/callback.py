"""Calls from the JVM into this Python process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started

from eventtide._callbacks import policies

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["share_policies"]


class _Function:
    """A Python function as a Java function, from text to text."""

    class Java:
        """The interface that py4j gives to the JVM."""

        implements = ("java.util.function.Function",)

    def __init__(self, function: Callable[[str], str]) -> None:
        """Wrap a function."""
        self._function = function

    def apply(self, text: str) -> str:
        """Call the function."""
        return self._function(text)


def share_policies(api: Any) -> None:
    """Let the JVM call the policies in Python."""
    function = policies()
    if function is not None:
        ensure_callback_server_started(SparkContext._gateway)  # type: ignore[no-untyped-call]
        api.registerPolicies(_Function(function))
