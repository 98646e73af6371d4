"""What a bolt was told, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from eventtide._text.columns import Substream
    from eventtide._text.durations import Duration
    from eventtide.storm._extents import Extent
    from eventtide.windows._profiles import LateAction

__all__ = ["EVENT_TIME", "STREAM", "Bolt", "Streams", "Timestamp"]

STREAM = "_stream"
"""The column that says which stream a row is of, where there are several."""

EVENT_TIME = "_extracted_event_time"
"""The column of an event time that is no column of the rows."""

Timestamp: TypeAlias = str | Column | Mapping[str, str | Column]
"""Where the event time is: a column, SQL text or a Column, or these by the names of streams."""


@dataclass(frozen=True, eq=False)
class Streams:
    """What a bolt reads.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        By the name of the stream; one without a name stands under ``"default"``, as in Storm.
    column : str or Column, optional
        What tells the stream of a row, where one DataFrame has several.
    declared : sequence of str
        The streams that the watermark waits for.
    are_named : bool
        Whether rows get a column that names their stream.
    """

    frames: Mapping[str, DataFrame]
    column: str | Column | None
    declared: tuple[str, ...]
    are_named: bool = False

    @property
    def substream(self) -> Substream:
        """What tells streams apart, for the watermark."""
        if self.column is not None:
            return self.column
        return STREAM if self.are_named else F.lit(self.declared[0])


@dataclass(frozen=True, eq=False, repr=False)
class Bolt:
    """The settings of a bolt; None for what nobody has said."""

    length: Extent | None = None
    slide: Extent | None = None
    timestamp_field: str | Mapping[str, str] | None = None
    timestamp_extractor: Timestamp | None = None
    lag: Duration | None = None
    watermark_interval: Duration | None = None
    late_tuple_stream: str | None = None
    max_events_in_memory: int | None = None
    late: LateAction | None = None
    late_to: str | None = None
    streams: Streams | None = None
    keys: tuple[str | Column, ...] = ()
    key_ttl: Duration | None = None
