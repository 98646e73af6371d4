"""Names in other forms, and suggestions for names that a namespace does not have."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

__all__ = ["Namespace", "camel"]


def camel(name: str) -> str:
    """Return a Python name as a key of VoltSP's YAML or of a session.

    Examples
    --------
    >>> camel("idle_timeout_clock")
    'idleTimeoutClock'
    """
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


class Namespace(type):
    """The type of a class that holds functions, which suggests a name for an unknown one.

    Examples
    --------
    >>> class Policies(metaclass=Namespace):
    ...     with_fixed_lag = min
    >>> Policies.fixed_lag
    Traceback (most recent call last):
    AttributeError: Policies has no 'fixed_lag'. Try: Policies.with_fixed_lag
    """

    if not TYPE_CHECKING:  # a type checker reports unknown names by itself

        def __getattr__(cls, name: str) -> object:
            """Refuse an unknown name."""
            known = [known for known in dir(cls) if known[0] != "_"]
            near = [k for k in known if name.lower() in k] or get_close_matches(name, known, n=1)
            names = " or ".join(f"{cls.__name__}.{k}" for k in near)
            hint = f"Try: {names}" if near else f"Known: {', '.join(known)}"
            message = f"{cls.__name__} has no {name!r}. {hint}"
            raise AttributeError(message, name=name, obj=cls)
