"""Decorators of a policy: throttles for its output, a guard for its input.

Decorators apply in the order of the calls: the first decorator is the innermost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from eventtide._text.arguments import choice
from eventtide._text.durations import Duration, frame_micros, iso, micros, spoken, to_iso
from eventtide.errors import InvalidDurationError, refused
from eventtide.policies._rule import Rule

__all__ = [
    "Decorator",
    "EmitEvery",
    "FutureAction",
    "GuardFuture",
    "ThrottleByFrame",
    "ThrottleByMinStep",
]

FutureAction: TypeAlias = Literal["clamp", "late", "fail"]
"""The action of a future guard for a row: clamp its time, treat it as late, stop the query."""


def _whole(name: str, value: Duration) -> str:
    return iso(frame_micros(name, value))


@dataclass(frozen=True, eq=False, repr=False)
class Decorator(Rule):
    """The base of decorators; created by methods, such as ``policy.throttle_by_frame("1s")``."""

    def to_options(self) -> dict[str, str]:
        """Return the flat map that the JVM codec reads, without the position in the chain."""
        return self.parameters()

    def __repr__(self) -> str:
        """Return the method call of this decorator, such as ``throttle_by_frame('1s')``."""
        (_, first), *others = self.written()
        arguments = [repr(first), *(f"{name}={value!r}" for name, value in others)]
        return f"{self.name}({', '.join(arguments)})"


@dataclass(frozen=True, eq=False, repr=False)
class ThrottleByFrame(Decorator):
    """Emit a watermark only when it enters a new frame, as the frame's start.

    Parameters
    ----------
    size : str or timedelta
        At least 1 ms, Spark's unit of watermarks. Preferably the slide of the downstream windows.
    offset : str or timedelta
        The offset of frame starts from the epoch: zero or more, below `size`.

    Notes
    -----
    A jump over several frames emits once, the highest start. The emitted watermark is never ahead
    of the ideal watermark, and is monotonic. Source: Jet, ``throttleByFrame``.
    """

    name: ClassVar[str] = "throttle_by_frame"
    summary: ClassVar[str] = "emits only the starts of frames of {size}, each once"
    size: Duration
    offset: Duration = "0s"

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        size = _whole("size", self.size)
        if micros("offset", self.offset) >= micros("size", self.size):
            problem, allowed = "is not inside a frame", f"zero or more and below size={self.size}"
            raise refused(
                "offset",
                self.offset,
                problem,
                allowed=allowed,
                fix="offset='0s'",
                error=InvalidDurationError,
            )
        return {"size": size, "offset": to_iso("offset", self.offset)}


@dataclass(frozen=True, eq=False, repr=False)
class ThrottleByMinStep(Decorator):
    """Emit a watermark only when it is at least `step` above the last emitted watermark.

    Parameters
    ----------
    step : str or timedelta
        At least 1 ms, Spark's unit of watermarks.

    Notes
    -----
    The first watermark is always emitted. Source: Jet, ``throttleByMinStep``, whose code emits a
    watermark at exactly the step, while its documentation says "more than". Eventtide follows the
    code.
    """

    name: ClassVar[str] = "throttle_by_min_step"
    summary: ClassVar[str] = "emits only after a step of {step} or more"
    step: Duration

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {"step": _whole("step", self.step)}


@dataclass(frozen=True, eq=False, repr=False)
class EmitEvery(Decorator):
    """Emit a watermark only on a timer, at multiples of `interval` in processing time.

    Parameters
    ----------
    interval : str or timedelta
        At least 1 ms, the unit of Spark's clock.

    Notes
    -----
    Between two timers, rows do not change the emitted watermark. Source: Storm,
    ``withWatermarkInterval``.
    """

    name: ClassVar[str] = "emit_every"
    summary: ClassVar[str] = "emits only on a timer, every {interval} of the clock"
    interval: Duration

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {"interval": _whole("interval", self.interval)}


@dataclass(frozen=True, eq=False, repr=False)
class GuardFuture(Decorator):
    """Prevent future rows from moving the watermark.

    Parameters
    ----------
    max_ahead : str or timedelta
        The limit by which an event time may be ahead of the clock, zero or more.
    on : {"clamp", "late", "fail"}
        ``clamp`` keeps the row and limits its effect on the watermark to `max_ahead`. ``late``
        treats the row as late and counts it. ``fail`` stops the query.

    Notes
    -----
    Without a guard, one row with a wrong time makes all later correct rows late, permanently.
    """

    name: ClassVar[str] = "guard_future"
    max_ahead: Duration
    on: FutureAction = "clamp"

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        action = choice("on", self.on, get_args(FutureAction))
        return {"max_ahead": to_iso("max_ahead", self.max_ahead), "on": action}

    @property
    def meaning(self) -> str:
        """The description of the rule for `explain`, in one line."""
        ahead = spoken(self.max_ahead)
        does = {
            "clamp": f"only count as {ahead} ahead",
            "late": "are set aside as late",
            "fail": "stop the query",
        }
        return f"rows more than {ahead} ahead of the clock {does[self.on]}"
