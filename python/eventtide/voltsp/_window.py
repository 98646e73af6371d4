"""The builder of VoltSP windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, get_args

from eventtide._text.arguments import choice, of_type
from eventtide._text.columns import column_list
from eventtide._text.durations import frame_micros
from eventtide.errors import ArgumentTypeError, refused
from eventtide.voltsp._aggregates import AggregateDefinition
from eventtide.voltsp._binding import bound, check_rows
from eventtide.voltsp._definition import WindowDefinition
from eventtide.voltsp._kinds import check_applies, check_span
from eventtide.voltsp._printed import calls
from eventtide.voltsp._time_config import TimeConfig
from eventtide.voltsp.document._writing import written
from eventtide.windows._extractors import check_extractor
from eventtide.windows._handlers import LateHandler, check_handler
from eventtide.windows._profiles import LateAction
from eventtide.windows._triggers import trigger_list
from eventtide.windows._unframed import Touching

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame
    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide.windows import WindowBuilder
    from eventtide.windows._handlers import Handler, OnError
    from eventtide.windows._sizes import Size
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["VoltSPWindow"]


@dataclass(frozen=True, eq=False, repr=False)
class VoltSPWindow(WindowDefinition):
    """A window with VoltSP's names, without rows; `Windows` begins it, `over` completes it.

    Each method returns a new window and does not change this one. A second call of a method
    replaces the setting of the first. Each value is checked in its method. Combinations of settings
    are checked by `over`.

    Notes
    -----
    The rules are those of ``profile("voltsp")``. With a key extractor each key has its own
    watermark, which moves once per batch. A row is late when all of its windows are closed. An idle
    key emits its results immediately, regardless of the delay. Source: VoltSP's page "Time and
    Watermarks in VoltSP Window Aggregations"; where its text and its tables differ, the tables
    apply.
    """

    def with_window_span(self, span: Size | int) -> Self:
        """Set the length of a window: a duration, or a number of rows for count windows.

        Sessions have no span: their gap is the idle timeout.
        """
        return self._span("window_span", span)

    def with_slide(self, slide: Size | int) -> Self:
        """Set the slide of overlapping windows: a divisor of the span, or a number of rows."""
        return self._span("slide", slide)

    def with_key_extractor(self, *extractors: str | Column) -> Self:
        """Set the keys, each with its windows and watermark; without keys, all rows share them.

        Parameters
        ----------
        *extractors : str or Column
            Column names, SQL text or Columns.
        """
        allowed, fix = "columns, one after the other", ".with_key_extractor('user_id', 'site')"
        for extractor in column_list("key_extractor", extractors, allowed, fix):
            check_extractor("key_extractor", extractor)
        return replace(self, key_extractor=extractors)

    def with_time_config(self, config: TimeConfig) -> Self:
        """Set the time settings of the window; by default it uses processing time."""
        fix = ".with_time_config(TimeConfig(event_time_extractor='ts'))"
        of_type("time_config", config, TimeConfig, "a TimeConfig", fix)
        return replace(self, time_config=config)

    def with_time_config_builder(self, build: Callable[[TimeConfig], TimeConfig]) -> Self:
        """Set the time settings of the window with the methods of `TimeConfig`.

        Parameters
        ----------
        build : callable
            A function that receives an empty `TimeConfig` and returns the configured `TimeConfig`.
        """
        fix = "lambda builder: builder.with_event_time_extractor('ts')"
        return self.with_time_config(_built("time_config_builder", build, TimeConfig(), fix))

    def with_aggregate_definition(
        self, build: Callable[[AggregateDefinition], AggregateDefinition]
    ) -> Self:
        """Set the aggregates with the methods of `AggregateDefinition`.

        Parameters
        ----------
        build : callable
            A function that receives an empty `AggregateDefinition` and returns it with aggregates.
        """
        fix = "lambda builder: builder.count().sum('total', 'amount')"
        empty = AggregateDefinition()
        return replace(self, aggregate_definition=_built("aggregate_definition", build, empty, fix))

    def with_exception_handler(self, handler: Handler, on_handler_error: OnError = "fail") -> Self:
        """Call a function with the late rows of each batch that has late rows.

        Without an event time extractor no row is late, so the function is never called.

        Parameters
        ----------
        handler : callable
            ``fn(df, context)``: the late rows as a DataFrame, and a `LateContext` that describes
            them. `start` runs the calls; see `WindowBuilder.on_late`.
        on_handler_error : {"fail", "log"}
            Whether an error of the handler stops the query or is only logged.
        """
        check_handler("exception_handler", handler, "on_handler_error", on_handler_error)
        return replace(self, exception_handler=LateHandler(handler, on_handler_error))

    def with_maximum_duration(self, maximum: Duration) -> Self:
        """Set the maximum duration of a session: the idle timeout or longer."""
        check_applies(self.kind, "maximum_duration", maximum)
        frame_micros("maximum_duration", maximum)
        return replace(self, maximum_duration=maximum)

    def with_touching(self, touching: Touching) -> Self:
        """Set whether rows exactly a gap apart ``"merge"`` or are ``"separate"``, as in VoltSP."""
        check_applies(self.kind, "touching", touching)
        choice("touching", touching, get_args(Touching))
        return replace(self, touching=touching)

    def with_late(self, action: LateAction) -> Self:
        """Set the action for late rows: ``"log"``, the default, ``"count"`` or ``"fail"``."""
        choice("late", action, get_args(LateAction))
        return replace(self, late=action)

    def with_late_to(self, path: str) -> Self:
        """Set the folder of the late log, by default ``late`` in the checkpoint."""
        fix = ".with_late_to('s3://bucket/late')"
        of_type("late_to", path, str, "the path of a folder", fix)
        return replace(self, late_to=path)

    def emit(self, *triggers: WindowTrigger | str) -> Self:
        """Set the triggers of the window's results; by default there is one result, at its end.

        Results then have one more column, ``trigger`` STRING: the name of the trigger that fired.

        Parameters
        ----------
        *triggers : WindowTrigger or str
            One or more, each at most once. A trigger without a value can be given by its name.
        """
        return replace(self, triggers=trigger_list(triggers))

    def over(self, df: DataFrame) -> WindowBuilder:
        """Return the window over rows, as a window of `et.window`.

        Parameters
        ----------
        df : DataFrame
            A stream without a watermark. If the event time is an expression, its value is added to
            the rows as a column ``_extracted_event_time``.

        Returns
        -------
        WindowBuilder
            Its `results` are the output stream.

        Raises
        ------
        InvalidArgumentError, InvalidDurationError
            A setting is missing, or two settings contradict each other.
        UnknownColumnError
            An extractor names a column that does not exist.
        """
        check_rows(df)
        over = bound(self, df)
        aggregates = list(over.aggregates())
        return over.finished(aggregates, list(over.triggers(aggregates)))

    def to_yaml(self) -> str:
        """Return a YAML document that describes the window, which `from_yaml` reads.

        Raises
        ------
        InvalidArgumentError
            The window has a value that is not text: a Column, a function, or a policy.
        SetupError
            The extra ``eventtide[yaml]`` is not installed.
        """
        return written(self)

    def __repr__(self) -> str:
        """Return the method calls that create this window."""
        return ".".join([f"Windows.{self.kind}()", *calls(self)])

    def _span(self, name: str, value: Size | int) -> Self:
        check_applies(self.kind, name, value)
        check_span(self.kind, name, value)
        return replace(self, **{name: value})  # type: ignore[arg-type] # a span or a slide


_Built = TypeVar("_Built", TimeConfig, AggregateDefinition)


def _built(name: str, build: Callable[[_Built], _Built], empty: _Built, fix: str) -> _Built:
    """Return the result of `build` for an empty builder, after a check of its type."""
    kind = type(empty)
    allowed = f"a function that receives an empty {kind.__name__} and returns one"
    if not callable(build):
        problem = f"has type {type(build).__name__}, which cannot be called"
        raise refused(name, build, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    made = build(empty)
    if not isinstance(made, kind):
        problem = f"returned {made!r}"
        raise refused(name, build, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    return made
