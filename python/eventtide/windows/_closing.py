"""When windows close, and what comes out of them: the second half of the builder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from pyspark.sql import Column

from eventtide._text.arguments import choice, of_type
from eventtide._text.durations import to_iso
from eventtide.errors import InvalidArgumentError, sentence
from eventtide.windows._base import Described
from eventtide.windows._handlers import LateHandler
from eventtide.windows._profiles import LateAction, LateRule, Profile
from eventtide.windows._settings import Early
from eventtide.windows._triggers import trigger_list

if TYPE_CHECKING:
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

        .. versionadded:: 0.1

        Parameters
        ----------
        name : {"eventtide", "jet", "storm", "voltsp", "spark", "flink"}
            Each rule can be set alone as well, and then goes before the profile.
        """
        return self._with(profile=choice("profile", name, get_args(Profile)))

    def late_rule(self, rule: LateRule) -> Self:
        """Say when a row is late, in place of the profile.

        .. versionadded:: 0.1

        Parameters
        ----------
        rule : {"behind_watermark", "frame_closed", "window_closed"}
            Its time is below the watermark; its frame is closed; all of its windows are.
        """
        return self._with(late_rule=choice("late_rule", rule, get_args(LateRule)))

    def delay(self, delay: Duration) -> Self:
        """Keep every window open for longer: it closes when the watermark is at its end plus this.

        .. versionadded:: 0.1
        """
        return self._length("delay", delay)

    def allowed_lateness(self, lateness: Duration) -> Self:
        """Let rows still count that come up to this long after a window's end; see `updates`.

        .. versionadded:: 0.1
        """
        return self._length("allowed_lateness", lateness)

    def late(self, action: LateAction) -> Self:
        """Say what becomes of late rows; by default ``"log"``. All are counted.

        .. versionadded:: 0.1

        Parameters
        ----------
        action : {"log", "count", "fail"}
            Keep them in the late log, only count them, or stop the query.
        """
        return self._with(late=choice("late", action, get_args(LateAction)))

    def late_to(self, path: str) -> Self:
        """Keep the late log in this folder, by default ``late`` in the checkpoint.

        .. versionadded:: 0.1
        """
        of_type("late_to", path, str, "the path of a folder", ".late_to('s3://bucket/late')")
        return self._with(late_to=path)

    def late_retention(self, keep: Duration) -> Self:
        """Keep late rows for so long, by default for ever.

        .. versionadded:: 0.1

        Parameters
        ----------
        keep : str or timedelta
            Positive, by the times of the query's batches: rows of a batch that is longer ago go.

        Notes
        -----
        Rows that a handler or a stream over ``eventtide-late`` has not read stay until it has; see
        `forget_late_reader`. Of several windows in a query all must have one, and the longest
        counts.
        """
        to_iso("late_retention", keep, positive=True)
        return self._with(late_retention=keep)

    def on_late(self, handler: Handler, *, on_error: OnError = "fail") -> Self:
        """Call a function with the late rows of each batch that has some.

        .. versionadded:: 0.1

        Parameters
        ----------
        handler : callable
            ``fn(df, context)``: the late rows as a DataFrame, and what is known about them, a
            `LateContext`.
        on_error : {"fail", "log"}
            What its own error does: stop the query, or stand in the log.

        Notes
        -----
        `start` makes the calls, after a batch was committed and beside the query: one for each
        batch that has late rows, in order, at least once.
        """
        return self._with(on_late=LateHandler(handler, on_error))

    def early(
        self,
        *,
        every: Duration | None = None,
        rows: int | None = None,
        when: str | Column | None = None,
    ) -> Self:
        """Ask for results before a window closes, as panes of their own.

        .. versionadded:: 0.1

        Parameters
        ----------
        every : str or timedelta, optional
            Positive: by the clock, while the window has new rows.
        rows : int, optional
            At least one: after so many rows of the window.
        when : str or Column, optional
            SQL text or a Column over the results of `agg`, by their names: when it becomes true.
        """
        return self._with(early=Early(every, rows, when))

    def updates(self) -> Self:
        """Give a result at the window's end, and another whenever rows within the lateness come.

        .. versionadded:: 0.1

        Without it a window with an allowed lateness has one result, at the end of the lateness.
        """
        return self._with(updates=True)

    def discarding(self) -> Self:
        """Let each pane hold what came since the one before, in place of all there is.

        .. versionadded:: 0.1
        """
        return self._with(discarding=True)

    def emit(self, *triggers: WindowTrigger | str) -> Self:
        """Say when a window gives a result, in place of `early` and `updates`.

        .. versionadded:: 0.1

        Results then have one more column, ``trigger`` STRING: the name of the trigger that made it.

        Parameters
        ----------
        *triggers : WindowTrigger or str
            One or more, each once; the name stands for one that takes no value.
        """
        return self._with(emit=trigger_list(triggers))

    def agg(self, *columns: Column) -> Self:
        """Say what to compute: any of Spark's aggregates that can be merged.

        .. versionadded:: 0.1

        Parameters
        ----------
        *columns : Column
            One or more, each best with a name: ``F.sum("amount").alias("total")``.
        """
        allowed, fix = "aggregates, one after the other", ".agg(F.count('*').alias('n'))"
        if not columns:
            raise InvalidArgumentError(sentence("agg", (), "is empty", allowed=allowed, fix=fix))
        for column in columns:
            of_type("agg", column, Column, allowed, fix)
        return self._with(agg=columns)
