"""The builder of Storm's windows: what it reads, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

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
    from pathlib import Path

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType
    from typing_extensions import Self

    from eventtide._text.durations import Duration
    from eventtide._worker.tuple_window import TupleWindow
    from eventtide.windows import WindowBuilder

__all__ = ["StormWindow"]


@dataclass(frozen=True, eq=False, repr=False)
class StormWindow(BoltSettings):
    """A windowed bolt in Storm's words; `agg` or `execute` ends it.

    .. versionadded:: 0.1

    Each method returns a new bolt and leaves this one as it is. A value is checked where it is
    written, and whether all go together by `agg` and `execute`.

    Notes
    -----
    Windows are ``(start, end]``. With a slide in time there is one for each multiple of it that the
    watermark has passed, empty ones left out; with a slide in rows, one whenever so many rows have
    been counted that the watermark has reached, in the order in which they came. A row is late
    behind the watermark, which is the lowest of the latest times of the declared streams, minus the
    lag, told on a timer. Without a timestamp rows have the time of the batch that reads them, and
    none is late. Source: Storm's page "Windowing Support in Core Storm" and `BaseWindowedBolt`.

    Examples
    --------
    >>> from eventtide import Count, StormWindow
    >>> bolt = (
    ...     StormWindow()
    ...     .with_window("20s", "10s")
    ...     .with_timestamp_field("ts")
    ...     .with_lag("5s")
    ...     .with_late_tuple_stream("late")
    ... )
    >>> bolt
    StormWindow().with_window('20s', '10s').with_timestamp_field('ts').with_lag('5s')...
    >>> counts = bolt.on(events).group_by("user").agg(F.count("*"))  # doctest: +SKIP
    """

    @staticmethod
    def from_config(config: Mapping[str, object]) -> StormWindow:
        """Begin with a topology's configuration, by Storm's own keys.

        .. versionadded:: 0.1

        Parameters
        ----------
        config : mapping of str to object
            ``topology.bolts.window.length.duration.ms`` and its like, with numbers as Storm has
            them; keys that are not of ``topology.bolts`` are passed over. Without a sliding
            interval windows slide with each row, as Storm's do.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError
            A key of a bolt is unknown, or a value is none for it.

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

    def on(
        self,
        streams: DataFrame | Mapping[str, DataFrame],
        *,
        stream: str | Column | None = None,
        declared: Sequence[str] | None = None,
    ) -> Self:
        """Say which streams the bolt reads. The watermark waits until each was seen.

        .. versionadded:: 0.1

        Parameters
        ----------
        streams : DataFrame, or mapping of str to DataFrame
            One stream, or several by their names, without watermarks. Those of a mapping are put
            together by the names of their columns, null where one has none, with a column
            ``_stream`` STRING. One that reads several partitions is one stream all the same.
        stream : str or Column, optional
            What tells the stream of a row where one DataFrame has several, such as Kafka's topic.
        declared : sequence of str, optional
            The values of `stream` that the watermark waits for.

        Raises
        ------
        ArgumentTypeError, ColumnTypeError, UnknownColumnError, InvalidArgumentError
            A stream is no DataFrame, or two have a column of one name with two types.
        """
        return replace(self, streams=read_streams(streams, stream, declared))

    def group_by(self, *columns: str | Column, key_ttl: Duration | None = None) -> Self:
        """Keep windows for each value of these columns; without this, one for all rows.

        .. versionadded:: 0.1

        Parameters
        ----------
        *columns : str or Column
            One or more, as names, SQL text or Columns. A null is a value too.
        key_ttl : str or timedelta, optional
            A key is forgotten so long after its last row by the clock, once all of its rows have
            been in a window; by default after a day.
        """
        allowed, fix = "columns, one after the other", ".group_by('user', 'site')"
        for column in column_list("group_by", columns, allowed, fix):
            check_extractor("group_by", column)
        if key_ttl is not None:
            to_iso("key_ttl", key_ttl)
        return replace(self, keys=columns, key_ttl=key_ttl)

    def agg(self, *aggregates: Column) -> WindowBuilder:
        """Compute aggregates over each window.

        .. versionadded:: 0.1

        Parameters
        ----------
        *aggregates : Column
            One or more, as for ``groupBy(...).agg(...)``.

        Returns
        -------
        WindowBuilder
            Its `results` are the stream that comes out: ``window`` with ``start`` and ``end``, the
            keys, the aggregates. A window of so many rows has no start.

        Raises
        ------
        InvalidArgumentError, ColumnTypeError, UnknownColumnError
            Something is missing, or two settings contradict each other.
        """
        return bound(self).agg(*aggregates)

    def execute(
        self,
        function: Callable[[TupleWindow], object],
        schema: str | StructType,
        *,
        rows: Literal["pandas", "arrow"] = "pandas",
    ) -> WindowBuilder:
        """Call a function with each window.

        .. versionadded:: 0.1

        It is run by Spark's Python workers, and for a window once more where Spark runs its batch
        again. The rows of a key come to a worker once in a batch, however many windows have them.

        Parameters
        ----------
        function : callable
            ``fn(window) -> rows``, with a `TupleWindow`. It returns a pandas DataFrame, an Arrow
            table or record batch, a dict, a list of dicts, or None for no rows; or is a generator
            of these.
        schema : str or StructType
            The columns of the rows that it returns, such as ``"user string, n long"``.
        rows : {"pandas", "arrow"}
            As what the window gives its rows: a ``pandas.DataFrame`` or a ``pyarrow.Table``.

        Returns
        -------
        WindowBuilder
            Its `results` are the rows that the function returns.

        Raises
        ------
        InvalidArgumentError, ArgumentTypeError, ColumnTypeError, UnknownColumnError
            Something is missing, or two settings contradict each other.
        SetupError
            pandas or pyarrow are not installed: ``pip install 'eventtide[storm]'``.
        """
        execution = Execution.of(function, schema, rows, self.max_events_in_memory)
        return bound(self, execution)

    def stream(
        self, stream_id: str, of: str | Path | StreamingQuery, *, window: int | None = None
    ) -> DataFrame:
        """Return an output stream of the running bolt, besides its results: the late rows.

        .. versionadded:: 0.1

        Parameters
        ----------
        stream_id : str
            What `with_late_tuple_stream` has declared.
        of : str, Path or StreamingQuery
            The query that runs the bolt, or its checkpoint location.
        window : int, optional
            Which of the query's windows, counted from 0. Not needed where there is one.

        Returns
        -------
        DataFrame
            Streaming, with the columns of `read_late`; each late row once.

        Raises
        ------
        InvalidArgumentError
            No such stream is declared.
        """
        if stream_id != self.late_tuple_stream:
            known = repr(self.late_tuple_stream) if self.late_tuple_stream else "none so far"
            fix = f".with_late_tuple_stream({stream_id!r})"
            allowed = f"a declared stream, which is {known}"
            raise refused("stream_id", stream_id, "is not declared", allowed=allowed, fix=fix)
        return late_stream(of, window=window)

    def __repr__(self) -> str:
        """Return the calls that make it."""
        return ".".join(["StormWindow()", *calls(self)])
