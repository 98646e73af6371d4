"""The input streams of a bolt, as one DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide import _bridge
from eventtide._text.arguments import of_type
from eventtide._text.columns import check_column, column_list, listed
from eventtide.errors import ColumnTypeError, refused, unready
from eventtide.storm._model import STREAM, Streams
from eventtide.windows._extractors import EXTRACTED_TIME, check_extractor, extracted_time, kind_over

if TYPE_CHECKING:
    from eventtide.storm._model import Bolt, Timestamp

__all__ = ["Timed", "check_free", "check_timestamp", "read_streams", "timed"]


def read_streams(
    of: DataFrame | Mapping[str, DataFrame],
    stream: str | Column | None,
    declared: Sequence[str] | None,
) -> Streams:
    """Return the checked arguments of `StormWindow.on`."""
    if isinstance(of, DataFrame):
        return _one_frame(of, stream, declared)
    fix = ".over({'orders': orders, 'clicks': clicks})"
    allowed = "a DataFrame, or a mapping of one or more names to DataFrames"
    of_type("over", of, Mapping, allowed, fix)
    if not of:
        raise refused("over", of, "is empty", allowed=allowed, fix=fix)
    for name, frame in of.items():
        of_type("over", name, str, "names of streams", fix)
        of_type(f"over[{name!r}]", frame, DataFrame, "a Spark DataFrame", fix)
        check_free(f"over[{name!r}]", frame, (STREAM, EXTRACTED_TIME), fix)
    for option, value in {"stream": stream, "declared": declared}.items():
        if value is not None:
            problem = "cannot be combined with a mapping, whose names declare the streams"
            allowed = f"{option} with one DataFrame"
            raise refused(option, value, problem, allowed=allowed, fix=f"remove {option}")
    _check_alike(of, fix)
    return Streams(dict(of), None, tuple(of), are_named=True)


def _one_frame(
    frame: DataFrame, stream: str | Column | None, declared: Sequence[str] | None
) -> Streams:
    fix = ".over(events, stream='topic', declared=['orders', 'clicks'])"
    check_free("over", frame, (EXTRACTED_TIME,), fix)
    if (stream is None) != (declared is None):
        problem = "is missing: it requires the other"
        name = "stream" if stream is None else "declared"
        allowed = "stream and declared, both or none"
        raise refused(name, None, problem, allowed=allowed, fix=fix)
    if stream is None or declared is None:
        return Streams({"default": frame}, None, ("default",))
    of_type("stream", stream, (str, Column), "a column name or a Column", fix)
    check_column("stream", stream, _bridge.columns(frame))
    allowed = "a list of names of streams, each once"
    of_type("declared", declared, Sequence, allowed, fix)
    if isinstance(declared, str) or any(isinstance(name, Column) for name in declared):
        raise refused("declared", declared, "is not a list of names", allowed=allowed, fix=fix)
    names = column_list("declared", declared, allowed, fix)
    return Streams({"default": frame}, stream, tuple(map(str, names)))


def check_free(name: str, frame: DataFrame, added: tuple[str, ...], fix: str) -> None:
    """Reject a stream with a column that the bolt adds."""
    for column in added:
        if column.lower() in {known.lower() for known in _bridge.columns(frame) or ()}:
            problem = f"has a column {column}, which the bolt adds"
            allowed = f"columns with other names than {column}"
            raise refused(name, frame, problem, allowed=allowed, fix=fix)


def _check_alike(frames: Mapping[str, DataFrame], fix: str) -> None:
    """Reject columns of one name and two types, which Spark would convert to a third type."""
    known: dict[str, tuple[str, str]] = {}
    bridge = _bridge.of(*frames.values())
    for stream, frame in frames.items():
        schema = bridge.schema(frame)
        if schema is None:
            raise unready(
                "A flow of a pipeline cannot read several streams in one bolt, because their types"
                " are unknown.",
                "Unite the streams first, and use .over(rows, stream='topic', declared=[...]).",
            )
        for field in schema:
            kind = field.dataType.simpleString()
            first, other = known.setdefault(field.name.lower(), (stream, kind))
            if other != kind:
                problem = f"has {field.name} as {kind}, and {first!r} has it as {other}"
                allowed = "one type for a column of all streams"
                raise refused(
                    f"over[{stream!r}]",
                    field.name,
                    problem,
                    allowed=allowed,
                    fix=fix,
                    error=ColumnTypeError,
                )


def check_timestamp(name: str, timestamp: Timestamp) -> None:
    """Reject timestamps that are neither a column, an expression nor a mapping to these."""
    allowed = "a column name, SQL text or a Column; or a mapping from streams to these"
    fix = f".with_{name}('ts')"
    of_type(name, timestamp, (str, Column, Mapping), allowed, fix)
    each = timestamp if isinstance(timestamp, Mapping) else {None: timestamp}
    for stream, one in each.items():
        check_extractor(name if stream is None else f"{name}[{stream!r}]", one)


@dataclass(frozen=True, eq=False)
class Timed:
    """The rows of all streams, and the column of their event time; None without one."""

    df: DataFrame
    column: str | None


def timed(bolt: Bolt) -> Timed:
    """Return the union of a bolt's streams by column name, with their event time."""
    name: str = "timestamp_field"
    timestamp: Timestamp | None = bolt.timestamp_field
    if timestamp is None:
        name, timestamp = "timestamp_extractor", bolt.timestamp_extractor
    streams = bolt.streams
    assert streams is not None  # noqa: S101 - `bound` has checked it
    if timestamp is None:
        return Timed(_union(streams, streams.frames), None)
    each = timestamp if isinstance(timestamp, Mapping) else dict.fromkeys(streams.frames, timestamp)
    if isinstance(timestamp, Mapping):
        _check_streams(name, timestamp, streams)
        names = {stream: f"{name}[{stream!r}]" for stream in streams.frames}
    else:
        names = dict.fromkeys(streams.frames, name)
    times = {
        stream: extracted_time(names[stream], each[stream], frame, millis=True)
        for stream, frame in streams.frames.items()
    }
    _check_kinds(names, times, streams)
    columns = set(times.values()) if all(isinstance(t, str) for t in times.values()) else set()
    if len(columns) == 1:
        return Timed(_union(streams, streams.frames), str(columns.pop()))
    frames = {
        stream: frame.withColumn(EXTRACTED_TIME, _column(times[stream]))
        for stream, frame in streams.frames.items()
    }
    return Timed(_union(streams, frames), EXTRACTED_TIME)


def _column(of: str | Column) -> Column:
    return F.col(of) if isinstance(of, str) else of


def _check_streams(name: str, timestamp: Mapping[str, str | Column], streams: Streams) -> None:
    """Reject times of undeclared streams, and streams without a time."""
    if not streams.are_named:
        problem = "is a mapping by stream names, but the bolt reads one DataFrame"
        allowed = f"a mapping with .over({{...}}), or one {name} for all rows"
        raise refused(name, timestamp, problem, allowed=allowed, fix=f".with_{name}('ts')")
    known = listed(list(streams.frames))
    for stream in timestamp:
        if stream not in streams.frames:
            problem, allowed = "names a stream that is not declared", f"streams among {known}"
            fix = f".over({{..., {stream!r}: {stream}}})"
            raise refused(
                f"{name}[{stream!r}]", timestamp[stream], problem, allowed=allowed, fix=fix
            )
    for stream in streams.frames:
        if stream not in timestamp:
            problem, allowed = f"is missing, and the bolt reads {known}", "one for each stream"
            fix = f".with_{name}({{..., {stream!r}: 'ts'}})"
            raise refused(f"{name}[{stream!r}]", None, problem, allowed=allowed, fix=fix)


def _check_kinds(
    names: Mapping[str, str], times: Mapping[str, str | Column], streams: Streams
) -> None:
    """Reject a mix of times with and without a time zone, which cannot be compared."""
    kinds = {
        stream: kind_over(names[stream], time, time, streams.frames[stream])
        for stream, time in times.items()
    }
    first, known = next(iter(kinds.items()))
    for stream, kind in kinds.items():
        if kind and known and kind != known:
            problem = (
                f"has type {kind.simpleString()}, and that of {first!r} {known.simpleString()}"
            )
            allowed, fix = "one type for the times of all streams", "CAST(ts AS TIMESTAMP)"
            raise refused(
                names[stream],
                times[stream],
                problem,
                allowed=allowed,
                fix=fix,
                error=ColumnTypeError,
            )


def _union(streams: Streams, frames: Mapping[str, DataFrame]) -> DataFrame:
    if not streams.are_named:
        return next(iter(frames.values()))
    named = [frame.withColumn(STREAM, F.lit(stream)) for stream, frame in frames.items()]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), named)
