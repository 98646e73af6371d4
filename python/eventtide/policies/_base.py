"""The base class of all policies: decorators, repr, equality, and the option map for the JVM."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from eventtide._text.tables import Table, Tabular, tables_of
from eventtide._yaml.files import dump
from eventtide.errors import ArgumentTypeError, refused
from eventtide.policies._decorators import (
    Decorator,
    EmitEvery,
    FutureAction,
    GuardFuture,
    ThrottleByFrame,
    ThrottleByMinStep,
)
from eventtide.policies._rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from eventtide._text.durations import Duration

__all__ = ["ON_CLOCK", "ON_ROWS", "ON_ROWS_AND_CLOCK", "STOCK_SPARK", "WatermarkPolicy"]

STOCK_SPARK = "largest event time anywhere minus one fixed delay"
"""Spark's only watermark rule, for `explain`."""

ON_ROWS = "moves on rows, stands still on the clock alone"
ON_CLOCK = "moves on the clock, regardless of the rows"
ON_ROWS_AND_CLOCK = "moves on rows and on the clock"


@dataclass(frozen=True, eq=False, repr=False)
class WatermarkPolicy(Rule, Tabular):
    """A rule that computes a substream's watermark from its rows and the clock.

    Create a policy with `WatermarkPolicies` and decorate it with the methods below, each of which
    returns a new policy. Policies are immutable, hashable and picklable. Two policies are equal if
    their options are equal.

    Notes
    -----
    A policy object holds no watermark. Every substream of a running query has separate state.

    Examples
    --------
    >>> from eventtide import WatermarkPolicies
    >>> policy = WatermarkPolicies.limiting_lag_and_lull("5s", "30s").throttle_by_frame("1s")
    >>> policy
    WatermarkPolicies.limiting_lag_and_lull(lag='5s', max_lull='30s').throttle_by_frame('1s')
    >>> policy == WatermarkPolicies.limiting_lag_and_lull("PT5S", "0.5m").throttle_by_frame("1s")
    True
    """

    moves: ClassVar[str] = ""
    """Describes what moves the watermark, for `explain`; empty if the children describe it."""
    decorators: tuple[Decorator, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check parameters and decorators early, so that the traceback shows the caller's line."""
        for decorator in self.decorators:
            if not isinstance(decorator, Decorator):
                raise refused(
                    "decorators",
                    decorator,
                    "is not a decorator",
                    allowed="a tuple of decorators",
                    fix=".throttle_by_frame('1s') after the policy",
                    error=ArgumentTypeError,
                )
        super().__post_init__()

    def children(self) -> tuple[WatermarkPolicy, ...]:
        """Return the policies that this policy combines, empty for a plain policy."""
        return ()

    def to_options(self) -> dict[str, str]:
        """Return the flat map that the JVM codec reads, durations in ISO 8601.

        Returns
        -------
        dict of str to str
            ``policy`` and its parameters, children under ``of.<i>.``, decorators under
            ``decorators.<i>``, in the order in which they apply.

        Examples
        --------
        >>> from eventtide import WatermarkPolicies
        >>> WatermarkPolicies.with_fixed_lag("1m").throttle_by_min_step("1s").to_options()
        ... # doctest: +NORMALIZE_WHITESPACE
        {'policy': 'with_fixed_lag', 'lag': 'PT60S',
         'decorators.0': 'throttle_by_min_step', 'decorators.0.step': 'PT1S'}
        """
        options = {"policy": self._kind(), **self.parameters()}
        for i, child in enumerate(self.children()):
            options |= {f"of.{i}.{key}": value for key, value in child.to_options().items()}
        for i, decorator in enumerate(self.decorators):
            options[f"decorators.{i}"] = decorator.name
            options |= {f"decorators.{i}.{k}": v for k, v in decorator.to_options().items()}
        return options

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain values, with its children and decorators as lists.

        Examples
        --------
        >>> from eventtide import WatermarkPolicies
        >>> WatermarkPolicies.with_fixed_lag("5s").throttle_by_min_step("1s").to_dict()
        {'name': 'with_fixed_lag', 'lag': '5s', 'decorators': [{'name': 'throttle_by_min_step', ...
        """
        made = super().to_dict()
        if self.decorators:
            made["decorators"] = [decorator.to_dict() for decorator in self.decorators]
        return made

    def to_yaml(self) -> str:
        """Return a YAML document of the policy, which `eventtide.policies.from_yaml` reads.

        Raises
        ------
        InvalidArgumentError
            The policy, or a policy that it combines, is a custom class in Python.
        SetupError
            The extra ``eventtide[yaml]`` is not installed.

        Examples
        --------
        >>> from eventtide import WatermarkPolicies
        >>> print(WatermarkPolicies.with_fixed_lag("5s").emit_every("1s").to_yaml())
        name: with_fixed_lag
        lag: 5s
        decorators:
        - name: emit_every
          interval: 1s
        <BLANKLINE>
        """
        self.check_writable()
        return dump(self.to_dict())

    def throttle_by_frame(self, size: Duration, offset: Duration = "0s") -> Self:
        """Emit only when the watermark enters a new frame; see `ThrottleByFrame`."""
        return self._with(ThrottleByFrame(size, offset))

    def throttle_by_min_step(self, step: Duration) -> Self:
        """Emit only after a step of this length; see `ThrottleByMinStep`."""
        return self._with(ThrottleByMinStep(step))

    def emit_every(self, interval: Duration) -> Self:
        """Emit only on a processing-time timer; see `EmitEvery`."""
        return self._with(EmitEvery(interval))

    def guard_future(self, max_ahead: Duration, on: FutureAction = "clamp") -> Self:
        """Prevent future rows from moving the watermark; see `GuardFuture`."""
        return self._with(GuardFuture(max_ahead, on))

    def explain(self) -> None:
        """Print a description of the policy as a tree, and the rule of stock Spark.

        Examples
        --------
        >>> from eventtide import WatermarkPolicies
        >>> WatermarkPolicies.with_fixed_lag("5s").throttle_by_frame("1s").explain()
        throttle_by_frame('1s'): emits only the starts of frames of 1s, each once
        +- with_fixed_lag(lag='5s'): 5s behind the highest event time
              moves on rows, stands still on the clock alone
        stock Spark: largest event time anywhere minus one fixed delay
        """
        print(self.explained())  # noqa: T201 - as DataFrame.explain does

    def explained(self) -> str:
        """Return the text that `explain` prints."""
        return "\n".join([*self._tree(), f"stock Spark: {STOCK_SPARK}"])

    def __repr__(self) -> str:
        """Return an expression that creates an equal policy."""
        return ".".join([self._expression(), *map(repr, self.decorators)])

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yield the parameters as the user wrote them, without the decorators."""
        return ((name, value) for name, value in super().written() if name != "decorators")

    def _kind(self) -> str:
        """Return the name of the policy in the JVM."""
        return self.name

    def _expression(self) -> str:
        return f"WatermarkPolicies.{self._call()}"

    def check_writable(self) -> None:
        """Reject a policy that YAML cannot express."""
        for child in self.children():
            child.check_writable()

    def _call(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.written())})"

    def _title(self) -> str:
        return self._call()

    def _with(self, decorator: Decorator) -> Self:
        return replace(self, decorators=(*self.decorators, decorator))

    def _branches(self) -> Iterator[list[str]]:
        """Yield the lines of each child."""
        return (child._tree() for child in self.children())  # noqa: SLF001 - of the same class

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rules of this policy and their effects, the outermost first."""
        yield from ((repr(one), one.meaning) for one in reversed(self.decorators))
        yield self._title(), "; ".join(filter(None, (self.meaning, self.moves)))
        for branch in self._branches():
            yield "", branch[0]

    def _tree(self) -> list[str]:
        """Return the lines of the tree, outermost first: the last decorator is the first line."""
        lines = [f"{self._title()}: {self.meaning}"]
        lines += [line for branch in self._branches() for line in _nest(branch)]
        lines += [f"   {self.moves}"] if self.moves else []
        for decorator in self.decorators:
            lines = [f"{decorator!r}: {decorator.meaning}", *_nest(lines)]
        return lines


def _nest(lines: list[str]) -> list[str]:
    first, *rest = lines
    return [f"+- {first}", *(f"   {line}" for line in rest)]


@tables_of.register(WatermarkPolicy)
def _(policy: WatermarkPolicy) -> Iterator[Table]:
    yield Table(repr(policy), ("rule", "what it does"), list(policy._rows()))  # noqa: SLF001 - of this module
