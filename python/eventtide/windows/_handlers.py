"""Handlers, which are called with the late rows of each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pyspark.sql import DataFrame

from eventtide._text.arguments import choice
from eventtide.errors import ArgumentTypeError, refused

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Handler", "LateContext", "LateHandler", "OnError", "check_handler"]


@dataclass(frozen=True, repr=False)
class LateContext:
    """The second argument of a late-row handler, which describes the rows.

    Attributes
    ----------
    query : StreamingQuery
        The query of the rows. The handler may stop it and wait for it: within the handler these
        methods do not wait for pending calls.
    batch_id : int
        The batch of the query that read the rows, as in ``_batch_id``. It is the same when the
        call is retried, so the handler can be idempotent.
    reasons : mapping of str to int
        The number of rows by reason, as in ``_reason``.
    checkpoint : str
        The checkpoint location of the query.
    """

    query: StreamingQuery
    batch_id: int
    reasons: Mapping[str, int]
    checkpoint: str

    def __repr__(self) -> str:
        """Return the fields, with the name or the id of the query."""
        name = self.query.name or self.query.id
        return (
            f"LateContext(query={name!r}, batch_id={self.batch_id}, reasons={dict(self.reasons)},"
            f" checkpoint={self.checkpoint!r})"
        )


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
