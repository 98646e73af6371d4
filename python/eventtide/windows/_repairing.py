"""The repair of written results with the late rows of their query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide._text.columns import listed
from eventtide.errors import refused
from eventtide.windows._builder import WindowBuilder
from eventtide.windows._corrections import CHANGED, Corrections
from eventtide.windows._defaults import with_session_defaults
from eventtide.windows._event_time import EventTime
from eventtide.windows._profiles import PROFILES
from eventtide.windows._shapes import Framed
from eventtide.windows._unframed import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from eventtide.windows._settings import Settings

__all__ = [
    "as_built",
    "final_window",
    "late_rule",
    "may_miss_some",
    "repair",
    "without_maximum",
]

_FIX = "et.repair(results, late, window, source=rows)"


def repair(
    results: DataFrame, late: DataFrame, window: WindowBuilder, *, source: DataFrame
) -> DataFrame:
    """Correct the results that a query has written, with the late rows in its late log.

    The windows of late rows are recomputed from all rows; the other windows are unchanged. So the
    result is correct for every aggregate. This includes averages and distinct counts, which cannot
    be corrected from only the old value and the late rows.

    Parameters
    ----------
    results : DataFrame
        A batch DataFrame: the final rows that the query has written, with the columns ``window``,
        keys and aggregates in any order.
    late : DataFrame
        A batch DataFrame of late rows, with the columns of the window's input.
    window : WindowBuilder
        The window of the query, over any DataFrame. It must set its event time.
    source : DataFrame
        A batch DataFrame of all rows, including late rows, of at least every window of a late row.

    Returns
    -------
    DataFrame
        The columns of `results`, in their order, and ``changed``: ``"corrected"`` if a value
        differs, ``"new"`` for a window that had no result, ``"unchanged"`` for all others.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError, UnknownColumnError
        An argument has the wrong type, is a stream, or has columns that differ from the window's.
        Or the window cannot be repaired: a count window, or a sliding window under
        ``"window_closed"``.
    SetupError
        Some DataFrames belong to a classic session, and others to Spark Connect.

    Notes
    -----
    The repair is an ordinary batch job, which runs when the result is used. Repair only closed
    windows: an open window counts as new. If a rejected row, whose time was in the future or
    missing, is in `source`, it is counted. Sums of floating-point numbers may differ in their last
    digits and then count as corrected. A window without rows in `source` is unchanged.

    A corrected session replaces all results of its key that it overlaps, because late rows extend
    and merge sessions. Sessions that a row has merged while one of them was open are corrected
    too. `source` must have all rows of a session, including the rows of neighbouring sessions that
    late rows merge with it.

    In two cases the late rows do not determine which windows are wrong, and every window with rows
    in `source` is recomputed. The first case is ``cumulate`` under ``"window_closed"``, where a row
    may miss the shorter windows and be in the longer windows. The second case is sessions with a
    maximum duration, whose ends depend on the order of rows. With sliding windows under
    ``"window_closed"``, a row may also miss some of its windows. Sliding windows overlap in an
    endless chain, so this case is refused: use ``late_rule("frame_closed")``.

    Examples
    --------
    >>> import eventtide as et
    >>> repaired = et.repair(written, late, counts, source=archive)  # doctest: +SKIP
    >>> repaired.where("changed <> 'unchanged'")  # doctest: +SKIP
    """
    for name, rows in {"results": results, "late": late, "source": source}.items():
        _check_batch(name, rows)
    _bridge.of(results, late, source)  # which refuses DataFrames of two kinds of session
    final = final_window(as_built(window, source.sparkSession))
    new = final.over(source).results
    _check_columns(results, new.columns)
    spans = without_maximum(final).agg(F.count("*").alias("_eventtide_rows"))
    is_session = isinstance(final.settings.shape, Session)
    return Corrections(
        old=results,
        new=new,
        late=spans.over(late).results,
        chains=spans.over(source).results if is_session else None,
        keys=new.columns[1 : 1 + len(window.settings.key_by)],
        takes_all=_takes_all(final.settings),
    ).corrected()


def without_maximum(window: WindowBuilder) -> WindowBuilder:
    """Return sessions without a maximum duration, and other windows as they are."""
    shape = window.settings.shape
    if not isinstance(shape, Session):
        return window
    return replace(
        window, settings=replace(window.settings, shape=replace(shape, maximum_duration=None))
    )


def _takes_all(settings: Settings) -> bool:
    """Return whether late rows alone do not determine which results are wrong."""
    shape = settings.shape
    if isinstance(shape, Session):
        return shape.maximum_duration is not None
    return may_miss_some(settings)


def may_miss_some(settings: Settings) -> bool:
    """Return whether a row that is not late may miss some of its windows."""
    shape = settings.shape
    if not isinstance(shape, Framed) or shape.frames == 1:
        return False
    return late_rule(settings, shape) not in {"behind_watermark", "frame_closed"}


def late_rule(settings: Settings, shape: Framed) -> str:
    """Return the rule by which a row is late."""
    return settings.late_rule or PROFILES[settings.profile or shape.profile].late


def as_built(window: WindowBuilder, session: SparkSession) -> WindowBuilder:
    """Return the window with the session's defaults, as its query has it."""
    of_type("window", window, WindowBuilder, "a window from et.window", _FIX)
    return replace(window, settings=with_session_defaults(window.settings, session))


def final_window(window: WindowBuilder) -> WindowBuilder:
    """Return the same window with final results only and without a watermark."""
    time = window.settings.event_time
    if time is None:
        problem, allowed = "does not name its event time", "a window with event_time(column)"
        raise refused("window", window, problem, allowed=allowed, fix=".event_time('ts')")
    if not isinstance(window.settings.shape, (Framed, Session, type(None))):
        problem = "has windows that the time of a late row alone does not determine"
        allowed = "tumbling, sliding or cumulate windows, and sessions"
        raise refused("window", window, problem, allowed=allowed, fix="time windows")
    _check_late_rule(window)
    plain = replace(
        window.settings,
        event_time=EventTime(time.column),
        watermark_scope=None,
        key_idle_timeout=None,
        key_ttl=None,
        heartbeat=None,
        max_rows_per_batch=None,
        late=None,
        late_to=None,
        late_retention=None,
        on_late=None,
        late_updates=False,
        discarding=False,
        emit=(),
    )
    return replace(window, settings=plain)


def _check_late_rule(window: WindowBuilder) -> None:
    shape = window.settings.shape
    if isinstance(shape, Framed) and shape.kind == "sliding" and may_miss_some(window.settings):
        problem = (
            "may lack rows that are in no late log: a row for which only some windows are closed"
            " is in the other windows"
        )
        allowed = "sliding windows under late_rule('frame_closed') or late_rule('behind_watermark')"
        fix = "the batch query over all rows, window.over(source).results"
        raise refused("window", window, problem, allowed=allowed, fix=fix)


def _check_batch(name: str, rows: DataFrame) -> None:
    of_type(name, rows, DataFrame, "a batch DataFrame", _FIX)
    if rows.isStreaming:
        problem, allowed, fix = "is a stream", "a batch DataFrame", "spark.read in place of it"
        raise refused(name, rows, problem, allowed=allowed, fix=fix)


def _check_columns(results: DataFrame, columns: Sequence[str]) -> None:
    """Reject results whose columns differ from the window's final rows, such as pane columns."""
    if CHANGED in columns:
        problem, allowed = "is already a column of the window", "another name for it"
        fix = "F.count('*').alias('changes')"
        raise refused("alias", CHANGED, problem, allowed=allowed, fix=fix)
    if sorted(results.columns) != sorted(columns):
        allowed = f"the final rows of the window, with the columns {listed(columns)}"
        fix = f"results.select({', '.join(map(repr, columns[:3]))}, ...)"
        if "pane_index" in results.columns:
            fix = "the row with the highest pane_index of each window and key, without pane columns"
        problem = "are not the columns of the window"
        raise refused("results", results.columns, problem, allowed=allowed, fix=fix)
