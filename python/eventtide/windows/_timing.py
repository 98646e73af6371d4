"""The part of the builder for processing time, the watermark scope and idle keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventtide._text.arguments import count
from eventtide._text.durations import micros
from eventtide.errors import InvalidDurationError, refused
from eventtide.windows._base import Described
from eventtide.windows._key_time import IdleTimeout, Scope

if TYPE_CHECKING:
    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide.windows._key_time import IdleClock, WatermarkScope

__all__ = ["Timing", "check_heartbeat"]

_LEAST_HEARTBEAT = 100_000  # microseconds: without rows Spark runs no faster


@dataclass(frozen=True, eq=False, repr=False)
class Timing(Described):
    """Processing time, watermarks by key, and idle keys."""

    def processing_time(self) -> Self:
        """Use the time of the batch that reads a row instead of its event time.

        No row is late, and windows close when processing time reaches their end. The rows get a
        last column ``_processing_time`` TIMESTAMP, which aggregates may use. A replayed batch has
        the same times.

        Raises
        ------
        InvalidArgumentError
            Another setting needs event time; when `results` is read.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().processing_time().tumbling("10s")
        et.window().processing_time().tumbling('10s')
        """
        return self._with(processing_time=True)

    def watermark_scope(self, scope: WatermarkScope) -> Self:
        """Set the keys that share a watermark; by default all keys share one.

        Parameters
        ----------
        scope : {"key", "global"}, str, Column, or list of them
            ``"key"``: the policy computes a watermark for each key from the rows of that key. No
            other key makes its rows late or closes its windows. Without keys all rows share one
            watermark. ``"global"``: one watermark over all keys, which is Spark's behaviour.
            Columns, which must be key columns: one watermark for each combination of their values,
            from the rows of all keys with these values. Use a list if a column is named key or
            global.

        Raises
        ------
        ArgumentTypeError
            `scope` is neither text nor a Column, nor a list of them.
        InvalidArgumentError
            The list is empty. A column that is not a key column is refused when `results` is read.
        UnknownColumnError
            The DataFrame does not have a column.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().key_by("site", "device").watermark_scope("site")
        et.window().key_by('site', 'device').watermark_scope('site')
        >>> et.window().watermark_scope([])
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: watermark_scope=[] is empty...
        """
        return self._with(watermark_scope=Scope(scope))

    def key_idle_timeout(self, timeout: Duration, *, clock: IdleClock = "processing_time") -> Self:
        """Close all windows of a key that has had no rows for the timeout.

        Their results are emitted immediately, regardless of the delay. If a later row of the key is
        not late, it reopens its window, which then has another result. The pane columns distinguish
        the results.

        Parameters
        ----------
        timeout : str or timedelta
            Positive.
        clock : {"processing_time", "event_time"}
            The time that measures idleness: processing time, or the watermark over all keys.

        Raises
        ------
        InvalidArgumentError
            `clock` is unknown.
        InvalidDurationError
            `timeout` is not a duration, or is not positive.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().key_by("user").key_idle_timeout("10m", clock="event_time")
        et.window().key_by('user').key_idle_timeout('10m', clock='event_time')
        >>> et.window().key_idle_timeout("0s")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: key_idle_timeout='0s' is zero...
        """
        return self._with(key_idle_timeout=IdleTimeout(timeout, clock))

    def key_ttl(self, ttl: Duration) -> Self:
        """Purge a key without open windows `ttl` after its last row; by default one day.

        The key's watermark is purged. A later row of the key begins a new watermark.

        Parameters
        ----------
        ttl : str or timedelta
            Zero or more.

        Raises
        ------
        InvalidDurationError
            `ttl` is not a duration, or is negative.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().key_by("user").key_ttl("7d")
        et.window().key_by('user').key_ttl('7d')
        >>> et.window().key_ttl("-1h")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: key_ttl='-1h' is negative...
        """
        return self._length("key_ttl", ttl)

    def heartbeat(self, interval: Duration) -> Self:
        """Set the maximum interval between checks for idle keys, also without rows; by default 1m.

        Parameters
        ----------
        interval : str or timedelta
            100 ms or more.

        Raises
        ------
        InvalidDurationError
            `interval` is not a duration, or is below 100 ms.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().key_by("user").key_idle_timeout("10s").heartbeat("2s")
        et.window().key_by('user').key_idle_timeout('10s').heartbeat('2s')
        >>> et.window().heartbeat("10ms")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: heartbeat='10ms' is too short...
        """
        check_heartbeat(interval)
        return self._with(heartbeat=interval)

    def max_rows_per_batch(self, rows: int) -> Self:
        """Advance the watermark of a key after each `rows` of its rows, as if they were a batch.

        With ``rows=1``, the lateness of a row depends on all earlier rows of its key, regardless
        of Spark's batch boundaries. Rows count in the order of their arrival: by source partition,
        and within a partition by position.

        Parameters
        ----------
        rows : int
            1 or more; with ``watermark_scope("key")``.

        Raises
        ------
        ArgumentTypeError
            `rows` is not a whole number.
        InvalidArgumentError
            `rows` is below 1. Without ``watermark_scope("key")`` it is refused when `results` is
            read.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().key_by("user").watermark_scope("key").max_rows_per_batch(1)
        et.window().key_by('user').watermark_scope('key').max_rows_per_batch(1)
        >>> et.window().max_rows_per_batch(0)
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: max_rows_per_batch=0 is out of range...
        """
        count("max_rows_per_batch", rows, "1")
        return self._with(max_rows_per_batch=rows)


def check_heartbeat(interval: Duration) -> None:
    """Reject a heartbeat below 100 ms."""
    if micros("heartbeat", interval, positive=True) < _LEAST_HEARTBEAT:
        problem, allowed = "is too short", "100ms or more"
        raise refused(
            "heartbeat",
            interval,
            problem,
            allowed=allowed,
            fix="heartbeat='1m'",
            error=InvalidDurationError,
        )
