"""The first half of the builder: the kind of window, and the rows of each window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from eventtide import _bridge
from eventtide._text.arguments import flat
from eventtide._text.columns import column_list, column_name
from eventtide.errors import refused
from eventtide.windows._base import Described
from eventtide.windows._event_time import EventTime
from eventtide.windows._shapes import Framed
from eventtide.windows._unframed import Counted, Session
from eventtide.windows._zones import instant, read_origin, zone_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from pyspark.sql import Column
    from typing_extensions import Self

    from eventtide._text.columns import Substream
    from eventtide._text.durations import Duration
    from eventtide._watermark import OnRestart, SubstreamTtl
    from eventtide.policies import PolicyOrRules
    from eventtide.windows._shapes import Shape
    from eventtide.windows._sizes import Size
    from eventtide.windows._unframed import Touching

__all__ = ["Framing"]

_Shaped_co = TypeVar("_Shaped_co", covariant=True)


class _Unshaped(Protocol[_Shaped_co]):
    """A window that has no kind yet; see `ShapedWindow`."""

    def _of(self, shape: Shape) -> _Shaped_co: ...


@dataclass(frozen=True, eq=False, repr=False)
class Framing(Described):
    """Event time, keys, kinds of windows, and where they start."""

    def event_time(  # noqa: PLR0913 - as with_watermark
        self,
        column: str | Column,
        policy: PolicyOrRules | None = None,
        *,
        substream: Substream | None = None,
        substream_idle_timeout: Duration | None = None,
        expected: int | Iterable[str] | None = None,
        max_substreams: int | None = None,
        substream_ttl: SubstreamTtl | None = None,
        max_clock_step: Duration | None = None,
        on_restart: OnRestart | None = None,
        name: str | None = None,
    ) -> Self:
        """Set the event-time column and, with a policy, the watermark.

        Without this method the event time is the column that has a watermark.

        Parameters
        ----------
        column : str or Column
            A column of type TIMESTAMP or TIMESTAMP_NTZ, or a field of a struct (``"meta.ts"``).
        policy : WatermarkPolicy, or mapping of str to WatermarkPolicy, optional
            From `WatermarkPolicies`, or a mapping by substream, as for `with_watermark`. Omit it if
            the DataFrame has a watermark, or is a batch DataFrame, which needs no watermark.
        substream, substream_idle_timeout, expected, max_substreams, substream_ttl,
        max_clock_step, on_restart, name
            As for `with_watermark`; they require a policy.

        Raises
        ------
        ArgumentTypeError
            An argument has the wrong type.
        InvalidArgumentError
            A value is not allowed, or another argument is set without a policy.
        InvalidDurationError
            A length of time is not valid.
        UnknownColumnError
            The DataFrame does not have the column.

        Examples
        --------
        >>> import eventtide as et
        >>> lag = et.WatermarkPolicies.with_fixed_lag("5s")
        >>> et.window().event_time("ts", lag, substream="device").tumbling("1m")
        et.window().event_time('ts', ...).tumbling('1m')
        >>> et.window().event_time("ts", substream="device")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: substream='device' belongs to a policy...
        """
        sizes = (substream_idle_timeout, expected, max_substreams, substream_ttl)
        others = (max_clock_step, on_restart, name)
        columns = None if self._df is None else _bridge.columns(self._df)
        name = column_name("event_time", column, columns)
        return self._with(event_time=EventTime(name, policy, substream, *sizes, *others))

    def key_by(self, *columns: str | Column | Sequence[str | Column]) -> Self:
        """Set the key columns; without keys one window holds all rows.

        Parameters
        ----------
        *columns : str or Column, or one list of them
            One or more. Null is a key value like any other.

        Raises
        ------
        ArgumentTypeError
            A key is not a column name or a Column.
        InvalidArgumentError
            There is no column, or a name is repeated.
        UnknownColumnError
            The DataFrame does not have a column.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().key_by("user", "site")
        et.window().key_by('user', 'site')
        >>> et.window().key_by("user", "user")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: key_by=('user', 'user') has a name twice...
        """
        allowed, fix = "column names and Columns", ".key_by('user', 'site')"
        return self._with(key_by=tuple(column_list("key_by", flat(columns), allowed, fix)))

    def tumbling(self: _Unshaped[_Shaped_co], size: Size) -> _Shaped_co:
        """Use adjacent windows, so that each row is in exactly one window.

        Parameters
        ----------
        size : str or timedelta
            1 ms or more, or calendar text such as ``"1 month"``; see `time_zone`.

        Raises
        ------
        InvalidDurationError
            `size` is not a duration, or is below 1 ms.
        InvalidArgumentError
            The window has a kind already.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().tumbling("10m")
        et.window().tumbling('10m')
        >>> et.window().tumbling(10)
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: size=10 is a number without a unit...
        """
        return self._of(Framed("tumbling", size))

    def sliding(self: _Unshaped[_Shaped_co], size: Size, every: Size) -> _Shaped_co:
        """Start a window at each slide, so that each row is in ``size / every`` windows.

        Parameters
        ----------
        size : str or timedelta
            A multiple of `every`, at most 1 000 000 times `every`.
        every : str or timedelta
            The slide: 1 ms or more, or calendar text. The state holds each slide once, for any
            `size`.

        Raises
        ------
        InvalidDurationError
            A length is not a duration or is below 1 ms, or `size` is not a multiple of `every`.
        InvalidArgumentError
            The window has a kind already.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().sliding("1m", every="10s")
        et.window().sliding('1m', every='10s')
        >>> et.window().sliding("1m", every="7s")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: size='1m' is not a multiple of every='7s'...
        """
        return self._of(Framed("sliding", size, every))

    def cumulate(self: _Unshaped[_Shaped_co], size: Size, step: Size) -> _Shaped_co:
        """Use windows that grow by steps to their full size, such as the current day by hours.

        Parameters
        ----------
        size : str or timedelta
            A multiple of `step`, at most 1 000 000 times `step`. After the full size the next
            window begins.
        step : str or timedelta
            1 ms or more, or calendar text. Each step has a result, from the same start.

        Raises
        ------
        InvalidDurationError
            A length is not a duration or is below 1 ms, or `size` is not a multiple of `step`.
        InvalidArgumentError
            The window has a kind already.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().cumulate("1 day", step="1h")
        et.window().cumulate('1 day', step='1h')
        >>> et.window().cumulate("1 day", step="7h")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: size='1 day' is not a multiple of step='7h'...
        """
        return self._of(Framed("cumulate", size, step))

    def session(
        self: _Unshaped[_Shaped_co],
        gap: Duration | Column,
        *,
        maximum_duration: Duration | None = None,
        touching: Touching | None = None,
    ) -> _Shaped_co:
        """Group rows with less than a gap between their times into sessions.

        A session extends from its first row to a gap after its last row. With a gap for each row,
        it extends to the latest end of its rows' gaps. So a later row with a shorter gap never
        shortens it.

        Parameters
        ----------
        gap : str, timedelta or Column
            1 ms or more. A Column is the gap of each row: STRING in Spark's units
            (``"5 seconds"``), INTERVAL DAY TO SECOND, or a calendar INTERVAL, in which a day has 24
            hours. If the gap of a row is null, not above zero, not readable or in months, the row
            is in no session: it is late, with the reason ``bad_gap``.
        maximum_duration : str or timedelta, optional
            1 ms or more, and at least the gap of all rows. A session ends after this duration at
            the latest, and the next row begins another session.
        touching : {"separate", "merge"}, optional
            Whether rows exactly one gap apart belong to two sessions or to one. It overrides the
            profile.

        Raises
        ------
        InvalidArgumentError, InvalidDurationError
            An argument is not valid. A gap that is not a deterministic expression over one row, or
            has a constant that is not a length, is refused when `results` is read.
        UnknownColumnError, ColumnTypeError
            The gap uses a column that does not exist, or has another type; when `results` is read.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().session("30m", maximum_duration="2h")
        et.window().session('30m', maximum_duration='2h')
        >>> et.window().session("30m", maximum_duration="10m")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: maximum_duration='10m' is shorter than gap='30m'...

        A gap for each row:

        >>> gap = F.when(F.col("device") == "phone", "5 minutes")  # doctest: +SKIP
        >>> visits = et.window(events).session(gap.otherwise("20 minutes"))  # doctest: +SKIP
        """
        return self._of(Session(gap, maximum_duration, touching))

    def by_count(self: _Unshaped[_Shaped_co], rows: int, every: int | None = None) -> _Shaped_co:
        """Group `rows` rows of a key into a window, in the order of their arrival.

        Parameters
        ----------
        rows : int
            From 1 to 1 000 000.
        every : int, optional
            The slide, from 1 to `rows`: a window ends after each `every` rows. By default windows
            are adjacent.

        Raises
        ------
        ArgumentTypeError
            An argument is not a whole number.
        InvalidArgumentError
            An argument is out of its range, or the window has a kind already.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().by_count(100, every=10)
        et.window().by_count(100, every=10)
        >>> et.window().by_count(10, every=100)
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: every=100 is more than rows=10...
        """
        return self._of(Counted(rows, every))

    def _of(self, shape: Shape) -> Self:
        if (first := self.settings.shape) is not None:
            problem = f"cannot be combined with {first!r}"
            allowed, fix = "one kind of window", f"remove .{first!r}"
            raise refused("window", shape, problem, allowed=allowed, fix=fix)
        return self._with(shape=shape)

    def offset(self, offset: Duration) -> Self:
        """Shift the starts of all windows from the epoch: zero or more, and below the slide.

        Windows of `cumulate` repeat after their size, so their offset is below the size.

        With `time_zone` the offset is local time: days that begin at six also begin at six when the
        clocks change.

        Raises
        ------
        InvalidDurationError
            `offset` is not a duration, or is negative. An offset that is too long is refused when
            `results` is read.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().tumbling("1 day").offset("6h")
        et.window().tumbling('1 day').offset('6h')
        >>> et.window().tumbling("1 day").offset("-6h")
        Traceback (most recent call last):
        eventtide.errors.InvalidDurationError: offset='-6h' is negative...
        """
        return self._length("offset", offset)

    def origin(self, origin: datetime | str) -> Self:
        """Start a window at this time, and all other windows at whole frames from it.

        Parameters
        ----------
        origin : datetime or str
            With a time zone, as in ``"2024-01-01T06:00:00Z"``, or a local time in `time_zone`.

        Raises
        ------
        ArgumentTypeError
            `origin` is neither a datetime nor text.
        InvalidArgumentError
            The text is not a time of ISO 8601.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().tumbling("1 day").origin("2024-01-01T06:00:00Z")
        et.window().tumbling('1 day').origin('2024-01-01T06:00:00Z')
        >>> et.window().tumbling("1 day").origin("6 o'clock")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: origin="6 o'clock" cannot be read as a time...
        """
        instant(read_origin(origin), "UTC")  # rejects values that are not a time
        return self._with(origin=origin)

    def time_zone(self, name: str) -> Self:
        """Start windows of days, weeks, months and years at midnight in a time zone.

        A day on which the clocks change then has 23 or 25 hours. Without a time zone a day is 24
        hours from midnight UTC, and months and years are refused. A TIMESTAMP_NTZ column is local
        time already, so its days do not depend on the zone.

        Parameters
        ----------
        name : str
            Such as ``"Europe/Berlin"`` or ``"UTC"``.

        Raises
        ------
        ArgumentTypeError
            `name` is not text.
        InvalidArgumentError
            The time zone is unknown.

        Examples
        --------
        >>> import eventtide as et
        >>> et.window().tumbling("1 month").time_zone("Europe/Berlin")
        et.window().tumbling('1 month').time_zone('Europe/Berlin')
        >>> et.window().tumbling("1 month").time_zone("Berlin")
        Traceback (most recent call last):
        eventtide.errors.InvalidArgumentError: time_zone='Berlin' is unknown on this machine...
        """
        return self._with(time_zone=zone_name(name))
