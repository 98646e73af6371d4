"""Policies that only rows move: without rows, the watermark does not advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from eventtide._text.arguments import of_type
from eventtide.policies._base import ON_ROWS, WatermarkPolicy

if TYPE_CHECKING:
    from eventtide._text.durations import Duration

__all__ = [
    "MaxEventTime",
    "MinEventTime",
    "MinEventTimeOfAll",
    "Storm",
    "WatermarkFrom",
    "WithFixedLag",
]


@dataclass(frozen=True, eq=False, repr=False)
class WithFixedLag(WatermarkPolicy):
    """Stay `lag` behind the highest event time of the substream.

    Parameters
    ----------
    lag : str or timedelta
        Allowed disorder, zero or more: ``"5s"``, ISO 8601 text or a ``timedelta``.

    Raises
    ------
    InvalidDurationError
        The lag is negative or not a duration.

    Notes
    -----
    The watermark is unknown until the first row. In a lull it does not advance, so the last window
    stays open. With one substream this is Spark's rule. Source: Jet, ``withFixedLag``.

    Examples
    --------
    >>> WithFixedLag("5s").to_options()
    {'policy': 'with_fixed_lag', 'lag': 'PT5S'}
    """

    name: ClassVar[str] = "with_fixed_lag"
    moves: ClassVar[str] = ON_ROWS
    summary: ClassVar[str] = "{lag} behind the highest event time"
    lag: Duration


@dataclass(frozen=True, eq=False, repr=False)
class MinEventTime(WatermarkPolicy):
    """Move once per batch, to the lowest event time of the batch, never back.

    Notes
    -----
    The result depends on the batch boundaries by definition. The watermark is unknown until the
    first batch with rows. Rows that are late for a window do not count. Source: VoltSP,
    ``MIN_EVENT_TIME``.
    """

    name: ClassVar[str] = "min_event_time"
    moves: ClassVar[str] = ON_ROWS
    summary: ClassVar[str] = "the lowest event time of each batch, never back"


@dataclass(frozen=True, eq=False, repr=False)
class MinEventTimeOfAll(WatermarkPolicy):
    """Move once per batch, to the lowest event time of the batch, late rows included.

    Notes
    -----
    A batch with a late row does not move the watermark, so a source whose rows are always late
    stops it. In ``min_of`` and ``max_of``, late rows then count for all of the combined policies.
    Source: VoltSP, ``MIN_EVENT_TIME``, in one reading of its documentation.
    """

    name: ClassVar[str] = "min_event_time_of_all"
    moves: ClassVar[str] = ON_ROWS
    summary: ClassVar[str] = "the lowest event time of each batch, late rows included, never back"


@dataclass(frozen=True, eq=False, repr=False)
class MaxEventTime(WatermarkPolicy):
    """Move once per batch, to the highest event time of the batch, never back.

    Notes
    -----
    The result depends on the batch boundaries by definition. The watermark is unknown until the
    first batch with rows. Source: VoltSP, ``MAX_EVENT_TIME``.
    """

    name: ClassVar[str] = "max_event_time"
    moves: ClassVar[str] = ON_ROWS
    summary: ClassVar[str] = "the highest event time of each batch, never back"


@dataclass(frozen=True, eq=False, repr=False)
class WatermarkFrom(WatermarkPolicy):
    """Follow the marks in the rows: watermarks that the source writes into a column.

    Parameters
    ----------
    column : str
        The name of a column or a field (``"meta.mark"``) of the event time's type. It is null in
        rows without a mark.

    Raises
    ------
    ArgumentTypeError
        `column` is not text.

    Notes
    -----
    A mark means that no rows below it are expected. It counts at the end of its batch. The mark of
    a late row counts too, the mark of a row without an event time does not. A mark may be above all
    event times; `guard_future` limits it. Windows with `watermark_scope` refuse this policy.
    Source: Flink, punctuated ``WatermarkGenerator``.

    Examples
    --------
    >>> WatermarkFrom("mark").to_options()
    {'policy': 'watermark_from', 'column': 'mark'}
    """

    name: ClassVar[str] = "watermark_from"
    moves: ClassVar[str] = "moves on rows with a mark"
    summary: ClassVar[str] = "the highest mark in a column"
    column: str

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        of_type("column", self.column, str, "the name of a column", "column='mark'")
        return {"column": self.column}

    @property
    def meaning(self) -> str:
        """The description of the rule for `explain`."""
        return f"the highest mark in column {self.column}"


@dataclass(frozen=True, eq=False, repr=False)
class Storm(WatermarkPolicy):
    """Stay `lag` behind the highest event time, and wait for every expected substream.

    Parameters
    ----------
    lag : str or timedelta
        Allowed disorder, zero or more.

    Raises
    ------
    InvalidDurationError
        The lag is negative or not a duration.

    Notes
    -----
    Declare the substreams with ``expected=``. Until each of them has had a row, there is no
    watermark and no row is late. Source: Storm, ``withLag``.
    """

    name: ClassVar[str] = "storm"
    moves: ClassVar[str] = ON_ROWS
    summary: ClassVar[str] = "{lag} behind the highest event time, once all declared have a row"
    lag: Duration
