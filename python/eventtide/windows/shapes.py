"""The kinds of windows: what is big, what is small, and that one fits into the other."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from eventtide.errors import InvalidDurationError, sentence
from eventtide.windows.sizes import Size, Span, read_size

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_FRAMES", "Kind", "Shape"]

Kind: TypeAlias = Literal["tumbling", "sliding", "cumulate"]
"""Windows side by side, windows that overlap, windows that grow to their full size."""

MAX_FRAMES = 1_000_000
"""The most frames that one window may have: each holds a value of every aggregate."""

# The argument that cuts a window into frames, and the option that it becomes.
_PIECES: Mapping[Kind, tuple[str, str]] = MappingProxyType(
    {"sliding": ("every", "slide"), "cumulate": ("step", "step")}
)


@dataclass(frozen=True, repr=False)
class Shape:
    """A kind of window with its sizes, as they were written.

    Parameters
    ----------
    kind : {"tumbling", "sliding", "cumulate"}
        Which.
    size : str or timedelta
        How long a window is.
    piece : str or timedelta, optional
        The slide or the step; a tumbling window has none.

    Raises
    ------
    InvalidDurationError
        A size is none, `size` is no multiple of `piece`, or there are too many frames.
    """

    kind: Kind
    size: Size
    piece: Size | None = None

    def __post_init__(self) -> None:
        """Refuse sizes that do not fit, where the caller can see the line."""
        (_, size), *pieces = self.spans().items()
        for name, piece in pieces:
            self._check_multiple(size, name, piece)
            self._check_count(size, name, piece)

    def spans(self) -> dict[str, Span]:
        """Return the sizes by the names of their arguments: ``size`` first, then the piece."""
        spans = {"size": read_size("size", self.size)}
        if self.kind in _PIECES:
            name, _ = _PIECES[self.kind]
            spans[name] = read_size(name, self.piece)  # type: ignore[arg-type] # None is refused
        return spans

    @property
    def frames(self) -> int:
        """How many frames a window has."""
        sizes = [span.least_micros for span in self.spans().values()]
        return sizes[0] // sizes[-1]

    @property
    def meaning(self) -> str:
        """What the windows are, in plain words, in one line."""
        size, *pieces = (span.words for span in self.spans().values())
        return {
            "tumbling": f"windows of {size}, side by side",
            "sliding": f"windows of {size}, one begins every {''.join(pieces)}",
            "cumulate": f"windows of {size}, growing by {''.join(pieces)}",
        }[self.kind]

    def to_options(self, *, zoned: bool) -> dict[str, str]:
        """Return what the JVM reads; days are calendar days where there is a time zone."""
        names = ("size", _PIECES[self.kind][1]) if self.kind in _PIECES else ("size",)
        sizes = (span.iso(zoned=zoned) for span in self.spans().values())
        return {"kind": self.kind, **dict(zip(names, sizes, strict=True))}

    def __repr__(self) -> str:
        """Return the method call that makes it, such as ``tumbling('1m')``."""
        piece = f", {_PIECES[self.kind][0]}={self.piece!r}" if self.kind in _PIECES else ""
        return f"{self.kind}({self.size!r}{piece})"

    def _check_multiple(self, size: Span, name: str, piece: Span) -> None:
        months = {span.unit == "month" for span in (size, piece)}
        if len(months) == 1 and size.least_micros % piece.least_micros == 0:
            return
        fix = f"{name}='{size.words}'" if len(months) > 1 else f"size='{_nearest(size, piece)}'"
        problem = f"is no multiple of {name}={self.piece!r}"
        allowed = f"a multiple of {name}, up to {MAX_FRAMES} times it"
        raise InvalidDurationError(sentence("size", self.size, problem, allowed=allowed, fix=fix))

    def _check_count(self, size: Span, name: str, piece: Span) -> None:
        length = size.least_micros
        if length // piece.least_micros <= MAX_FRAMES:
            return
        count = next(n for n in range(MAX_FRAMES, 0, -1) if length % n == 0)
        raise InvalidDurationError(
            sentence(
                name,
                self.piece,
                f"makes {length // piece.least_micros} frames of size={self.size!r}",
                allowed=f"up to {MAX_FRAMES} frames a window",
                fix=f"{name}='{Span(length // count, 'us').words}'",
            )
        )


def _nearest(size: Span, piece: Span) -> str:
    """Return the multiple of `piece` that is nearest to `size`, in its unit where both have one."""
    unit = size.unit if size.unit == piece.unit else "us"
    length, step = (s.count if s.unit == unit else s.least_micros for s in (size, piece))
    times = max(1, (2 * length + step) // (2 * step))
    return Span(times * step, unit).words
