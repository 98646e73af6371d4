"""Calls of functions with the values of a document as their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar

from eventtide.errors import ArgumentTypeError, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["call", "mapping", "one_of", "sequence"]

_Made = TypeVar("_Made")


def call(function: Callable[..., _Made], values: Mapping[str, Any], *without: str) -> _Made:
    """Call a function with the keys of a document as its arguments.

    Parameters
    ----------
    function : callable
        Its arguments have names.
    values : mapping
        The arguments by name.
    *without : str
        Arguments that a document cannot set.

    Raises
    ------
    InvalidArgumentError
        The function has no such argument, or a required argument is missing.
    """
    parameters = signature(function).parameters
    known = [name for name in parameters if name not in without]
    for key in values:
        one_of(key, known, "is an unknown key")
    for name in known:
        if parameters[name].default is Parameter.empty and name not in values:
            allowed, fix = ", ".join(known), f"a value for {name}"
            raise refused(name, None, "is missing", allowed=allowed, fix=fix)
    return function(**values)


def one_of(name: str, known: Iterable[str], problem: str) -> str:
    """Return a name of a document after checking that it is known."""
    known = list(known)
    if name in known:
        return name
    near = get_close_matches(str(name), known, n=1, cutoff=0.5)
    allowed, fix = ", ".join(known), f"{near[0]} in its place" if near else f"remove {name}"
    raise refused(str(name), None, problem, allowed=allowed, fix=fix)


def mapping(data: object, allowed: str, fix: str) -> dict[str, Any]:
    """Return a copy of a mapping of the document; reject other values."""
    if isinstance(data, Mapping):
        return dict(data)
    problem = "is empty" if data is None else f"has type {type(data).__name__}"
    raise refused("", data, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)


def sequence(data: object) -> list[Any]:
    """Return a list of the document, or one value as a list."""
    return data if isinstance(data, list) else [data]
