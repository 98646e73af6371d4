"""Policies that only rows move: without rows, the watermark stands still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from eventtide._text.durations import spoken, to_iso
from eventtide.policies._base import ON_ROWS, WatermarkPolicy

if TYPE_CHECKING:
    from eventtide._text.durations import Duration

__all__ = ["MaxEventTime", "MinEventTime", "MinEventTimeOfAll", "Storm", "WithFixedLag"]


@dataclass(frozen=True, eq=False, repr=False)
class WithFixedLag(WatermarkPolicy):
    """Stay `lag` behind the highest event time of the substream.

    .. versionadded:: 0.1

    Parameters
    ----------
    lag : str or timedelta
        Allowed disorder, zero or more: ``"5s"``, ISO 8601 text or a ``timedelta``.

    Raises
    ------
    InvalidDurationError
        The lag is negative, or no duration.

    Notes
    -----
    Unknown until the first row. In a lull it stands still, so the last window stays open.
    With one substream this is Spark's own rule. Source: Jet, ``withFixedLag``.

    Examples
    --------
    >>> WithFixedLag("5s").to_options()
    {'policy': 'with_fixed_lag', 'lag': 'PT5S'}
    """

    name: ClassVar[str] = "with_fixed_lag"
    moves: ClassVar[str] = ON_ROWS
    lag: Duration

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {"lag": to_iso("lag", self.lag)}

    @property
    def meaning(self) -> str:
        """What the rule does, in plain words, in one line."""
        return f"{spoken(self.lag)} behind the highest event time"


@dataclass(frozen=True, eq=False, repr=False)
class MinEventTime(WatermarkPolicy):
    """Move once per batch, to the lowest event time of the batch, never back.

    .. versionadded:: 0.1

    Notes
    -----
    Where batches are cut matters by definition. Unknown until the first batch with rows. Rows that
    are late for a window do not count. Source: VoltSP, ``MIN_EVENT_TIME``.
    """

    name: ClassVar[str] = "min_event_time"
    moves: ClassVar[str] = ON_ROWS
    meaning: ClassVar[str] = "the lowest event time of each batch, never back"

    def parameters(self) -> dict[str, str]:
        """Return no parameters: there are none."""
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class MinEventTimeOfAll(WatermarkPolicy):
    """Move once per batch, to the lowest event time of the batch, late rows included.

    .. versionadded:: 0.1

    Notes
    -----
    A batch with a late row does not move it, so that a source that is always late stops it. Among
    others, in ``min_of`` and ``max_of``, late rows count for all of them. Source: VoltSP,
    ``MIN_EVENT_TIME``, as its text can be read.
    """

    name: ClassVar[str] = "min_event_time_of_all"
    moves: ClassVar[str] = ON_ROWS
    meaning: ClassVar[str] = "the lowest event time of each batch, late rows included, never back"

    def parameters(self) -> dict[str, str]:
        """Return no parameters: there are none."""
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class MaxEventTime(WatermarkPolicy):
    """Move once per batch, to the highest event time of the batch, never back.

    .. versionadded:: 0.1

    Notes
    -----
    Where batches are cut matters by definition. Unknown until the first batch with rows.
    Source: VoltSP, ``MAX_EVENT_TIME``.
    """

    name: ClassVar[str] = "max_event_time"
    moves: ClassVar[str] = ON_ROWS
    meaning: ClassVar[str] = "the highest event time of each batch, never back"

    def parameters(self) -> dict[str, str]:
        """Return no parameters: there are none."""
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class Storm(WatermarkPolicy):
    """Stay `lag` behind the highest event time, and wait for every declared substream.

    .. versionadded:: 0.1

    Parameters
    ----------
    lag : str or timedelta
        Allowed disorder, zero or more.

    Raises
    ------
    InvalidDurationError
        The lag is negative, or no duration.

    Notes
    -----
    Declare the substreams with ``expected=``: until each was seen there is no watermark, and
    nothing is late. Source: Storm, ``withLag``.
    """

    name: ClassVar[str] = "storm"
    moves: ClassVar[str] = ON_ROWS
    lag: Duration

    def parameters(self) -> dict[str, str]:
        """Return the checked parameters as the JVM reads them."""
        return {"lag": to_iso("lag", self.lag)}

    @property
    def meaning(self) -> str:
        """What the rule does, in plain words, in one line."""
        return f"{spoken(self.lag)} behind the highest event time, once all declared were seen"
