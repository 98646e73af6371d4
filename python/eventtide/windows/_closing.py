"""The second half of the builder: when windows close, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from pyspark.sql import Column

from eventtide._text.arguments import choice, flat, of_type
from eventtide._text.durations import to_iso
from eventtide.errors import refused
from eventtide.windows._base import Described
from eventtide.windows._handlers import LateHandler
from eventtide.windows._profiles import LateAction, LateRule, Profile
from eventtide.windows._triggers import trigger_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide.windows._handlers import Handler, OnError
    from eventtide.windows._triggers import WindowTrigger

__all__ = ["Closing"]


@dataclass(frozen=True, eq=False, repr=False)
class Closing(Described):
    """Boundary rules, lateness, late rows, panes, and aggregates."""

    def profile(self, name: Profile) -> Self:
        """Follow the boundary rules of another system; by default ``"eventtide"``.

        Parameters
        ----------
        name : {"eventtide", "jet", "storm", "voltsp", "spark", "flink"}
            The system. A rule that is set by its own method takes precedence over the profile.

        Raises
        ------
        InvalidArgumentError
            The system is unknown.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().profile("jet")
        et.window().profile('jet')
        >>> et.window().profile("Jet")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: profile='Jet' is unknown...
        """
        return self._with(profile=choice("profile", name, get_args(Profile)))

    def late_rule(self, rule: LateRule) -> Self:
        """Set the rule by which a row is late; it overrides the rule of the profile.

        Parameters
        ----------
        rule : {"behind_watermark", "frame_closed", "window_closed"}
            A row is late when its time is below the watermark, when its frame is closed, or when
            all of its windows are closed.

        Raises
        ------
        InvalidArgumentError
            The rule is unknown.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().late_rule("frame_closed")
        et.window().late_rule('frame_closed')
        >>> et.window().late_rule("closed")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: late_rule='closed' is unknown...
        """
        return self._with(late_rule=choice("late_rule", rule, get_args(LateRule)))

    def delay(self, delay: Duration) -> Self:
        """Keep every window open until the watermark reaches its end plus the delay.

        Raises
        ------
        InvalidDurationError
            `delay` is not a duration, or is negative.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().tumbling("1m").delay("5s")
        et.window().tumbling('1m').delay('5s')
        >>> et.window().delay(5)
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: delay=5 is a number without a unit...
        """
        return self._length("delay", delay)

    def allowed_lateness(self, lateness: Duration) -> Self:
        """Accept rows until the watermark is `lateness` past a window's end; see `emit`.

        Raises
        ------
        InvalidDurationError
            `lateness` is not a duration, or is negative.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().tumbling("1m").allowed_lateness("1h").emit(late_updates=True)
        et.window().tumbling('1m').allowed_lateness('1h').emit(...)
        >>> et.window().allowed_lateness("-1h")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: allowed_lateness='-1h' is negative...
        """
        return self._length("allowed_lateness", lateness)

    def late(self, action: LateAction) -> Self:
        """Set the action for late rows; by default ``"log"``. All late rows are counted.

        Parameters
        ----------
        action : {"log", "count", "fail"}
            Write late rows to the late log, only count them, or stop the query.

        Raises
        ------
        InvalidArgumentError
            The action is unknown.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().late("count")
        et.window().late('count')
        >>> et.window().late("drop")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: late='drop' is unknown...
        """
        return self._with(late=choice("late", action, get_args(LateAction)))

    def late_to(self, path: str) -> Self:
        """Set the folder of the late log, by default ``late`` in the checkpoint.

        Raises
        ------
        ArgumentTypeError
            `path` is not text.
        InvalidArgumentError
            `path` is empty.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().late_to("/data/late")
        et.window().late_to('/data/late')
        >>> et.window().late_to("")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: late_to='' is empty...
        """
        of_type("late_to", path, str, "the path of a folder", ".late_to('s3://bucket/late')")
        return self._with(late_to=path)

    def late_retention(self, keep: Duration) -> Self:
        """Set the retention of late rows; by default they are kept permanently.

        Parameters
        ----------
        keep : str or timedelta
            Positive. Age is measured by the query's batch times; rows of older batches are purged.

        Raises
        ------
        InvalidDurationError
            `keep` is not a duration, or is not positive.

        Notes
        -----
        Rows are retained until every handler, and every stream over ``eventtide-late``, has read
        them; see `forget_late_reader`. If a query has several windows, all of them must set a
        retention, and the longest applies.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().late_retention("30d")
        et.window().late_retention('30d')
        >>> et.window().late_retention("0s")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: late_retention='0s' is zero...
        """
        to_iso("late_retention", keep, positive=True)
        return self._with(late_retention=keep)

    def on_late(self, handler: Handler, *, on_error: OnError = "fail") -> Self:
        """Call a function with the late rows of each batch that has late rows.

        Parameters
        ----------
        handler : callable
            ``fn(df, context)``: the late rows as a DataFrame, and a `LateContext` that describes
            them.
        on_error : {"fail", "log"}
            Whether an error of the handler stops the query or is only logged.

        Raises
        ------
        ArgumentTypeError
            `handler` cannot be called.
        InvalidArgumentError
            `on_error` is unknown.

        Notes
        -----
        `start` runs the calls after a batch was committed, concurrently with the query. There is
        one call for each batch that has late rows, in order, at least once.

        Examples
        --------
        >>> import eventtide as et
        >>> def handle(rows, context):
        ...     rows.write.mode("append").parquet("/data/late")
        >>> et.window().on_late(handle, on_error="log")
        et.window().on_late(handle, on_error='log')
        >>> et.window().on_late("handle")
        Traceback (most recent call last):
        eventtide.errors.ArgumentTypeError: on_late='handle' has type str, which cannot be called...
        """
        return self._with(on_late=LateHandler(handler, on_error))

    def emit(
        self, *triggers: WindowTrigger | str, discarding: bool = False, late_updates: bool = False
    ) -> Self:
        """Set the triggers of a window's results; by default there is one result, when it closes.

        Results then also have the pane columns and ``trigger`` STRING, the name of the trigger
        that fired; see `results`. Each trigger emits as if it were the only trigger.

        Parameters
        ----------
        *triggers : WindowTrigger or str
            One or more, each at most once. A trigger without a value can be given by its name. With
            `late_updates` the default is ``"at_window_end"``.
        discarding : bool
            Whether a result has only the rows since the previous result of its trigger, instead of
            all rows so far. It requires a trigger before the end, or `late_updates`.
        late_updates : bool
            Whether a window emits again when rows arrive within its `allowed_lateness`, which must
            be set. By default a window with an allowed lateness has one result, at the end of the
            lateness.

        Raises
        ------
        ArgumentTypeError
            A trigger is neither a `WindowTrigger` nor text, or a flag is not a boolean.
        InvalidArgumentError
            There is no trigger, or a trigger is unknown or given twice. Triggers that contradict
            the other settings are refused when `results` is read.

        Examples
        --------
        >>> import eventtide as et
        >>> per_minute = et.window().tumbling("1m")
        >>> per_minute.emit("at_window_end", et.WindowTrigger.every("10s"))
        et.window().tumbling('1m').emit(WindowTrigger.at_window_end, WindowTrigger.every('10s'))
        >>> per_minute.emit("hourly")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: trigger='hourly' is unknown...
        """
        of_type("discarding", discarding, bool, "True or False", ".emit(..., discarding=True)")
        of_type("late_updates", late_updates, bool, "True or False", ".emit(late_updates=True)")
        named = ("at_window_end",) if late_updates and not triggers else triggers
        chosen = trigger_list(named)
        return self._with(emit=chosen, discarding=discarding, late_updates=late_updates)

    def agg(self, *columns: Column | Sequence[Column]) -> Self:
        """Set the aggregates: any Spark aggregates that can be merged.

        Parameters
        ----------
        *columns : Column, or one list of them
            One or more, preferably with an alias: ``F.sum("amount").alias("total")``.

        Raises
        ------
        ArgumentTypeError
            An aggregate is not a Column.
        InvalidArgumentError
            There is no aggregate.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().agg("count(*)")
        Traceback (most recent call last):
        eventtide.errors.ArgumentTypeError: agg='count(*)' has type str...
        >>> n, last = F.count("*").alias("n"), F.max("ts").alias("last")  # doctest: +SKIP
        >>> counts = et.window(events).tumbling("1m").agg(n, last)  # doctest: +SKIP
        """
        allowed, fix = "aggregates, such as F.count('*')", ".agg(F.count('*').alias('n'))"
        found = flat(columns)
        if len(found) == 1 and isinstance(found[0], Mapping) and found[0]:
            column, function = next(iter(found[0].items()))
            fix = f".agg(F.{function}({column!r}).alias('{function}_{column}'))"
        if not found:
            raise refused("agg", (), "is empty", allowed=allowed, fix=fix)
        for column in found:
            of_type("agg", column, Column, allowed, fix)
        return self._with(agg=found)
