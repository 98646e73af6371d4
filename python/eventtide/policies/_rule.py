"""What policies and decorators share: a name, checked options, equality by meaning, a repr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Rule"]


@dataclass(frozen=True, eq=False, repr=False)
class Rule(ABC):
    """A named rule with parameters: a value that keeps what its author wrote.

    Two rules are equal when the JVM would be told the same: ``"60s"`` is ``"1m"``.
    """

    name: ClassVar[str]
    """The name on both sides of the border, which is also the constructor's."""

    def __post_init__(self) -> None:
        """Refuse bad parameters where the caller can see the line."""
        self.to_options()

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them, without the rule's own name."""

    @abstractmethod
    def to_options(self) -> dict[str, str]:
        """Return the flat map that the JVM codec reads."""

    @property
    @abstractmethod
    def meaning(self) -> str:
        """What the rule does, in plain words, in one line."""

    def written(self) -> Iterator[tuple[str, object]]:
        """Yield the parameters as they were written, without those left at their default."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                yield field.name, value

    def __eq__(self, other: object) -> bool:
        """Tell whether both mean the same to the JVM."""
        if not isinstance(other, Rule):
            return NotImplemented
        return self.name == other.name and self.to_options() == other.to_options()

    def __hash__(self) -> int:
        """Hash what `__eq__` compares."""
        return hash((self.name, frozenset(self.to_options().items())))
