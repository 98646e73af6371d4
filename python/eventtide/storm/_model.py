"""The settings of a bolt, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide.windows._habits import Hinting

if TYPE_CHECKING:
    from eventtide._text.columns import Substream
    from eventtide._text.durations import Duration
    from eventtide.storm._extents import Extent
    from eventtide.windows._profiles import LateAction

__all__ = ["STREAM", "Bolt", "Streams", "Timestamp"]

STREAM = "_stream"
"""The column with the stream of a row, if the bolt reads several streams."""

Timestamp: TypeAlias = str | Column | Mapping[str, str | Column]
"""The event time: a column name, SQL text or a Column, or a mapping of stream names to these."""


@dataclass(frozen=True, eq=False)
class Streams:
    """The input streams of a bolt.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        The DataFrames by stream name; a stream without a name is ``"default"``, as in Storm.
    column : str or Column, optional
        The column that identifies the stream of a row if one DataFrame has several streams.
    declared : sequence of str
        The streams that the watermark waits for.
    are_named : bool
        Whether rows get a column with the name of their stream.
    """

    frames: Mapping[str, DataFrame]
    column: str | Column | None
    declared: tuple[str, ...]
    are_named: bool = False

    @property
    def substream(self) -> Substream:
        """The column that identifies streams, for the watermark."""
        if self.column is not None:
            return self.column
        return STREAM if self.are_named else F.lit(self.declared[0])


@dataclass(frozen=True, eq=False, repr=False)
class Bolt(Hinting):
    """The settings of a bolt; None if a setting is not set."""

    _results: ClassVar[str] = ".agg(...).results"

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
