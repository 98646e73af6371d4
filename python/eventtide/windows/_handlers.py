"""What is called with the late rows of each batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pyspark.sql import DataFrame

from eventtide._text.arguments import choice
from eventtide.errors import ArgumentTypeError, sentence

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Handler", "LateContext", "LateHandler", "OnError", "check_handler"]


@dataclass(frozen=True)
class LateContext:
    """What a handler of late rows is told beside the rows.

    .. versionadded:: 0.1

    Attributes
    ----------
    query : StreamingQuery
        The query whose rows they are. Within the handler it may be stopped and waited for: there it
        is the query alone, without the calls that it owes.
    batch_id : int
        The batch of that query that read them, as in their ``_batch_id``: the same when the handler
        is called for it again, so that work can be done once.
    reasons : mapping of str to int
        How many rows there are, by reason, as in their ``_reason``.
    checkpoint : str
        The checkpoint location of the query.
    """

    query: StreamingQuery
    batch_id: int
    reasons: Mapping[str, int]
    checkpoint: str


Handler: TypeAlias = Callable[[DataFrame, LateContext], object]
"""A function of the late rows of a batch and of what is known about them."""

OnError: TypeAlias = Literal["fail", "log"]
"""What becomes of a handler's own error: it stops the query, or is logged."""


@dataclass(frozen=True, eq=False, repr=False)
class LateHandler:
    """The arguments of `WindowBuilder.on_late`, as they were written.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError
        One is wrong.
    """

    handler: Handler
    on_error: OnError = "fail"

    def __post_init__(self) -> None:
        """Refuse what is wrong, where the caller can see the line."""
        check_handler("on_late", self.handler, "on_error", self.on_error)

    def __repr__(self) -> str:
        """Return the method call that makes it."""
        on_error = "" if self.on_error == "fail" else f", on_error={self.on_error!r}"
        return f"on_late({self.title}{on_error})"

    @property
    def title(self) -> str:
        """The name of the function, where it has one."""
        return getattr(self.handler, "__qualname__", None) or repr(self.handler)


def check_handler(name: str, handler: object, on_name: str, on_error: object) -> None:
    """Refuse what cannot be called, or cannot be done with its errors, by these names."""
    if not callable(handler):
        allowed, fix = "a function of two arguments, fn(df, context)", f"{name}=handle"
        problem = f"has type {type(handler).__name__}, which cannot be called"
        raise ArgumentTypeError(sentence(name, handler, problem, allowed=allowed, fix=fix))
    choice(on_name, on_error, get_args(OnError))
