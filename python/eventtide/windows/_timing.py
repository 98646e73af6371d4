"""Which clock keys have, and when a key is silent: another part of the builder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventtide._text.arguments import count
from eventtide._text.durations import micros
from eventtide.errors import InvalidDurationError, sentence
from eventtide.windows._base import Described
from eventtide.windows._key_time import IdleTimeout, Scope

if TYPE_CHECKING:
    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide.windows._key_time import IdleClock, WatermarkScope

__all__ = ["Timing", "check_heartbeat"]

_LEAST_HEARTBEAT = 100_000  # microseconds: Spark runs no faster without rows


@dataclass(frozen=True, eq=False, repr=False)
class Timing(Described):
    """The clock, watermarks by key, and silence."""

    def processing_time(self) -> Self:
        """Give each row the time of the batch that reads it, in place of an event time.

        .. versionadded:: 0.1

        No row is late then, and windows close when the clock is at their end. The rows get a last
        column ``_processing_time`` TIMESTAMP, which aggregates may use; a batch that runs again
        has the same times.
        """
        return self._with(processing_time=True)

    def watermark_scope(self, scope: WatermarkScope) -> Self:
        """Say which keys have a watermark together; by default all.

        .. versionadded:: 0.1

        Parameters
        ----------
        scope : {"key", "global"}, str, Column, or list of them
            ``"key"``: each key has a watermark of its own, by the policy and its own rows, so that
            no other key makes its rows late or closes its windows; without keys all rows are of
            one. ``"global"``: one over all, which is Spark's.
            Columns, which are keys too: one for each of their values, by the rows of all keys that
            have them in common; a list where a column is named key or global.
        """
        return self._with(watermark_scope=Scope(scope))

    def idle_timeout(self, timeout: Duration, *, clock: IdleClock = "processing_time") -> Self:
        """Close all windows of a key that has been silent for so long.

        .. versionadded:: 0.1

        Their results come at once, whatever the delay. A row of the key that comes later and is
        not late opens its window again, for a result of its own: results say which it is, by the
        columns of panes.

        Parameters
        ----------
        timeout : str or timedelta
            Positive.
        clock : {"processing_time", "event_time"}
            What silence is measured by: the clock, or the watermark over all keys.
        """
        return self._with(idle_timeout=IdleTimeout(timeout, clock))

    def key_ttl(self, ttl: Duration) -> Self:
        """Forget a key so long after its last row, if it has no open window; by default a day.

        .. versionadded:: 0.1

        What is forgotten is its watermark: a row that comes later begins a new one.

        Parameters
        ----------
        ttl : str or timedelta
            Zero or more.
        """
        return self._length("key_ttl", ttl)

    def heartbeat(self, interval: Duration) -> Self:
        """Look for silent keys at least so often, also where no row comes; by default each minute.

        .. versionadded:: 0.1

        Parameters
        ----------
        interval : str or timedelta
            100 ms or more.
        """
        check_heartbeat(interval)
        return self._with(heartbeat=interval)

    def max_rows_per_batch(self, rows: int) -> Self:
        """Move the watermark of a key after so many of its rows, as if they came in such batches.

        .. versionadded:: 0.1

        With one, a row is judged by all rows of its key before it, wherever Spark cuts its batches.
        Rows count in the order of their arrival: by the partitions of the source, and in each by
        their place.

        Parameters
        ----------
        rows : int
            1 or more; with ``watermark_scope("key")``.
        """
        count("max_rows_per_batch", rows, "1")
        return self._with(max_rows_per_batch=rows)


def check_heartbeat(interval: Duration) -> None:
    """Refuse a heartbeat that is too fast."""
    if micros("heartbeat", interval, positive=True) < _LEAST_HEARTBEAT:
        problem, allowed = "is too often", "100ms or more"
        raise InvalidDurationError(
            sentence("heartbeat", interval, problem, allowed=allowed, fix="heartbeat='1m'")
        )
