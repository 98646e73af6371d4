"""Custom policies in a jar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from eventtide._text.arguments import of_type
from eventtide._text.durations import to_iso
from eventtide.errors import ArgumentTypeError, refused
from eventtide.policies._base import WatermarkPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide._text.durations import Duration
    from eventtide.policies._decorators import Decorator

__all__ = ["FromJar"]

_WORDS = ("policy", "name", "decorators", "from_jar", "of")  # of the options and of YAML


@dataclass(frozen=True, eq=False, repr=False)
class FromJar(WatermarkPolicy):
    """A custom policy in Scala or Java, in a jar of the session.

    Parameters
    ----------
    name : str
        The name of its ``CustomPolicyKind``.
    values : mapping of str to str, timedelta or int
        Its parameters: durations as text or ``timedelta``, counts as ``int``.

    Raises
    ------
    InvalidArgumentError
        The name is empty, or a parameter has a name that Eventtide needs.
    ArgumentTypeError
        The name or a parameter has another type.
    InvalidDurationError
        A text is not a duration.

    Notes
    -----
    `WatermarkPolicies.from_jar` creates it. The session checks the names and the values.
    """

    name: str  # type: ignore[misc] # of an object, not of a class as elsewhere
    values: Mapping[str, Duration | int]

    def __post_init__(self) -> None:
        """Check the parameters early, so that the traceback shows the line of the caller."""
        of_type("name", self.name, str, "the name of a CustomPolicyKind", "from_jar('limited_lag')")
        fix = "FromJar('limited_lag', {'lag': '5s'})"
        of_type("values", self.values, Mapping, "the parameters by their names", fix)
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))
        for name in set(_WORDS) & set(self.values):
            allowed, fix = f"parameters other than {', '.join(_WORDS)}", f"{name}_, also in the jar"
            raise refused(name, self.values[name], "is a reserved name", allowed=allowed, fix=fix)
        super().__post_init__()

    @property
    def meaning(self) -> str:
        """The description of the policy for `explain`."""
        return "a policy of a jar"

    def parameters(self) -> dict[str, str]:
        """Return the parameters as the JVM reads them."""
        return {name: _option(name, value) for name, value in self.values.items()}

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yield the parameters as the user wrote them."""
        yield from self.values.items()

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the parameters as plain values."""
        return super().to_dict() | {"from_jar": True}

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to create an equal policy, since a proxy cannot be pickled."""
        return _from_jar, (self.name, dict(self.values), self.decorators)

    def _call(self) -> str:
        values = "".join(f", {name}={value!r}" for name, value in self.values.items())
        return f"from_jar({self.name!r}{values})"


def _option(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, (str, timedelta)):
        return to_iso(name, value)
    raise refused(
        name,
        value,
        f"has type {type(value).__name__}",
        allowed="a duration (text or timedelta) or a whole number",
        fix=f"{name}='5s'",
        error=ArgumentTypeError,
    )


def _from_jar(
    name: str, values: Mapping[str, Duration | int], decorators: tuple[Decorator, ...]
) -> FromJar:
    return FromJar(name, values, decorators=decorators)
