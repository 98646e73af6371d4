"""The length and the slide of a window: a number of rows, or a duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from eventtide._text.arguments import count
from eventtide._text.durations import Duration, frame_micros, spoken, to_iso
from eventtide.errors import ArgumentTypeError, refused
from eventtide.windows._shapes import MAX_FRAMES, MAX_ROWS, Framed, Shape
from eventtide.windows._unframed import Counted

if TYPE_CHECKING:
    from eventtide.windows._profiles import Profile

__all__ = ["Count", "Extent", "StormShape", "check_extent", "shape_of", "slides_past"]


@dataclass(frozen=True, repr=False)
class Count:
    """A number of rows, as a length or a slide.

    Parameters
    ----------
    value : int
        From 1 to 1 000 000.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        `value` is not such a number.

    Examples
    --------
    >>> Count(3) == Count.of(3)
    True
    """

    value: int

    def __post_init__(self) -> None:
        """Check the number early, so that the traceback shows the line of the caller."""
        count("count", self.value, "3", MAX_ROWS)

    @classmethod
    def of(cls, value: int) -> Count:
        """Return a number of rows; this is Storm's name of the constructor."""
        return cls(value)

    def __repr__(self) -> str:
        """Return the call that creates this count."""
        return f"Count({self.value})"


Extent: TypeAlias = Count | Duration
"""A number of rows, or a duration: ``Count(3)``, ``"20s"`` or ``timedelta(seconds=20)``."""


def check_extent(name: str, extent: Extent) -> None:
    """Reject a value that is neither a `Count` nor a duration of a millisecond or more.

    Examples
    --------
    >>> check_extent("length", 20)
    Traceback (most recent call last):
    eventtide.errors.ArgumentTypeError: length=20 is a bare number. Allowed: rows as Count(20), ...
    """
    if isinstance(extent, Count):
        return
    if isinstance(extent, int) and not isinstance(extent, bool):
        allowed = f"rows as Count({extent}), or a duration such as '{abs(extent)}s'"
        fix = f"{name}=Count({max(1, abs(extent))})"
        raise refused(
            name, extent, "is a bare number", allowed=allowed, fix=fix, error=ArgumentTypeError
        )
    frame_micros(name, extent)


def slides_past(length: Extent, slide: Extent) -> bool:
    """Return whether rows between two windows are in no window."""
    if isinstance(length, Count) and isinstance(slide, Count):
        return slide.value > length.value
    if isinstance(length, Count) or isinstance(slide, Count):
        return False
    return frame_micros("slide", slide) > frame_micros("length", length)


@dataclass(frozen=True, repr=False)
class StormShape(Shape):
    """A window over rows that are stored one by one, with a length and a slide.

    Parameters
    ----------
    length, slide : Count, str or timedelta
        The length and the slide, each in rows or in time.
    max_events_in_memory : int, optional
        The maximum number of rows of a key in memory.
    """

    profile: ClassVar[Profile] = "storm"
    remembers: ClassVar[bool] = True
    without: ClassVar[tuple[str, ...]] = (
        *Counted.without,
        "watermark_scope",
        "key_idle_timeout",
        "max_rows_per_batch",
        "emit",
    )
    why_without: ClassVar[str] = "closes by Storm's rules alone"
    length: Extent
    slide: Extent
    max_events_in_memory: int | None = None

    def written(self) -> tuple[str, dict[str, object]]:
        """Raise `InvalidArgumentError`: YAML has no bolts."""
        allowed, fix = "the kinds of windows of et.window", "the bolt in Python"
        raise refused("window", self, "cannot be written as YAML", allowed=allowed, fix=fix)

    @property
    def closes(self) -> str | None:
        """The rule that closes a window, if it differs from the profile's rule."""
        return "watermark >= the times of its rows" if isinstance(self.slide, Count) else None

    @property
    def meaning(self) -> str:
        """The description of the windows for `explain`, in one line."""
        return f"windows of the last {_words(self.length)}, one every {_words(self.slide)}"

    def to_options(self, *, zoned: bool) -> dict[str, str]:  # noqa: ARG002 - there are no days
        """Return the options for the JVM."""
        options = {"kind": "storm", **_option("length", self.length)}
        options |= _option("slide", self.slide)
        if self.max_events_in_memory is not None:
            options["rows_in_memory"] = str(self.max_events_in_memory)
        return options

    def __repr__(self) -> str:
        """Return the method call of this window, such as ``with_window('20s', Count(3))``."""
        return f"with_window({self.length!r}, {self.slide!r})"


def shape_of(length: Extent, slide: Extent, max_events_in_memory: int | None) -> Shape:
    """Return windows with frames if the length and slide allow it, otherwise windows of rows.

    Examples
    --------
    >>> shape_of("20s", "10s", None), shape_of("20s", Count(3), None)
    (sliding('20s', every='10s'), with_window('20s', Count(3)))
    """
    if isinstance(length, Count) or isinstance(slide, Count):
        return StormShape(length, slide, max_events_in_memory)
    long, far = frame_micros("length", length), frame_micros("slide", slide)
    if long == far:
        return Framed("tumbling", length)
    if long % far == 0 and long // far <= MAX_FRAMES:
        return Framed("sliding", length, slide)
    return StormShape(length, slide, max_events_in_memory)


def _words(extent: Extent) -> str:
    if isinstance(extent, Count):
        return "row" if extent.value == 1 else f"{extent.value} rows"
    return spoken(extent)


def _option(name: str, extent: Extent) -> dict[str, str]:
    if isinstance(extent, Count):
        return {f"{name}.rows": str(extent.value)}
    return {f"{name}.time": to_iso(name, extent, positive=True)}
