"""The window builder that `et.window` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from eventtide import _bridge
from eventtide._request import Request
from eventtide._text.arguments import of_type
from eventtide._watermark import with_ingestion_time
from eventtide.windows._checks import check
from eventtide.windows._closing import Closing
from eventtide.windows._defaults import with_session_defaults
from eventtide.windows._event_time import PROCESSING_TIME
from eventtide.windows._explained import explained
from eventtide.windows._framing import Framing
from eventtide.windows._starting import start
from eventtide.windows._timing import Timing
from eventtide.windows._writing import written

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from typing_extensions import Self

    from eventtide.windows._shapes import Shape

__all__ = ["WindowBuilder", "window"]


def window(df: DataFrame | None = None) -> WindowBuilder:
    """Begin a window over a DataFrame; its methods configure it, `results` is the output.

    Parameters
    ----------
    df : DataFrame, optional
        A streaming DataFrame, or a batch DataFrame, whose result is the final rows. Without it the
        window is only a definition: `WindowBuilder.over` adds rows, and checks the columns.

    Returns
    -------
    WindowBuilder
        A builder without settings. It requires at least a kind of window and an aggregate.

    Raises
    ------
    ArgumentTypeError
        `df` is not a DataFrame.

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
    """An immutable builder of a window over a DataFrame; `window` creates one.

    Each method returns a new builder and does not change this one. A second call of a method
    replaces the setting of the first. The kind of window can be set only once. Each argument is
    checked in its method; combinations of settings are checked when `results` is read.

    Attributes
    ----------
    settings : Settings
        The arguments of the methods.
    """

    @cached_property
    def results(self) -> DataFrame:
        """The result: ``window`` (a struct of ``start`` and ``end``), the keys, the aggregates.

        With `emit` or `key_idle_timeout` it also has the pane columns: ``pane_index`` INT from 0
        on, ``pane_timing`` STRING (``early``, ``on_time``, ``late`` or ``idle``) and ``is_last``
        BOOLEAN. With `emit` it also has ``trigger`` STRING. It is created at the first access and
        cached. On a stream the output mode is append; on a batch the result has the final row of
        every window.

        Raises
        ------
        InvalidArgumentError
            The rows, the kind of window or the aggregate are missing, or two settings contradict
            each other.
        UnsupportedPlanError, ColumnTypeError, DuplicateWatermarkError
            The plan is not valid; see `with_watermark`.
        SetupError
            Eventtide is not installed in the session, or its version differs.

        Examples
        --------
        >>> import eventtide as et
        >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
        >>> counts = et.window(events).event_time("ts", lag).tumbling("1m")  # doctest: +SKIP
        >>> counts.agg(F.count("*").alias("n")).results.columns  # doctest: +SKIP
        ['window', 'n']
        """
        df, settings = self.df, with_session_defaults(self.settings, self.df.sparkSession)
        check(settings)
        time, options, watermark = settings.event_time, settings.to_options(), {}
        if time is not None:
            options, watermark = options | {"event_time": time.column}, time.watermark or {}
        if settings.processing_time:
            df, options = (
                with_ingestion_time(df, PROCESSING_TIME),
                options | {"event_time": PROCESSING_TIME},
            )
        request = Request.of("window", options, watermark, settings.lists())
        made = _bridge.of(df).requested(df, request)
        return made if settings.execution is None else settings.execution.applied(made)

    def start(self, writer: DataStreamWriter, *, drain: bool = False) -> StreamingQuery:
        """Start a query over the results, and the calls of the late-row handler; see `start`.

        Parameters
        ----------
        writer : DataStreamWriter
            A writer over `results`, or over a DataFrame derived from them.
        drain : bool
            Whether the query closes every window after its last row.

        Raises
        ------
        ArgumentTypeError
            `writer` is not a writer, or has already been started.
        InvalidArgumentError
            The window has no rows, or two settings contradict each other.
        EventtideError
            The query cannot start; see `start`.

        Examples
        --------
        >>> import eventtide as et
        >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
        >>> minutes = et.window(events).event_time("ts", lag).tumbling("1m")  # doctest: +SKIP
        >>> counts = minutes.agg(F.count("*").alias("n"))  # doctest: +SKIP
        >>> query = counts.start(counts.results.writeStream.format("noop"))  # doctest: +SKIP
        >>> query.stop()  # doctest: +SKIP
        """
        return start(self, writer, drain=drain)

    def explain(self) -> None:
        """Print a description of the window, and the behaviour of stock Spark.

        The description includes the session's defaults.

        Raises
        ------
        InvalidArgumentError
            The rows, the kind of window or the aggregate are missing, or two settings contradict
            each other.

        Examples
        --------
        >>> import eventtide as et
        >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
        >>> minutes = et.window(events).event_time("ts", lag).tumbling("1m")  # doctest: +SKIP
        >>> minutes.agg(F.count("*").alias("n")).explain()  # doctest: +SKIP
        windows of 1m, side by side
           event time: ts, WatermarkPolicies.with_fixed_lag(lag='5s')
           keys: none, one window for all rows
           aggregates: count(*) AS n
           holds rows with start <= time < end, closes when watermark >= end
           a row is late when all of its windows are closed
           late rows are counted and kept in the late log
           results: one row a window
        stock Spark: has the same windows; drops late rows and only counts them
        """
        print(self.explained())  # noqa: T201 - as DataFrame.explain does

    def explained(self) -> str:
        """Return the text that `explain` prints.

        Raises
        ------
        InvalidArgumentError
            As for `explain`.

        Examples
        --------
        >>> import eventtide as et
        >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
        >>> minutes = et.window(events).event_time("ts", lag).tumbling("1m")  # doctest: +SKIP
        >>> text = minutes.agg(F.count("*").alias("n")).explained()  # doctest: +SKIP
        >>> text.splitlines()[0]  # doctest: +SKIP
        'windows of 1m, side by side'
        """
        settings = with_session_defaults(self.settings, self.df.sparkSession)
        return explained(settings, check(settings))

    def to_yaml(self) -> str:
        """Return a YAML document of the window without its rows, which `from_yaml` reads.

        Raises
        ------
        InvalidArgumentError
            A setting has no text: a function, a policy in Python, an aggregate that is not SQL
            text, or another expression.
        SetupError
            The extra ``eventtide[yaml]`` is not installed.

        Examples
        --------
        >>> import eventtide as et
        >>> print(et.window().key_by("user").tumbling("1m").delay("5s").to_yaml())
        key_by:
        - user
        tumbling: 1m
        delay: 5s
        <BLANKLINE>
        """
        return written(self.settings)

    def over(self, df: DataFrame) -> Self:
        """Return the same window over these rows, in place of its present rows.

        Parameters
        ----------
        df : DataFrame
            As for `window`.

        Raises
        ------
        ArgumentTypeError
            `df` is not a DataFrame.
        UnknownColumnError
            A setting names a column that `df` does not have.

        Examples
        --------
        >>> import eventtide as et
        >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
        >>> per_minute = et.window().event_time("ts", lag).key_by("user").tumbling("1m")
        >>> per_minute
        et.window().event_time('ts', ...).key_by('user').tumbling('1m')
        >>> counts = per_minute.agg(F.count("*")).over(events)  # doctest: +SKIP
        """
        of_type("df", df, DataFrame, "a Spark DataFrame", "window.over(df)")
        return replace(self, _df=df)

    if TYPE_CHECKING:

        def _of(self, shape: Shape) -> ShapedWindow: ...


if TYPE_CHECKING:

    class ShapedWindow(WindowBuilder):
        """A window with a kind, so that a type checker reports a second kind."""

        _of: None  # type: ignore[assignment] # the methods that set a kind require it
