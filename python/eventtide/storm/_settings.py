"""How large a bolt's windows are and by which time: the first half of its builder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from eventtide._text.arguments import choice, count, of_type
from eventtide._text.durations import frame_micros, to_iso
from eventtide.errors import refused
from eventtide.storm._extents import Count, check_extent, slides_past
from eventtide.storm._model import Bolt
from eventtide.storm._streams import check_timestamp
from eventtide.windows._profiles import LateAction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide.storm._extents import Extent
    from eventtide.storm._model import Timestamp

__all__ = ["BoltSettings"]


@dataclass(frozen=True, eq=False, repr=False)
class BoltSettings(Bolt):
    """Length, slide, timestamps, late rows and memory."""

    def with_window(self, length: Extent, slide: Extent | None = None) -> Self:
        """Say how long a window is and how far it slides, each in rows or in time.

        .. versionadded:: 0.1

        Parameters
        ----------
        length : Count, str or timedelta
            The last so many rows, or all of the last so much time.
        slide : Count, str or timedelta, optional
            A window after so many rows, or at each multiple of so much time; by default after
            each row. Farther than the length is allowed and warned of: rows between windows are
            then in none.
        """
        return self._sized(length, Count(1) if slide is None else slide)

    def _sized(self, length: Extent, slide: Extent) -> Self:
        check_extent("length", length)
        check_extent("slide", slide)
        if slides_past(length, slide):
            warnings.warn(
                f"slide={slide!r} is longer than length={length!r}: rows between two windows are"
                " in none of them.",
                stacklevel=3,
            )
        return replace(self, length=length, slide=slide)

    def with_tumbling_window(self, length: Extent) -> Self:
        """Put windows side by side: as far as a window is long, the next one is away.

        .. versionadded:: 0.1
        """
        check_extent("length", length)
        return replace(self, length=length, slide=length)

    def with_timestamp_field(self, field: str | Mapping[str, str]) -> Self:
        """Name the column of the event time.

        .. versionadded:: 0.1

        Parameters
        ----------
        field : str or mapping of str to str
            A TIMESTAMP, or a BIGINT with milliseconds since 1970, as Storm has it; then its time is
            one more column of the rows, ``_extracted_event_time``. For each stream its own where
            they differ. A row without a usable time is kept in the late log.

        Raises
        ------
        InvalidArgumentError
            A timestamp was given already.
        """
        return self._timed("timestamp_field", field)

    def with_timestamp_extractor(self, extractor: Timestamp) -> Self:
        """Compute the event time of a row: an expression takes the place of Storm's function.

        .. versionadded:: 0.1

        Parameters
        ----------
        extractor : str, Column, or mapping of str to these
            SQL text or a Column with a TIMESTAMP, or with milliseconds since 1970. Rows get its
            value as one more column, ``_extracted_event_time``.

        Raises
        ------
        InvalidArgumentError
            A timestamp was given already.
        """
        return self._timed("timestamp_extractor", extractor)

    def with_lag(self, lag: Duration) -> Self:
        """Say how far a row may be behind the latest of its stream; by default not at all.

        .. versionadded:: 0.1
        """
        to_iso("lag", lag)
        return replace(self, lag=lag)

    def with_watermark_interval(self, interval: Duration) -> Self:
        """Say how often the watermark is told; by default every second.

        .. versionadded:: 0.1

        Parameters
        ----------
        interval : str or timedelta
            1 ms or more, by the clock. Nothing closes between two times.
        """
        frame_micros("watermark_interval", interval)
        return replace(self, watermark_interval=interval)

    def with_late_tuple_stream(self, stream_id: str) -> Self:
        """Declare a stream of the late rows; `stream` reads it.

        .. versionadded:: 0.1

        Without it they are kept in the late log all the same, which `read_late` reads.
        """
        of_type("late_tuple_stream", stream_id, str, "a name", ".with_late_tuple_stream('late')")
        return replace(self, late_tuple_stream=stream_id)

    def with_max_events_in_memory(self, most: int) -> Self:
        """Say how many rows of a key may be in memory at once; by default a million.

        .. versionadded:: 0.1

        Others are read from the state, or from a file of the Python worker's, when a window is
        asked for them.
        """
        count("max_events_in_memory", most, "100_000")
        return replace(self, max_events_in_memory=most)

    def with_late(self, action: LateAction) -> Self:
        """Say what becomes of late rows: ``"log"``, the default, ``"count"`` or ``"fail"``.

        .. versionadded:: 0.1
        """
        choice("late", action, get_args(LateAction))
        return replace(self, late=action)

    def with_late_to(self, path: str) -> Self:
        """Keep the late log in this folder, by default ``late`` in the checkpoint.

        .. versionadded:: 0.1
        """
        of_type("late_to", path, str, "the path of a folder", ".with_late_to('s3://bucket/late')")
        return replace(self, late_to=path)

    def _timed(self, name: str, timestamp: Timestamp) -> Self:
        check_timestamp(name, timestamp)
        for known in (self.timestamp_field, self.timestamp_extractor):
            if known is not None:
                problem = f"is a second one: the timestamp is {known!r} already"
                fix = f"with_{name}({timestamp!r}) alone"
                raise refused(name, timestamp, problem, allowed="one for a bolt", fix=fix)
        return replace(self, **{name: timestamp})  # type: ignore[arg-type] # by its name
