"""The policy that learns its lag from the late rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

from eventtide._text.arguments import choice, count
from eventtide._text.durations import spoken, to_iso
from eventtide._text.shares import MILLION, millionths, percent
from eventtide.policies._base import ON_ROWS, WatermarkPolicy

if TYPE_CHECKING:
    from eventtide._text.durations import Duration
    from eventtide._text.shares import Share

__all__ = ["WithLateTarget"]

Budget: TypeAlias = Literal["recent", "forever"]


@dataclass(frozen=True, eq=False, repr=False)
class WithLateTarget(WatermarkPolicy):
    """Stay behind the highest event time by a lag that keeps the late rows at a share.

    Parameters
    ----------
    target : str or float
        The share of rows that may be late: ``"0.1%"`` or ``0.001``.
    max_lag : str or timedelta
        The highest lag.
    start : str or timedelta
        The lag before there are rows.
    memory : int
        The number of rows after which earlier rows count half, one or more.
    budget : {"recent", "forever"}
        For how long late rows count against the target: as long as the memory, or for ever.

    Raises
    ------
    InvalidArgumentError
        The target is not a share, the memory is not a count, or the budget is unknown.
    InvalidDurationError
        A lag is negative or not a duration.

    Notes
    -----
    At the end of each batch, the lag is set so that the share of late rows approaches the target.
    The policy remembers how far rows were behind, and corrects the share that it aims at by the
    rows that were late. Until ten late rows are expected, the lag is the largest distance so far.
    All substreams, or keys, of an input have the same lag; a key takes a new one with its next
    rows. If the lag grows, the watermark waits
    until the highest event time has caught up; it never goes back. A target of 0 keeps the largest
    distance that was ever seen. A burst of rows that are further behind than all earlier ones is
    late. A policy may contain one target. Source: Eventtide.

    Examples
    --------
    >>> WithLateTarget("0.1%", max_lag="2h").to_options()
    {'policy': 'with_late_target', 'target': '0.1%', 'max_lag': 'PT7200S', 'start': 'PT0S', ...}
    """

    name: ClassVar[str] = "with_late_target"
    moves: ClassVar[str] = ON_ROWS
    summary: ClassVar[str] = "a learnt lag behind the highest event time"
    target: Share
    max_lag: Duration = "1h"
    start: Duration = "0s"
    memory: int = 65536
    budget: Budget = "recent"

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {
            "target": self._target,
            "max_lag": to_iso("max_lag", self.max_lag),
            "start": to_iso("start", self.start),
            "memory": count("memory", self.memory, "65536"),
            "budget": choice("budget", self.budget, get_args(Budget)),
        }

    @property
    def _target(self) -> str:
        return percent(millionths("target", self.target) / MILLION)

    @property
    def meaning(self) -> str:
        """The description of the rule for `explain`."""
        return (
            f"a lag behind the highest event time that lets {self._target} of the rows be late, at "
            f"most {spoken(self.max_lag)}"
        )
