"""The builder of Storm windows: its input streams and its results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from eventtide._text.columns import column_list
from eventtide._text.durations import to_iso
from eventtide.errors import refused
from eventtide.observe._late import late_stream
from eventtide.storm._binding import bound
from eventtide.storm._config import read_config
from eventtide.storm._extents import Count
from eventtide.storm._printed import calls
from eventtide.storm._settings import BoltSettings
from eventtide.storm._streams import read_streams
from eventtide.windows._execution import Execution
from eventtide.windows._extractors import check_extractor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType
    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide._worker.tuple_window import TupleWindow
    from eventtide.observe._location import QueryOrPath
    from eventtide.windows import WindowBuilder

__all__ = ["StormWindow"]


@dataclass(frozen=True, eq=False, repr=False)
class StormWindow(BoltSettings):
    """A windowed bolt with Storm's names; `agg` or `execute` completes it.

    Each method returns a new bolt and does not change this one. Each value is checked in its
    method. Combinations of settings are checked by `agg` and `execute`.

    Notes
    -----
    Windows are ``(start, end]``. With a slide in time, there is a window for each multiple of the
    slide that the watermark has passed, except for empty windows. With a slide in rows, there is a
    window each time the watermark has reached that number of rows, in the order of their arrival.
    The watermark is the lowest of the latest times of the declared streams, minus the lag, and is
    emitted on a timer. A row behind the watermark is late. Without a timestamp, rows have the time
    of the batch that reads them, and no row is late. Source: Storm's page "Windowing Support in
    Core Storm" and `BaseWindowedBolt`.

    Examples
    --------
    >>> from eventtide.storm import Count, StormWindow
    >>> bolt = (
    ...     StormWindow()
    ...     .with_window("20s", "10s")
    ...     .with_timestamp_field("ts")
    ...     .with_lag("5s")
    ...     .with_late_tuple_stream("late")
    ... )
    >>> bolt
    StormWindow().with_window('20s', '10s').with_timestamp_field('ts').with_lag('5s')...
    >>> counts = bolt.over(events).group_by("user").agg(F.count("*"))  # doctest: +SKIP
    """

    @staticmethod
    def from_config(config: Mapping[str, object]) -> StormWindow:
        """Create a bolt from a topology's configuration, with Storm's keys.

        Parameters
        ----------
        config : mapping of str to object
            ``topology.bolts.window.length.duration.ms`` and similar keys, with numbers as in Storm.
            Keys that do not belong to windows of ``topology.bolts`` are ignored. Without a sliding
            interval, windows slide with each row, as in Storm.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError
            A key of a windowed bolt is unknown, or a value is not valid.

        Examples
        --------
        >>> StormWindow.from_config(
        ...     {
        ...         "topology.bolts.window.length.duration.ms": 20_000,
        ...         "topology.bolts.window.sliding.interval.count": 3,
        ...     }
        ... )
        StormWindow().with_window('20s', Count(3))
        """
        read = read_config(config)
        bolt = StormWindow(**read)  # type: ignore[arg-type] # read by name
        return bolt if bolt.length is None else bolt._sized(bolt.length, bolt.slide or Count(1))

    def over(
        self,
        streams: DataFrame | Mapping[str, DataFrame],
        *,
        stream: str | Column | None = None,
        declared: Sequence[str] | None = None,
    ) -> Self:
        """Set the input streams of the bolt; the watermark waits until each has had a row.

        Parameters
        ----------
        streams : DataFrame, or mapping of str to DataFrame
            One stream, or several streams by name, without watermarks. The streams of a mapping are
            united by column name, with null for missing columns, and get a column ``_stream``
            STRING. A DataFrame that reads several partitions is one stream.
        stream : str or Column, optional
            The column that identifies the stream of a row if one DataFrame has several streams,
            such as Kafka's topic.
        declared : sequence of str, optional
            The values of `stream` that the watermark waits for.

        Raises
        ------
        ArgumentTypeError, ColumnTypeError, UnknownColumnError, InvalidArgumentError
            A stream is not a DataFrame, or two streams have a column of one name with two types.
        SetupError
            Some streams belong to a classic session, and others to Spark Connect.
        """
        return replace(self, streams=read_streams(streams, stream, declared))

    def group_by(self, *columns: str | Column, key_ttl: Duration | None = None) -> Self:
        """Set the key columns; without keys the windows hold all rows.

        Parameters
        ----------
        *columns : str or Column
            One or more, as names, SQL text or Columns. Null is a key value like any other.
        key_ttl : str or timedelta, optional
            The processing time without rows after which a key is purged, once all of its rows have
            been in a window. By default one day.
        """
        allowed, fix = "columns, one after the other", ".group_by('user', 'site')"
        for column in column_list("group_by", columns, allowed, fix):
            check_extractor("group_by", column)
        if key_ttl is not None:
            to_iso("key_ttl", key_ttl)
        return replace(self, keys=columns, key_ttl=key_ttl)

    def agg(self, *aggregates: Column) -> WindowBuilder:
        """Compute aggregates over each window.

        Parameters
        ----------
        *aggregates : Column
            One or more, as for ``groupBy(...).agg(...)``.

        Returns
        -------
        WindowBuilder
            Its `results` are the output stream: ``window`` with ``start`` and ``end``, the keys,
            the aggregates. A count window has no start.

        Raises
        ------
        InvalidArgumentError, ColumnTypeError, UnknownColumnError
            A setting is missing, or two settings contradict each other.
        """
        return bound(self).agg(*aggregates)

    @overload
    def execute(
        self,
        function: Callable[[TupleWindow[pd.DataFrame]], object],
        schema: str | StructType,
        *,
        rows: Literal["pandas"] = "pandas",
    ) -> WindowBuilder: ...

    @overload
    def execute(
        self,
        function: Callable[[TupleWindow[pa.Table]], object],
        schema: str | StructType,
        *,
        rows: Literal["arrow"],
    ) -> WindowBuilder: ...

    def execute(
        self,
        function: Callable[[TupleWindow[Any]], object],
        schema: str | StructType,
        *,
        rows: Literal["pandas", "arrow"] = "pandas",
    ) -> WindowBuilder:
        """Call a function with each window.

        Spark's Python workers call it. If Spark replays a batch, they call it again for the batch's
        windows. The rows of a key are sent to a worker once per batch, even if they are in several
        windows.

        Parameters
        ----------
        function : callable
            ``fn(window) -> rows``, with a `TupleWindow`. It returns a pandas DataFrame, an Arrow
            table or record batch, a dict, a list of dicts, or None for no rows. It may also be a
            generator of these values.
        schema : str or StructType
            The columns of the returned rows, such as ``"user string, n long"``.
        rows : {"pandas", "arrow"}
            The format of the window's rows: a ``pandas.DataFrame`` or a ``pyarrow.Table``.

        Returns
        -------
        WindowBuilder
            Its `results` are the rows that the function returns.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError, ColumnTypeError, UnknownColumnError
            A setting is missing, or two settings contradict each other.
        SetupError
            pandas or pyarrow is not installed: ``pip install 'eventtide[storm]'``.
        """
        execution = Execution.of(function, schema, rows, self.max_events_in_memory)
        return bound(self, execution)

    def stream(self, stream_id: str, query: QueryOrPath, *, window: int | None = None) -> DataFrame:
        """Return the late rows of the running bolt as an output stream.

        Parameters
        ----------
        stream_id : str
            The name declared by `with_late_tuple_stream`.
        query : StreamingQuery, str or Path
            The query that runs the bolt, or its checkpoint location.
        window : int, optional
            The index of the query's window, from 0. Not needed if the query has one window.

        Returns
        -------
        DataFrame
            A streaming DataFrame with the columns of `read_late`; each late row once.

        Raises
        ------
        InvalidArgumentError
            The stream is not declared.
        """
        if stream_id != self.late_tuple_stream:
            known = repr(self.late_tuple_stream) if self.late_tuple_stream else "none so far"
            fix = f".with_late_tuple_stream({stream_id!r})"
            allowed = f"a declared stream, which is {known}"
            raise refused("stream_id", stream_id, "is not declared", allowed=allowed, fix=fix)
        return late_stream(query, window=window)

    def __repr__(self) -> str:
        """Return the method calls that create this bolt."""
        return ".".join(["StormWindow()", *calls(self)])
