"""The builder of windows: what `et.window` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from eventtide import _jvm
from eventtide._watermark import with_ingestion_time
from eventtide.windows._checks import check
from eventtide.windows._closing import Closing
from eventtide.windows._explained import explained
from eventtide.windows._framing import Framing
from eventtide.windows._timing import Timing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Self

__all__ = ["WindowBuilder", "window"]

PROCESSING_TIME = "_processing_time"


def window(df: DataFrame) -> WindowBuilder:
    """Begin a window over a DataFrame: methods say what kind, `results` is what comes out.

    .. versionadded:: 0.1

    Parameters
    ----------
    df : DataFrame
        A streaming DataFrame, or a batch one, which gives the final rows at once.

    Returns
    -------
    WindowBuilder
        It needs a kind of window and an aggregate at least.

    Raises
    ------
    ArgumentTypeError
        It is no DataFrame.

    Examples
    --------
    >>> import eventtide as et
    >>> counts = (  # doctest: +SKIP
    ...     et.window(events)
    ...     .event_time("ts", et.WatermarkPolicies.with_fixed_lag("5s"))
    ...     .key_by("user")
    ...     .sliding("1m", every="1s")
    ...     .agg(F.count("*").alias("n"))
    ... )
    >>> counts.results.writeStream.format("console").start()  # doctest: +SKIP
    """
    return WindowBuilder(df)


@dataclass(frozen=True, eq=False, repr=False)
class WindowBuilder(Framing, Timing, Closing):
    """A window over a DataFrame, as far as it was described; `window` begins one.

    .. versionadded:: 0.1

    Each method returns a new builder and leaves this one as it is; called again, it replaces what
    it said before. An argument is checked where it is written, and whether they all go together
    when `results` is asked for.

    Attributes
    ----------
    df : DataFrame
        The rows.
    settings : Settings
        What the methods were told.
    """

    @cached_property
    def results(self) -> DataFrame:
        """What comes out: ``window`` (a struct of ``start`` and ``end``), the keys, the aggregates.

        .. versionadded:: 0.1

        With `early`, `updates`, `idle_timeout` or a trigger before the end also the pane:
        ``pane_index`` INT from 0 on, ``pane_timing`` STRING (``early``, ``on_time`` or ``late``)
        and ``is_last`` BOOLEAN. With `emit` also ``trigger`` STRING. Made at the first call and
        kept. On a stream its output mode is append; on a batch it has the final row of every
        window.

        Raises
        ------
        InvalidArgumentError
            There is no kind of window or no aggregate, or two settings contradict each other.
        UnsupportedPlanError, ColumnTypeError, DuplicateWatermarkError
            The plan cannot be right; see `with_watermark`.
        SetupError
            The session has no eventtide, or not this version of it.
        """
        check(self.settings)
        settings, time, scope = (
            self.settings,
            self.settings.event_time,
            self.settings.watermark_scope,
        )
        df, event_time = self.df, None if time is None else time.column
        if settings.processing_time:
            df, event_time = with_ingestion_time(df, PROCESSING_TIME), PROCESSING_TIME
        made = _jvm.window(
            df,
            event_time=event_time,
            watermark=None if time is None else time.watermark,
            substream=[] if time is None else time.parts,
            keys=settings.key_by,
            aggregates=settings.agg,
            when=settings.condition,
            scope=[] if scope is None else scope.columns,
            options=settings.to_options(),
        )
        return made if settings.execution is None else settings.execution.applied(made)

    def explain(self) -> None:
        """Print what the window does, and what stock Spark would have done.

        .. versionadded:: 0.1
        """
        print(self.explained())  # noqa: T201 - as DataFrame.explain does

    def explained(self) -> str:
        """Return the text that `explain` prints.

        .. versionadded:: 0.1
        """
        return explained(self.settings, check(self.settings))

    def over(self, df: DataFrame) -> Self:
        """Return the same window over other rows, such as a batch of those that a query has read.

        .. versionadded:: 0.1
        """
        return replace(self, df=df)
