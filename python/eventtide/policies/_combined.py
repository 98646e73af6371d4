"""Combined policies: the lowest or the highest of several policies, for one substream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from eventtide.errors import ArgumentTypeError, InvalidArgumentError, sentence
from eventtide.policies._base import WatermarkPolicy

__all__ = ["MaxOf", "MinOf"]


@dataclass(frozen=True, eq=False, repr=False)
class _Combined(WatermarkPolicy):
    policies: tuple[WatermarkPolicy, ...]

    def __post_init__(self) -> None:
        if not self.policies:
            raise InvalidArgumentError(self._refusal("policies", (), "is empty"))
        for i, policy in enumerate(self.policies):
            if not isinstance(policy, WatermarkPolicy):
                raise ArgumentTypeError(self._refusal(f"policies[{i}]", policy, "is not a policy"))
            if policy.decorators:
                raise InvalidArgumentError(
                    sentence(
                        f"policies[{i}]",
                        policy,
                        f"is decorated inside {self.name}, where only the outside may be",
                        allowed="plain policies",
                        fix=f"decorate the combination: {self.name}(...).{policy.decorators[0]!r}",
                    )
                )
        super().__post_init__()

    def children(self) -> tuple[WatermarkPolicy, ...]:
        """Return the policies that this one combines."""
        return self.policies

    def parameters(self) -> dict[str, str]:
        """Return an empty map; only the children have parameters."""
        return {}

    def _call(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.policies))})"

    def _title(self) -> str:
        return self.name

    def _refusal(self, name: str, value: object, problem: str) -> str:
        fix = f"{self.name}(with_fixed_lag('5s'), limiting_real_time_lag('1h'))"
        return sentence(name, value, problem, allowed="one policy or more", fix=fix)


@dataclass(frozen=True, eq=False, repr=False)
class MinOf(_Combined):
    """Follow the lowest of several policies: wait until all of them advance.

    .. versionadded:: 0.1

    Parameters
    ----------
    policies : tuple of WatermarkPolicy
        One or more, none of them decorated.

    Raises
    ------
    InvalidArgumentError
        There is no policy, or one is decorated: only the combination can be decorated.
    ArgumentTypeError
        An element is not a policy.

    Notes
    -----
    The watermark is unknown while that of one policy is unknown.
    """

    name: ClassVar[str] = "min_of"
    summary: ClassVar[str] = "the lowest of these; unknown while one of them is"


@dataclass(frozen=True, eq=False, repr=False)
class MaxOf(_Combined):
    """Follow the highest of several policies: advance as soon as one of them does.

    .. versionadded:: 0.1

    Parameters
    ----------
    policies : tuple of WatermarkPolicy
        One or more, none of them decorated.

    Raises
    ------
    InvalidArgumentError
        There is no policy, or one is decorated: only the combination can be decorated.
    ArgumentTypeError
        An element is not a policy.

    Notes
    -----
    The watermark is known as soon as that of one policy is known.
    """

    name: ClassVar[str] = "max_of"
    summary: ClassVar[str] = "the highest of these; known as soon as one of them is"
