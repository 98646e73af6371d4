"""The base of policies and decorators: a name, checked options, equality by options, a repr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from eventtide._text.durations import spoken, to_iso

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Rule"]


@dataclass(frozen=True, eq=False, repr=False)
class Rule(ABC):
    """A named rule with parameters, which keeps its arguments as the user wrote them.

    Two rules are equal if their options for the JVM are equal: ``"60s"`` equals ``"1m"``.
    """

    name: ClassVar[str]
    """The name in Python and in the JVM, which is also the name of the constructor."""

    def __post_init__(self) -> None:
        """Check the parameters early, so that the traceback shows the line of the caller."""
        self.to_options()

    summary: ClassVar[str]
    """The description of the rule for `explain`, with parameters in braces."""

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them: durations of zero or more."""
        return {name: to_iso(name, value) for name, value in self.written()}

    @abstractmethod
    def to_options(self) -> dict[str, str]:
        """Return the flat map that the JVM codec reads."""

    @property
    def meaning(self) -> str:
        """The description of the rule for `explain`, in one line."""
        durations = (str, timedelta)
        values = {name: v for name, v in self.written() if isinstance(v, durations)}
        return self.summary.format(**{name: spoken(value) for name, value in values.items()})

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yield the parameters as the user wrote them, without default values."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                yield field.name, value

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the parameters as plain values; durations are text."""
        return {"name": self.name} | {
            name: spoken(value) if isinstance(value, timedelta) else value
            for name, value in self.written()
        }

    def __eq__(self, other: object) -> bool:
        """Return whether both rules have the same name and options for the JVM."""
        if not isinstance(other, Rule):
            return NotImplemented
        return self.name == other.name and self.to_options() == other.to_options()

    def __hash__(self) -> int:
        """Return a hash of the values that `__eq__` compares."""
        return hash((self.name, frozenset(self.to_options().items())))
