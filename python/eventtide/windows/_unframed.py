"""The kinds of windows without frames: sessions and count windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

from pyspark.sql import Column

from eventtide._text.arguments import choice, count
from eventtide._text.columns import shown
from eventtide._text.durations import frame_micros, spoken, to_iso
from eventtide.errors import InvalidDurationError, refused
from eventtide.windows._shapes import MAX_ROWS, Shape

if TYPE_CHECKING:
    from eventtide._text.durations import Duration

__all__ = ["Counted", "Session", "Touching", "check_maximum", "check_rows"]

Touching: TypeAlias = Literal["separate", "merge"]
"""Whether rows exactly one gap apart belong to two sessions or to one."""

_TOUCHING: dict[Touching | None, str] = {
    None: "",
    "separate": ", rows one gap apart are separate",
    "merge": ", rows one gap apart are together",
}


@dataclass(frozen=True, repr=False)
class Session(Shape):
    """A session window: rows of a key with less than a gap between their times.

    Parameters
    ----------
    gap : str, timedelta or Column
        The gap of all rows, or an expression that is the gap of each row.
    maximum_duration : str or timedelta, optional
        The maximum length of a session.
    touching : {"separate", "merge"}, optional
        Whether rows exactly one gap apart belong to two sessions or to one.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        An argument is not valid, or the maximum is shorter than the gap.
    """

    without: ClassVar[tuple[str, ...]] = ("offset", "origin", "time_zone")
    why_without: ClassVar[str] = "begins with its first row"
    gap: Duration | Column
    maximum_duration: Duration | None = None
    touching: Touching | None = None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        if not isinstance(self.gap, Column):
            frame_micros("gap", self.gap)
        if self.maximum_duration is not None:
            if isinstance(self.gap, Column):
                frame_micros("maximum_duration", self.maximum_duration)
            else:
                check_maximum(self.maximum_duration, "gap", self.gap)
        if self.touching is not None:
            choice("touching", self.touching, get_args(Touching))

    @property
    def meaning(self) -> str:
        """The description of the windows for `explain`, in one line."""
        longest = self.maximum_duration
        cap = "" if longest is None else f", {spoken(longest)} long at the most"
        gap = self.gap
        of = f"for each row, {shown(gap)}" if isinstance(gap, Column) else f"of {spoken(gap)}"
        return f"sessions with a gap {of}{cap}{_TOUCHING[self.touching]}"

    def to_options(self, *, zoned: bool) -> dict[str, str]:  # noqa: ARG002 - there are no days
        """Return the options for the JVM."""
        gap = "column" if isinstance(self.gap, Column) else to_iso("gap", self.gap)
        options = {"kind": "session", "gap": gap}
        if self.maximum_duration is not None:
            options["maximum_duration"] = to_iso("maximum_duration", self.maximum_duration)
        return options if self.touching is None else {**options, "touching": self.touching}

    def written(self) -> tuple[str, dict[str, object]]:
        """Return the method that creates this, and its arguments as they were written."""
        names = ("gap", "maximum_duration", "touching")
        values = {name: getattr(self, name) for name in names}
        return "session", {name: value for name, value in values.items() if value is not None}

    def __repr__(self) -> str:
        """Return the method call that creates this session, such as ``session('5m')``."""
        _, values = self.written()
        gap = values.pop("gap")
        return f"session({', '.join([repr(gap), *(f'{n}={v!r}' for n, v in values.items())])})"


def check_maximum(maximum_duration: Duration, name: str, gap: Duration) -> None:
    """Reject a maximum duration of a session below its gap, whose argument is `name`."""
    least = frame_micros(name, gap)
    if frame_micros("maximum_duration", maximum_duration) >= least:
        return
    problem = f"is shorter than {name}={gap!r}, so that no session could end by it"
    allowed, fix = f"{spoken(gap)} or more", f"maximum_duration={gap!r}"
    raise refused(
        "maximum_duration",
        maximum_duration,
        problem,
        allowed=allowed,
        fix=fix,
        error=InvalidDurationError,
    )


@dataclass(frozen=True, repr=False)
class Counted(Shape):
    """A count window: `rows` rows of a key, in the order of their arrival.

    Raises
    ------
    InvalidArgumentError
        A count is not valid, or the slide has more rows than the window.
    """

    remembers: ClassVar[bool] = True
    without: ClassVar[tuple[str, ...]] = (
        "profile",
        "delay",
        "allowed_lateness",
        "late_rule",
        *Session.without,
    )
    why_without: ClassVar[str] = "ends with a row, regardless of its time"
    rows: int
    every: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments early, so that the traceback shows the line of the caller."""
        check_rows(("rows", self.rows), ("every", self.every))

    @property
    def meaning(self) -> str:
        """The description of the windows for `explain`, in one line."""
        slide = "side by side" if self.every is None else f"one ends every {_rows(self.every)}"
        return f"windows of {_rows(self.rows)}, {slide}"

    def to_options(self, *, zoned: bool) -> dict[str, str]:  # noqa: ARG002 - there are no days
        """Return the options for the JVM."""
        options = {"kind": "count", "rows": str(self.rows)}
        # Not "every", which is the option of a trigger.
        return options if self.every is None else {**options, "slide": str(self.every)}

    def written(self) -> tuple[str, dict[str, object]]:
        """Return the method that creates this, and its arguments as they were written."""
        every = {} if self.every is None else {"every": self.every}
        return "by_count", {"rows": self.rows, **every}

    def __repr__(self) -> str:
        """Return the method call that creates this window, such as ``by_count(100, every=10)``."""
        every = "" if self.every is None else f", every={self.every!r}"
        return f"by_count({self.rows!r}{every})"


def check_rows(window: tuple[str, object], slide: tuple[str, object]) -> None:
    """Reject invalid row counts of a window and its slide; each is an argument name and value."""
    (name, rows), (of, every) = window, slide
    most = int(count(name, rows, "100", MAX_ROWS))
    if every is not None and int(count(of, every, "10", MAX_ROWS)) > most:
        problem = f"is more than {name}={most}, so that rows would be in no window"
        allowed = f"a whole number from 1 to {most}"
        raise refused(of, every, problem, allowed=allowed, fix=f"{of}={most}")


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"
