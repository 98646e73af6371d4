"""The share of rows that would have been late with each lag, and the lag for a share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from eventtide._text.arguments import choice
from eventtide._text.durations import Duration, in_words, micros, rounded_up
from eventtide._text.shares import MILLION, Share, millionths, percent
from eventtide._text.tables import Tabular
from eventtide.errors import refused
from eventtide.observe._checkpoint import read_checkpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eventtide.observe._disorder import Steps
    from eventtide.observe._location import QueryOrPath
    from eventtide.observe._progress import InputProgress

__all__ = ["LagCurve", "Span", "advise", "lag_curve"]

Span: TypeAlias = Literal["recent", "last_hour", "week"]
_ROWS = {
    "recent": "the last {} of {}",
    "last_hour": "the {} of {} in the last hour",
    "week": "the {} of {} in the week before",
}


@dataclass(frozen=True)
class LagCurve(Tabular):
    """The share of rows that would have been late with each fixed lag; it prints as a table.

    Attributes
    ----------
    input : str
        The input of the query whose rows were counted.
    rows : int
        The number of rows.
    steps : tuple of (timedelta, int)
        The rows by their disorder, in steps: the highest disorder of a step, and its rows. The
        disorder of a row is how far its time is behind the time that the query had reached before
        the row's batch. A step is at most an eighth of its disorder wide.
    """

    input: str
    rows: int
    steps: Steps

    def late_share(self, lag: Duration) -> float:
        """Return the share of rows that would have been late with a lag, at most.

        Parameters
        ----------
        lag : str or timedelta
            How far a row may be behind.

        Returns
        -------
        float
            From 0 to 1. It is exact if the lag is the end of a step. For another lag, all rows of
            its step are taken to be late.

        Examples
        --------
        >>> second = timedelta(seconds=1)
        >>> curve = LagCurve("clicks", 1000, ((0 * second, 980), (second, 15), (9 * second, 5)))
        >>> curve.late_share("1s"), curve.late_share("5s"), curve.late_share("9s")
        (0.005, 0.005, 0.0)
        """
        limit = timedelta(microseconds=micros("lag", lag))
        late = sum(rows for disorder, rows in self.steps if disorder > limit)
        return late / self.rows if self.rows else 0.0

    def lag_for(self, late: Share) -> timedelta:
        """Return the lowest lag with which at most a share of the rows would have been late.

        Parameters
        ----------
        late : str or float
            The share, such as ``"0.1%"`` or ``0.001``.

        Returns
        -------
        timedelta
            The end of a step.

        Examples
        --------
        >>> second = timedelta(seconds=1)
        >>> curve = LagCurve("clicks", 1000, ((0 * second, 980), (second, 15), (9 * second, 5)))
        >>> curve.lag_for("1%"), curve.lag_for("0.1%"), curve.lag_for("10%")
        (datetime.timedelta(seconds=1), datetime.timedelta(seconds=9), datetime.timedelta(0))
        """
        most = self.rows * millionths("late", late) // MILLION
        lag, passed = timedelta(0), 0
        for disorder, rows in reversed(self.steps):
            passed += rows
            if passed > most:
                lag = disorder
                break
        return lag

    def plot(self) -> Any:  # noqa: ANN401 - a chart of Altair
        """Return a chart: the lag across, the share of late rows up, both logarithmic.

        Returns
        -------
        altair.Chart
            Notebooks show it.

        Raises
        ------
        SetupError
            Altair is not installed: ``pip install eventtide[plot]``.
        """
        from eventtide.observe._plot import lag_chart  # noqa: PLC0415 - needs Altair

        points = [(disorder, self.late_share(disorder)) for disorder, _ in self.steps]
        return lag_chart(f"{self.input}: {self.rows:,} rows", points)


def lag_curve(
    query: QueryOrPath,
    *,
    input: str | int | None = None,  # noqa: A002 - the word of all reports
    span: Span = "recent",
    spark: SparkSession | None = None,
) -> LagCurve:
    """Return the share of rows that would have been late with each fixed lag.

    Parameters
    ----------
    query : StreamingQuery, str or Path
        The query, running or stopped, or its checkpoint location.
    input : str or int, optional
        The name of an input, or its position in the plan; needed if the query has several.
    span : {"recent", "last_hour", "week"}
        The rows: about the last ``spark.eventtide.lagCurve.rows``, those of the present hour and
        the one before, or those of about a week before these.
    spark : SparkSession, optional
        The session to read with. By default the session of the query, or the active session.

    Returns
    -------
    LagCurve
        As of the last committed batch.

    Raises
    ------
    InvalidArgumentError
        The query has several inputs and `input` is not given, it has no such input, its disorder is
        not counted, or the span has no rows.
    CheckpointError
        There is no checkpoint, or it belongs to a query without an eventtide watermark.
    SetupError
        Eventtide is not installed in the session, or its version differs.

    Notes
    -----
    For a fixed lag without throttles, the curve is exact at the end of each step. Disorder is
    relative to the lowest of the highest times of the active substreams, the time that a watermark
    with a fixed lag follows. If one `window` reads one input, a row is late if it misses its
    windows; otherwise if it is behind the watermark. With several inputs, the curve of an input is
    that of one lag for all of them.

    Examples
    --------
    >>> import eventtide as et
    >>> et.lag_curve("/data/checkpoint").late_share("5m")  # doctest: +SKIP
    0.0031
    """
    choice("span", span, get_args(Span))
    report = read_checkpoint(query, spark=spark)
    inputs = () if report.watermark is None else report.watermark.inputs
    chosen = _chosen(inputs, input)
    if chosen.disorder is None:
        allowed = "a query with rows, and spark.eventtide.lagCurve.rows above 0"
        fix = "spark.conf.set('spark.eventtide.lagCurve.rows', 1000000)"
        raise refused("query", report.root, "has counted no disorder", allowed=allowed, fix=fix)
    steps = getattr(chosen.disorder, span)
    if not steps:
        fix = "span='recent'"
        raise refused("span", span, "has no rows yet", allowed="a span with rows", fix=fix)
    label = chosen.name or f"input {chosen.position}"
    return LagCurve(label, sum(rows for _, rows in steps), steps)


def _chosen(inputs: tuple[InputProgress, ...], wanted: str | int | None) -> InputProgress:
    asked = "" if isinstance(wanted, bool) else wanted  # True is 1 for Python
    found = [one for one in inputs if asked in (None, one.name, one.position)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(repr(one.name or one.position) for one in inputs)
    problem = "is needed, since the query has several inputs" if found else "is unknown"
    raise refused("input", wanted, problem, allowed=names, fix=f"input={names.split(', ')[0]}")


def advise(  # noqa: PLR0913 - keywords, with defaults
    query: QueryOrPath,
    *,
    late: Share | None = None,
    lag: Duration | None = None,
    input: str | int | None = None,  # noqa: A002 - the word of all reports
    span: Span = "recent",
    spark: SparkSession | None = None,
) -> str:
    """Say which lag keeps the late rows within a share, or which share a lag would cost.

    Parameters
    ----------
    query, input, span, spark
        As for `lag_curve`.
    late : str or float, optional
        The share of rows that may be late, such as ``"0.1%"``.
    lag : str or timedelta, optional
        A lag, instead of `late`.

    Returns
    -------
    str
        One sentence.

    Raises
    ------
    InvalidArgumentError
        Not exactly one of `late` and `lag` is given, or as for `lag_curve`.
    CheckpointError, SetupError
        As for `lag_curve`.

    Examples
    --------
    >>> import eventtide as et
    >>> et.advise("/data/checkpoint", late="0.1%")  # doctest: +SKIP
    'With a lag of 4m 15s, 0.1% of the last 1,000,000 rows of clicks would have been late.'
    """
    if (late is None) == (lag is None):
        given = "neither is given" if late is None else "both are given"
        problem, fix = f"or lag is needed, and {given}", "et.advise(query, late='0.1%')"
        raise refused("late", late, problem, allowed="one of late and lag", fix=fix)
    curve = lag_curve(query, input=input, span=span, spark=spark)
    chosen = readable(curve.lag_for(late)) if late is not None else _length(lag)
    words = in_words(chosen // timedelta(microseconds=1))
    share = percent(curve.late_share(chosen))
    rows = _ROWS[span].format(f"{curve.rows:,} rows", curve.input)
    return f"With a lag of {words}, {share} of {rows} would have been late."


def readable(lag: timedelta) -> timedelta:
    """Return a lag rounded up, so that no more rows are late.

    Examples
    --------
    >>> readable(timedelta(seconds=255.3))
    datetime.timedelta(seconds=256)
    """
    return timedelta(microseconds=rounded_up(lag // timedelta(microseconds=1)))


def _length(lag: Duration | None) -> timedelta:
    assert lag is not None  # noqa: S101 - checked by the caller
    return timedelta(microseconds=micros("lag", lag))
