"""Correcting results that a query has written, once its late rows are known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._arguments import of_type
from eventtide._columns import listed
from eventtide.errors import InvalidArgumentError, refused, sentence
from eventtide.windows.builder import WindowBuilder
from eventtide.windows.event_time import EventTime
from eventtide.windows.shapes import Framed
from eventtide.windows.unframed import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

__all__ = ["repair"]

CHANGED = "changed"
_OF = "of"
_FIX = "et.repair(results, late, window, source=rows)"


def repair(
    results: DataFrame, late: DataFrame, window: WindowBuilder, *, source: DataFrame
) -> DataFrame:
    """Correct the results that a query has written, by the late rows that it has set aside.

    .. versionadded:: 0.1

    The windows that late rows belong to are computed again, from all rows; the others are kept. So
    the answer is right for every aggregate, also for an average or a distinct count, which cannot
    be mended from the old value and the late rows alone.

    Parameters
    ----------
    results : DataFrame
        A batch: the final rows as the query has written them, ``window``, keys and aggregates.
    late : DataFrame
        A batch of late rows, with the columns of the window's input.
    window : WindowBuilder
        The window of the query, over any DataFrame. Its event time must have been named.
    source : DataFrame
        A batch of all rows, late ones too, at least of every window that a late row belongs to.

    Returns
    -------
    DataFrame
        The columns of `results`, and ``changed``: ``"corrected"`` where a value differs,
        ``"new"`` for a window that had no result, ``"unchanged"`` for all others.

    Raises
    ------
    ArgumentTypeError, InvalidArgumentError, UnknownColumnError
        An argument is something else, is a stream, or has other columns than the window.

    Notes
    -----
    An ordinary batch job, which starts when the answer is used. Repair windows that are closed: one
    that still is open counts as new. A row that was refused, being from the future or without a
    time, is counted if it is in `source`. Sums of floating-point numbers may differ in their last
    digits, and are corrected then. A window without rows in `source` is kept as it was. So is one
    that missed a row of the sliding window rule ``"window_closed"``, which is not late while any of
    its windows is open; with ``late_rule("frame_closed")`` there is no such row.

    Examples
    --------
    >>> import eventtide as et
    >>> mended = et.repair(written, late, counts, source=archive)  # doctest: +SKIP
    >>> mended.where("changed <> 'unchanged'")  # doctest: +SKIP
    """
    for name, rows in {"results": results, "late": late, "source": source}.items():
        _check_batch(name, rows)
    final = _final(window)
    recomputed = final.over(source).results
    columns = recomputed.columns
    _check_columns(results, columns)
    of = _struct(columns[: 1 + len(window.settings.key_by)], _OF)  # a struct: null keys are equal
    touched = final.agg(F.count("*").alias("rows")).over(late).results.select(of)
    new = recomputed.select(of, _struct(columns, "new")).join(touched, _OF, "left_semi")
    both = results.select(of, _struct(columns, "old")).join(new, _OF, "full_outer")
    return both.select(F.coalesce("new", "old").alias("row"), _changed()).select("row.*", CHANGED)


def _struct(columns: Sequence[str], name: str) -> Column:
    quoted = ("`" + column.replace("`", "``") + "`" for column in columns)
    return F.struct(*map(F.col, quoted)).alias(name)


def _changed() -> Column:
    old, new = F.col("old"), F.col("new")
    same = new.isNull() | new.eqNullSafe(old)
    return F.when(old.isNull(), "new").when(same, "unchanged").otherwise("corrected").alias(CHANGED)


def _final(window: WindowBuilder) -> WindowBuilder:
    """Return the same windows with their final rows alone, over rows that need no watermark."""
    of_type("window", window, WindowBuilder, "a window from et.window", _FIX)
    time = window.settings.event_time
    if time is None:
        problem, allowed = "does not name its event time", "a window with event_time(column)"
        raise InvalidArgumentError(
            sentence("window", window, problem, allowed=allowed, fix=".event_time('ts')")
        )
    if not isinstance(window.settings.shape, (Framed, Session, type(None))):
        problem = "is none of which it is known, by its time alone, which windows a late row missed"
        allowed = "tumbling, sliding or cumulate windows, and sessions"
        raise refused("window", window, problem, allowed=allowed, fix="windows of time")
    plain = replace(
        window.settings,
        event_time=EventTime(time.column),
        watermark_scope=None,
        idle_timeout=None,
        key_ttl=None,
        heartbeat=None,
        max_rows_per_batch=None,
        late=None,
        late_to=None,
        on_late=None,
        early=None,
        updates=False,
        discarding=False,
        emit=(),
    )
    return replace(window, settings=plain)


def _check_batch(name: str, rows: DataFrame) -> None:
    of_type(name, rows, DataFrame, "a batch DataFrame", _FIX)
    if rows.isStreaming:
        problem, allowed, fix = "is a stream", "a batch DataFrame", "spark.read in place of it"
        raise InvalidArgumentError(sentence(name, rows, problem, allowed=allowed, fix=fix))


def _check_columns(results: DataFrame, columns: Sequence[str]) -> None:
    """Refuse results that could not be written back as they were, such as those with panes."""
    if CHANGED in columns:
        problem, allowed = "is a column of the window already", "another name for it"
        fix = "F.count('*').alias('changes')"
        raise InvalidArgumentError(sentence("alias", CHANGED, problem, allowed=allowed, fix=fix))
    if set(results.columns) != set(columns):
        allowed = f"the final rows of the window, with the columns {listed(columns)}"
        fix = f"results.select({', '.join(map(repr, columns[:3]))}, ...)"
        if "pane_index" in results.columns:
            fix = "the row with the highest pane_index of each window and key, without pane columns"
        raise InvalidArgumentError(
            sentence("results", results.columns, "has others", allowed=allowed, fix=fix)
        )
