"""A policy for each substream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from eventtide._text.arguments import of_type
from eventtide.errors import refused
from eventtide.policies._base import WatermarkPolicy
from eventtide.policies._combined import check_plain

if TYPE_CHECKING:
    from eventtide.policies._decorators import Decorator

__all__ = ["BySubstream", "PolicyOrRules"]


@dataclass(frozen=True, eq=False, repr=False)
class BySubstream(WatermarkPolicy):
    """Use another policy for some substreams, by their names.

    Parameters
    ----------
    rules : mapping of str to WatermarkPolicy
        Plain policies by the name of a substream. A ``*`` in a name matches any text. The first
        matching name decides. The last name must be ``"*"``: the policy of all other substreams.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `rules` is empty or does not end with ``"*"``, or a rule is decorated.

    Notes
    -----
    `with_watermark` accepts the mapping as its policy. `progress` shows the names of substreams.
    Windows with `watermark_scope` refuse this policy, because they have no substreams.

    Examples
    --------
    >>> from eventtide import WatermarkPolicies
    >>> lag = WatermarkPolicies.with_fixed_lag
    >>> WatermarkPolicies.by_substream({"eu-*": lag("1m"), "*": lag("5s")}).explain()
    by_substream(eu-*, *): a policy for each substream, by its name
    +- eu-*: with_fixed_lag(lag='1m'): 1m behind the highest event time
          moves on rows, stands still on the clock alone
    +- *: with_fixed_lag(lag='5s'): 5s behind the highest event time
          moves on rows, stands still on the clock alone
    stock Spark: largest event time anywhere minus one fixed delay
    """

    name: ClassVar[str] = "by_substream"
    summary: ClassVar[str] = "a policy for each substream, by its name"
    rules: Mapping[str, WatermarkPolicy]

    def __post_init__(self) -> None:
        """Check the rules early, so that the traceback shows the line of the caller."""
        allowed = "policies by the names of substreams, the last one '*'"
        fix = "{'eu': with_fixed_lag('1m'), '*': with_fixed_lag('5s')}"
        of_type("rules", self.rules, Mapping, allowed, fix)
        object.__setattr__(self, "rules", MappingProxyType(dict(self.rules)))
        for name, policy in self.rules.items():
            of_type("rules", name, str, allowed, fix)
            check_plain(f"rules[{name!r}]", policy, self.name, fix)
        if [*self.rules][-1:] != ["*"]:
            names = list(self.rules)
            problem = "do not end with '*', the policy of all other substreams"
            raise refused("rules", names, problem, allowed=allowed, fix=fix)
        super().__post_init__()

    def children(self) -> tuple[WatermarkPolicy, ...]:
        """Return the policies of the rules."""
        return tuple(self.rules.values())

    def parameters(self) -> dict[str, str]:
        """Return an empty map; only the children have parameters."""
        return {}

    def to_options(self) -> dict[str, str]:
        """Return the flat map that the JVM codec reads."""
        options = super().to_options()
        return options | {f"of.{i}.substream": name for i, name in enumerate(self.rules)}

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain values, with the policies of substreams as ``rules``."""
        rules = {name: policy.to_dict() for name, policy in self.rules.items()}
        return super().to_dict() | {"rules": rules}

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yield nothing: the only parameters are policies."""
        yield from ()

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to create an equal policy, since a proxy cannot be pickled."""
        return _by_substream, (dict(self.rules), self.decorators)

    def _call(self) -> str:
        return f"{self.name}({dict(self.rules)!r})"

    def _title(self) -> str:
        return f"{self.name}({', '.join(self.rules)})"

    def _branches(self) -> Iterator[list[str]]:
        for (name, _), (first, *rest) in zip(self.rules.items(), super()._branches(), strict=True):
            yield [f"{name}: {first}", *rest]


def _by_substream(
    rules: Mapping[str, WatermarkPolicy], decorators: tuple[Decorator, ...]
) -> BySubstream:
    return BySubstream(rules, decorators=decorators)


PolicyOrRules: TypeAlias = WatermarkPolicy | Mapping[str, WatermarkPolicy]
"""A policy for all substreams, or the rules of `BySubstream`."""
