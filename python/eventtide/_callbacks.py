"""The functions of this process that the JVM or a server may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["answer_policies", "policies"]

_policies: Callable[[str], str] | None = None


def answer_policies(function: Callable[[str], str]) -> None:
    """Set the function that answers for the policies in Python; both texts are JSON."""
    global _policies  # noqa: PLW0603 - one function a process
    _policies = function


def policies() -> Callable[[str], str] | None:
    """Return the function that answers for the policies, None before it is set."""
    return _policies
