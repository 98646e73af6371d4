"""Combined policies: the lowest or the highest of several policies, for one substream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from eventtide.errors import ArgumentTypeError, refused
from eventtide.policies._base import WatermarkPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MaxOf", "MinOf", "check_plain"]

_FIX = "{}(with_fixed_lag('5s'), limiting_real_time_lag('1h'))"


@dataclass(frozen=True, eq=False, repr=False)
class _Combined(WatermarkPolicy):
    policies: tuple[WatermarkPolicy, ...]

    def __post_init__(self) -> None:
        if not self.policies:
            allowed, fix = "one policy or more", _FIX.format(self.name)
            raise refused("policies", (), "is empty", allowed=allowed, fix=fix)
        for i, policy in enumerate(self.policies):
            check_plain(f"policies[{i}]", policy, self.name, _FIX.format(self.name))
        super().__post_init__()

    def children(self) -> tuple[WatermarkPolicy, ...]:
        """Return the policies that this policy combines."""
        return self.policies

    def parameters(self) -> dict[str, str]:
        """Return an empty map; only the children have parameters."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain values, with the policies that it combines as ``of``."""
        children = [policy.to_dict() for policy in self.policies]
        return super().to_dict() | {"of": children}

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yield nothing: the only parameters are policies."""
        yield from ()

    def _call(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.policies))})"

    def _title(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class MinOf(_Combined):
    """Follow the lowest of several policies: wait until all of them advance.

    Parameters
    ----------
    policies : tuple of WatermarkPolicy
        One or more, none of them decorated.

    Raises
    ------
    InvalidArgumentError
        There is no policy, or a policy is decorated: only the combination can be decorated.
    ArgumentTypeError
        An element is not a policy.

    Notes
    -----
    The watermark is unknown while the watermark of any policy is unknown.
    """

    name: ClassVar[str] = "min_of"
    summary: ClassVar[str] = "the lowest of these; unknown while one of them is"


@dataclass(frozen=True, eq=False, repr=False)
class MaxOf(_Combined):
    """Follow the highest of several policies: advance as soon as one of them does.

    Parameters
    ----------
    policies : tuple of WatermarkPolicy
        One or more, none of them decorated.

    Raises
    ------
    InvalidArgumentError
        There is no policy, or a policy is decorated: only the combination can be decorated.
    ArgumentTypeError
        An element is not a policy.

    Notes
    -----
    The watermark is known as soon as the watermark of one policy is known.
    """

    name: ClassVar[str] = "max_of"
    summary: ClassVar[str] = "the highest of these; known as soon as one of them is"


def check_plain(name: str, policy: object, combination: str, fix: str) -> None:
    """Reject values that are not policies, and a policy with decorators inside a combination."""
    if not isinstance(policy, WatermarkPolicy):
        problem, allowed = "is not a policy", "one policy or more"
        if isinstance(policy, type) and issubclass(policy, WatermarkPolicy):
            problem, fix = "is not called", f"{getattr(policy, 'name', policy.__name__)}(...)"
        raise refused(name, policy, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    if policy.decorators:
        problem = f"is decorated inside {combination}, where only the outside may be"
        fix = f"decorate the combination: {combination}(...).{policy.decorators[0]!r}"
        raise refused(name, policy, problem, allowed="plain policies", fix=fix)
