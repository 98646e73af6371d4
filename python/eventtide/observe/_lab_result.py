"""The result of a lab: what each policy would have done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from eventtide._text.durations import in_words
from eventtide._text.shares import MILLION, Share, millionths, percent
from eventtide._text.tables import Tabular
from eventtide.errors import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eventtide.policies import WatermarkPolicy
    from eventtide.windows import WindowBuilder

__all__ = ["Lab", "LabPoint"]

_SECOND, _MICROSECOND = timedelta(seconds=1), timedelta(microseconds=1)


@dataclass(frozen=True)
class LabPoint:
    """What one policy would have done with one window.

    Attributes
    ----------
    policy : WatermarkPolicy
        The policy.
    window : WindowBuilder
        The window, without rows.
    rows : int
        All rows: those on time, the late ones and the refused ones.
    late : int
        The rows that would have come too late for all of their windows.
    refused : int
        The rows without an event time or without an arrival.
    windows : int
        The windows that would have closed.
    delay_p50, delay_p90, delay_p99 : timedelta or None
        The delay of results that half of these windows do not exceed, 90 % and 99 % of them: the
        arrival time at which a window closes, minus its end. None if no window closes.
    open_at_end : int
        The windows that are still open after the last row.
    most_open : int
        The highest number of windows that are open at once.
    most_aggregates : int
        The highest number of aggregates that the state has at once: one for each key and frame. A
        tumbling window is one frame.
    """

    policy: WatermarkPolicy
    window: WindowBuilder
    rows: int
    late: int
    refused: int
    windows: int
    delay_p50: timedelta | None
    delay_p90: timedelta | None
    delay_p99: timedelta | None
    open_at_end: int
    most_open: int
    most_aggregates: int

    @property
    def late_share(self) -> float:
        """The late rows as a share of the rows that are not refused, from 0 to 1."""
        judged = self.rows - self.refused
        return self.late / judged if judged else 0.0

    @property
    def policy_words(self) -> str:
        """The policy in a table, without what all have."""
        return repr(self.policy).removeprefix("WatermarkPolicies.")

    @property
    def window_words(self) -> str:
        """The window in a table, without what all have."""
        return repr(self.window).removeprefix("et.window().")

    @property
    def code(self) -> str:
        """The policy as Python code."""
        return f"et.{self.policy!r}"


@dataclass(frozen=True)
class Lab(Tabular):
    """The points of a lab; it prints as a table for each window.

    Attributes
    ----------
    points : tuple of LabPoint
        A point for each window and policy, in the order in which they were given.
    """

    points: tuple[LabPoint, ...]

    def frontier(self) -> tuple[LabPoint, ...]:
        """Return the points that no other point of their window beats, by ascending delay.

        A point beats another one if it has no more late rows, no higher median delay and no higher
        p90, and less of one of them. Of equal points the first one counts.

        Examples
        --------
        >>> import eventtide as et
        >>> lab = et.lab(rows, event_time="ts", arrival="seen")  # doctest: +SKIP
        >>> [point.code for point in lab.frontier()]  # doctest: +SKIP
        ["et.WatermarkPolicies.with_fixed_lag(lag='0s')", ...]
        """
        return tuple(
            best
            for of in self.by_window().values()
            for best in _frontier([point for point in of if point.delay_p50 is not None])
        )

    def choose(self, *, late: Share) -> LabPoint:
        """Return the earliest point of the frontier within a share of late rows.

        It has the lowest median delay, and of those the lowest p90.

        Parameters
        ----------
        late : str or float
            The highest share of late rows, such as ``"0.1%"`` or ``0.001``.

        Raises
        ------
        InvalidArgumentError
            No point is within the share, or the lab has several windows.

        Examples
        --------
        >>> import eventtide as et
        >>> lab = et.lab(rows, event_time="ts", arrival="seen")  # doctest: +SKIP
        >>> lab.choose(late="0.1%").code  # doctest: +SKIP
        "et.WatermarkPolicies.with_fixed_lag(lag='5m')"
        """
        most = millionths("late", late) / MILLION
        if len(self.by_window()) > 1:
            problem, allowed = "is asked of several windows", "a lab with one window"
            fix = "windows=[et.window().tumbling('1h')]"
            raise refused("late", late, problem, allowed=allowed, fix=fix)
        within = [point for point in self.frontier() if point.late_share <= most]
        if not within:
            least = min((point.late_share for point in self.frontier()), default=1.0)
            problem = "is met by no policy of the lab under which windows close"
            allowed = f"{percent(least)} or more"
            raise refused("late", late, problem, allowed=allowed, fix="policies with other lags")
        return within[0]

    def plot(self) -> Any:  # noqa: ANN401 - a chart of Altair
        """Return a chart: median delay across, late rows up, a line for the frontier.

        Returns
        -------
        altair.Chart
            Notebooks show it.

        Raises
        ------
        SetupError
            Altair is not installed: ``pip install eventtide[plot]``.
        """
        from eventtide.observe._plot import lab_chart  # noqa: PLC0415 - needs Altair

        best = {id(point) for point in self.frontier()}
        return lab_chart(
            {
                "seconds": point.delay_p50 / _SECOND,
                "late": point.late_share,
                "share": percent(point.late_share),
                "delay": in_words(point.delay_p50 // _MICROSECOND),
                "policy": point.policy_words,
                "kind": point.policy.name,
                "window": point.window_words,
                "best": id(point) in best,
            }
            for point in self.points
            if point.delay_p50 is not None
        )

    def by_window(self) -> dict[str, list[LabPoint]]:
        """Return the points of each window, by the words of the window."""
        grouped: dict[str, list[LabPoint]] = {}
        for point in self.points:
            grouped.setdefault(point.window_words, []).append(point)
        return grouped


def _frontier(points: Sequence[LabPoint]) -> list[LabPoint]:
    best: list[LabPoint] = []
    for point in sorted(points, key=_cost):
        # Those before it have no higher median delay.
        if not any(one.late <= point.late and _cost(one)[1] <= _cost(point)[1] for one in best):
            best.append(point)
    return best


def _cost(point: LabPoint) -> tuple[timedelta, timedelta, int]:
    """Return the delays of a point under which windows close, and its late rows."""
    p50, p90 = point.delay_p50 or timedelta.max, point.delay_p90 or timedelta.max
    return p50, p90, point.late
