"""The first half of the builder of a bolt: window sizes and time."""

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
        """Set the length and the slide of windows, each in rows or in time.

        Parameters
        ----------
        length : Count, str or timedelta
            A window holds the last `length` rows, or all rows of the last `length` of time.
        slide : Count, str or timedelta, optional
            There is a window after each `slide` rows, or at each multiple of `slide` in time; by
            default after each row. A slide longer than the length is allowed with a warning: rows
            between two windows are then in no window.
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
        """Use adjacent windows, whose slide is equal to their length."""
        check_extent("length", length)
        return replace(self, length=length, slide=length)

    def with_timestamp_field(self, field: str | Mapping[str, str]) -> Self:
        """Set the event-time column.

        Parameters
        ----------
        field : str or mapping of str to str
            A TIMESTAMP, or a BIGINT with milliseconds since 1970, as in Storm. The time of a BIGINT
            is added to the rows as a column ``_extracted_event_time``. Use a mapping if the column
            differs between streams. A row without a usable time is written to the late log.

        Raises
        ------
        InvalidArgumentError
            A timestamp is already set.
        """
        return self._timed("timestamp_field", field)

    def with_timestamp_extractor(self, extractor: Timestamp) -> Self:
        """Set the expression that computes the event time of a row, in place of Storm's function.

        Parameters
        ----------
        extractor : str, Column, or mapping of str to these
            SQL text or a Column with a TIMESTAMP, or with milliseconds since 1970. Its value is
            added to the rows as a column ``_extracted_event_time``.

        Raises
        ------
        InvalidArgumentError
            A timestamp is already set.
        """
        return self._timed("timestamp_extractor", extractor)

    def with_lag(self, lag: Duration) -> Self:
        """Set the allowed lag behind the latest row of a stream; by default zero."""
        to_iso("lag", lag)
        return replace(self, lag=lag)

    def with_watermark_interval(self, interval: Duration) -> Self:
        """Set the interval at which the watermark is emitted; by default one second.

        Parameters
        ----------
        interval : str or timedelta
            1 ms or more, in processing time. No window closes between two emissions.
        """
        frame_micros("watermark_interval", interval)
        return replace(self, watermark_interval=interval)

    def with_late_tuple_stream(self, stream_id: str) -> Self:
        """Declare a stream of the late rows; `stream` reads it.

        Without a stream the late rows are also written to the late log, which `read_late` reads.
        """
        of_type("late_tuple_stream", stream_id, str, "a name", ".with_late_tuple_stream('late')")
        return replace(self, late_tuple_stream=stream_id)

    def with_max_events_in_memory(self, most: int) -> Self:
        """Set the maximum number of rows of a key in memory; by default one million.

        Other rows are read from the state, or from a file of the Python worker, when a window's
        rows are read.
        """
        count("max_events_in_memory", most, "100_000")
        return replace(self, max_events_in_memory=most)

    def with_late(self, action: LateAction) -> Self:
        """Set how late rows are handled: ``"log"``, the default, ``"count"`` or ``"fail"``."""
        choice("late", action, get_args(LateAction))
        return replace(self, late=action)

    def with_late_to(self, path: str) -> Self:
        """Set the folder of the late log, by default ``late`` in the checkpoint."""
        of_type("late_to", path, str, "the path of a folder", ".with_late_to('s3://bucket/late')")
        return replace(self, late_to=path)

    def _timed(self, name: str, timestamp: Timestamp) -> Self:
        check_timestamp(name, timestamp)
        for known in (self.timestamp_field, self.timestamp_extractor):
            if known is not None:
                problem = f"cannot be added: {known!r} is already set"
                fix = f"with_{name}({timestamp!r}) alone"
                raise refused(name, timestamp, problem, allowed="one for a bolt", fix=fix)
        return replace(self, **{name: timestamp})  # type: ignore[arg-type] # by its name
