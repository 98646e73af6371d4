"""Handlers, which are called with the late rows of each batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pyspark.sql import DataFrame

from eventtide._text.arguments import choice
from eventtide._worker.late_calls import LateContext
from eventtide.errors import ArgumentTypeError, refused

__all__ = ["Handler", "LateHandler", "OnError", "check_handler"]


Handler: TypeAlias = Callable[[DataFrame, LateContext], object]
"""A function of the late rows of a batch and their `LateContext`."""

OnError: TypeAlias = Literal["fail", "log"]
"""Whether an error of a handler stops the query or is logged."""


@dataclass(frozen=True, eq=False, repr=False)
class LateHandler:
    """The arguments of `WindowBuilder.on_late`, as the user wrote them.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError
        An argument is not valid.
    """

    handler: Handler
    on_error: OnError = "fail"

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        check_handler("on_late", self.handler, "on_error", self.on_error)

    def __repr__(self) -> str:
        """Return the method call with these arguments."""
        on_error = "" if self.on_error == "fail" else f", on_error={self.on_error!r}"
        return f"on_late({self.title}{on_error})"

    @property
    def title(self) -> str:
        """The name of the function, if it has a name."""
        return getattr(self.handler, "__qualname__", None) or repr(self.handler)


def check_handler(name: str, handler: object, on_name: str, on_error: object) -> None:
    """Reject an invalid handler or error action; errors use the two argument names."""
    if not callable(handler):
        allowed, fix = "a function of two arguments, fn(df, context)", f"{name}=handle"
        problem = f"has type {type(handler).__name__}, which cannot be called"
        raise refused(name, handler, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    choice(on_name, on_error, get_args(OnError))
