"""The kinds of windows, and the windows of a fixed size with their frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

from eventtide._text.durations import LEAST_FRAME
from eventtide.errors import InvalidDurationError, refused
from eventtide.windows._sizes import Size, Span, Unit, read_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from eventtide.windows._profiles import Profile

__all__ = ["MAX_FRAMES", "MAX_ROWS", "Framed", "Kind", "Shape", "check_sizes"]

Kind: TypeAlias = Literal["tumbling", "sliding", "cumulate"]
"""Adjacent windows, overlapping windows, windows that grow to their full size."""

MAX_FRAMES = 1_000_000
"""The maximum number of frames in a window; each frame holds a value of every aggregate."""

MAX_ROWS = 1_000_000
"""The maximum number of rows of a count window."""

# A day, an hour, a minute, a second, a millisecond and a microsecond, in microseconds.
_ROUND = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000, 1)

# The argument that divides a window into frames, and its option name.
_PIECES: Mapping[Kind, tuple[str, str]] = MappingProxyType(
    {"sliding": ("every", "slide"), "cumulate": ("step", "step")}
)


class Shape(ABC):
    """A kind of window with its arguments; its repr is the method call that creates it."""

    profile: ClassVar[Profile] = "eventtide"
    """The profile that applies if none is set."""

    remembers: ClassVar[bool] = False
    """Whether a key without open windows has state."""

    without: ClassVar[tuple[str, ...]] = ()
    """Settings that have no meaning for this kind of window."""

    why_without: ClassVar[str] = ""
    """The reason, for the error text."""

    @property
    def closes(self) -> str | None:
        """The rule that closes a window, None if the profile's rule applies."""
        return None

    @property
    @abstractmethod
    def meaning(self) -> str:
        """The description of the windows for `explain`, in one line."""

    @abstractmethod
    def to_options(self, *, zoned: bool) -> dict[str, str]:
        """Return the options for the JVM; with a time zone, days are calendar days."""

    @abstractmethod
    def written(self) -> tuple[str, dict[str, object]]:
        """Return the method that creates this, and its arguments as they were written."""


@dataclass(frozen=True, repr=False)
class Framed(Shape):
    """A window of a fixed size that consists of frames; its sizes are as the user wrote them.

    Parameters
    ----------
    kind : {"tumbling", "sliding", "cumulate"}
        The kind.
    size : str or timedelta
        The length of a window.
    piece : str or timedelta, optional
        The slide or the step; None for a tumbling window.

    Raises
    ------
    InvalidDurationError
        A size is not valid, `size` is not a multiple of `piece`, or there are too many frames.
    """

    kind: Kind
    size: Size
    piece: Size | None = None

    def __post_init__(self) -> None:
        """Check the sizes early, so that the traceback shows the line of the caller."""
        check_sizes(self._sizes())

    def spans(self) -> dict[str, Span]:
        """Return the sizes by the names of their arguments: ``size`` first, then the piece."""
        return {name: read_size(name, size) for name, size in self._sizes().items()}

    @property
    def frames(self) -> int:
        """The number of frames in a window."""
        sizes = [span.least_micros for span in self.spans().values()]
        return sizes[0] // sizes[-1]

    @property
    def meaning(self) -> str:
        """The description of the windows for `explain`, in one line."""
        size, *pieces = (span.words for span in self.spans().values())
        return {
            "tumbling": f"windows of {size}, side by side",
            "sliding": f"windows of {size}, one begins every {''.join(pieces)}",
            "cumulate": f"windows of {size}, growing by {''.join(pieces)}",
        }[self.kind]

    def to_options(self, *, zoned: bool) -> dict[str, str]:
        """Return the options for the JVM; with a time zone, days are calendar days."""
        names = ("size", _PIECES[self.kind][1]) if self.kind in _PIECES else ("size",)
        sizes = (span.iso(zoned=zoned) for span in self.spans().values())
        return {"kind": self.kind, **dict(zip(names, sizes, strict=True))}

    def written(self) -> tuple[str, dict[str, object]]:
        """Return the method that creates this, and its arguments as they were written."""
        return self.kind, {**self._sizes()}

    def __repr__(self) -> str:
        """Return the method call that creates this window, such as ``tumbling('1m')``."""
        piece = f", {_PIECES[self.kind][0]}={self.piece!r}" if self.kind in _PIECES else ""
        return f"{self.kind}({self.size!r}{piece})"

    def _sizes(self) -> dict[str, Size]:
        sizes = {"size": self.size}
        if self.kind in _PIECES:
            sizes[_PIECES[self.kind][0]] = self.piece  # type: ignore[assignment] # None is refused
        return sizes


class _Length(NamedTuple):
    name: str
    written: Size
    span: Span


def check_sizes(written: Mapping[str, Size]) -> None:
    """Reject a size that is not a multiple of its piece, or has too many frames.

    Parameters
    ----------
    written : mapping of str to Size
        The sizes by argument name: the whole first, then the piece if there is one.
    """
    whole, *pieces = (_Length(name, size, read_size(name, size)) for name, size in written.items())
    for piece in pieces:
        _check_units(whole, piece)
        _check_count(whole, piece)
        _check_multiple(whole, piece)


def _check_units(whole: _Length, piece: _Length) -> None:
    """Reject months together with a length of another unit, which they do not divide."""
    if (whole.span.unit == "month") != (piece.span.unit == "month"):
        raise _no_multiple(whole, piece, f"{piece.name}='{whole.span.words}'")


def _check_multiple(whole: _Length, piece: _Length) -> None:
    if whole.span.least_micros % piece.span.least_micros != 0:
        pieces = (f"{piece.name}='{words}'" for words in _divisors(whole.span, piece.span))
        size = f"{whole.name}='{_nearest(whole.span, piece.span)}'"
        raise _no_multiple(whole, piece, " or ".join(pieces) or size)


def _no_multiple(whole: _Length, piece: _Length, fix: str) -> InvalidDurationError:
    problem = f"is not a multiple of {piece.name}={piece.written!r}"
    allowed = f"a multiple of {piece.name}, up to {MAX_FRAMES} times it"
    return refused(
        whole.name, whole.written, problem, allowed=allowed, fix=fix, error=InvalidDurationError
    )


def _check_count(whole: _Length, piece: _Length) -> None:
    length, step = whole.span.least_micros, piece.span.least_micros
    if length // step <= MAX_FRAMES:
        return
    count = next(n for n in range(MAX_FRAMES, 0, -1) if length % n == 0)
    raise refused(
        piece.name,
        piece.written,
        f"makes {length // step} frames of {whole.name}={whole.written!r}",
        allowed=f"up to {MAX_FRAMES} frames a window",
        fix=f"{piece.name}='{Span(length // count, 'us').words}'",
        error=InvalidDurationError,
    )


def _divisors(size: Span, piece: Span) -> list[str]:
    """Return the nearest pieces that divide a size: the next lower and the next higher.

    Both are whole numbers of the largest unit of which `piece` is a whole number. A piece that is
    more than ten times shorter or longer is not returned.
    """
    unit, whole, part = _in_one_unit(size, piece)
    step = next(step for step in _ROUND if part % step == 0) if unit == "us" else 1
    if whole % step:
        return []
    whole, part = whole // step, part // step
    more = range(whole // part + 1, min(10 * whole // part, MAX_FRAMES) + 1)
    fewer = range(whole // part, max(1, -(-whole // (10 * part)) - 1), -1)
    frames = (next((n for n in counts if whole % n == 0), None) for counts in (more, fewer))
    spans = [Span(whole // n * step, unit) for n in frames if n is not None]
    return [span.words for span in spans if span.least_micros >= LEAST_FRAME]


def _nearest(size: Span, piece: Span) -> str:
    """Return the multiple of `piece` nearest to `size`, in their unit if it is the same."""
    unit, whole, part = _in_one_unit(size, piece)
    times = min(max(1, (2 * whole + part) // (2 * part)), MAX_FRAMES)
    return Span(times * part, unit).words


def _in_one_unit(size: Span, piece: Span) -> tuple[Unit, int, int]:
    """Return the lengths in their unit if it is the same, otherwise in microseconds."""
    if size.unit == piece.unit:
        return size.unit, size.count, piece.count
    return "us", size.least_micros, piece.least_micros
