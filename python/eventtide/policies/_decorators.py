"""What may be put around a policy: throttles for its output, a guard for its input.

Decorators apply in the order in which they were written: the first stands next to the policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from eventtide._text.arguments import choice
from eventtide._text.durations import Duration, frame_micros, iso, micros, spoken, to_iso
from eventtide.errors import InvalidDurationError, sentence
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
"""What a future guard does to a row: count it as now, set it aside as late, stop the query."""


def _whole(name: str, value: Duration) -> str:
    return iso(frame_micros(name, value))


@dataclass(frozen=True, eq=False, repr=False)
class Decorator(Rule):
    """Something around a policy. Write it as a method: ``policy.throttle_by_frame("1s")``.

    .. versionadded:: 0.1
    """

    def to_options(self) -> dict[str, str]:
        """Return the flat map that the JVM codec reads, without the place in the chain."""
        return self.parameters()

    def __repr__(self) -> str:
        """Return the method call that makes it, such as ``throttle_by_frame('1s')``."""
        (_, first), *others = self.written()
        arguments = [repr(first), *(f"{name}={value!r}" for name, value in others)]
        return f"{self.name}({', '.join(arguments)})"


@dataclass(frozen=True, eq=False, repr=False)
class ThrottleByFrame(Decorator):
    """Emit a watermark only when it enters a new frame, as the frame's start.

    .. versionadded:: 0.1

    Parameters
    ----------
    size : str or timedelta
        At least 1 ms, Spark's unit of watermarks. The slide of the windows downstream fits best.
    offset : str or timedelta
        Where frames start, counted from the epoch: zero or more, below `size`.

    Notes
    -----
    A jump over several frames emits once, the highest start. Never ahead of the ideal watermark,
    never back. Source: Jet, ``throttleByFrame``.
    """

    name: ClassVar[str] = "throttle_by_frame"
    size: Duration
    offset: Duration = "0s"

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        size = _whole("size", self.size)
        if micros("offset", self.offset) >= micros("size", self.size):
            problem, allowed = "is not inside a frame", f"zero or more and below size={self.size}"
            raise InvalidDurationError(
                sentence("offset", self.offset, problem, allowed=allowed, fix="offset='0s'")
            )
        return {"size": size, "offset": to_iso("offset", self.offset)}

    @property
    def meaning(self) -> str:
        """What the rule does, in plain words, in one line."""
        return f"emits only the starts of frames of {spoken(self.size)}, each once"


@dataclass(frozen=True, eq=False, repr=False)
class ThrottleByMinStep(Decorator):
    """Emit a watermark only when it is at least `step` above the one emitted last.

    .. versionadded:: 0.1

    Parameters
    ----------
    step : str or timedelta
        At least 1 ms, Spark's unit of watermarks.

    Notes
    -----
    The first watermark always passes. Source: Jet, ``throttleByMinStep``, whose code passes a
    watermark at exactly the step, while its page says "more than"; this follows the code.
    """

    name: ClassVar[str] = "throttle_by_min_step"
    step: Duration

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {"step": _whole("step", self.step)}

    @property
    def meaning(self) -> str:
        """What the rule does, in plain words, in one line."""
        return f"emits only after a step of {spoken(self.step)} or more"


@dataclass(frozen=True, eq=False, repr=False)
class EmitEvery(Decorator):
    """Emit a watermark only on a timer, at the multiples of `interval` on the clock.

    .. versionadded:: 0.1

    Parameters
    ----------
    interval : str or timedelta
        At least 1 ms, the unit of Spark's clock.

    Notes
    -----
    Between two instants rows change nothing that is emitted. Source: Storm,
    ``withWatermarkInterval``.
    """

    name: ClassVar[str] = "emit_every"
    interval: Duration

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {"interval": _whole("interval", self.interval)}

    @property
    def meaning(self) -> str:
        """What the rule does, in plain words, in one line."""
        return f"emits only on a timer, every {spoken(self.interval)} of the clock"


@dataclass(frozen=True, eq=False, repr=False)
class GuardFuture(Decorator):
    """Keep rows from the future from moving the watermark.

    .. versionadded:: 0.1

    Parameters
    ----------
    max_ahead : str or timedelta
        Zero or more: how far ahead of the clock an event time may be.
    on : {"clamp", "late", "fail"}
        ``clamp`` keeps the row and lets it move the watermark no further than the limit,
        ``late`` sets it aside and counts it, ``fail`` stops the query.

    Notes
    -----
    One row with a wrong clock otherwise makes every right row late, for ever.
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
        """What the rule does, in plain words, in one line."""
        ahead = spoken(self.max_ahead)
        does = {
            "clamp": f"only count as {ahead} ahead",
            "late": "are set aside as late",
            "fail": "stop the query",
        }
        return f"rows more than {ahead} ahead of the clock {does[self.on]}"
