"""What Storm's builder refuses: the argument, its value, what is allowed, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from eventtide.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    UnknownColumnError,
)
from eventtide.storm import Count, StormWindow
from pyspark.sql.types import StructType

from tests.unit.fakes import FakeFrame, column
from tests.unit.refusals import assert_refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import EventtideError

    Case = tuple[Callable[[], object], type[EventtideError], str, str, str]

pytestmark = pytest.mark.usefixtures("columns")

FRAME = FakeFrame("ts", "user", "amount")
TEXT: Any = "x"
ROWS = StructType().add("n", "long")


def bolt() -> StormWindow:
    """Return a bolt that nothing is wrong with."""
    return StormWindow().with_window("20s", "10s").with_timestamp_field("ts").over(FRAME)


def plain() -> StormWindow:
    """Return one without a timestamp."""
    return StormWindow().with_window(Count(3), Count(2)).over(FRAME)


def by_stream(fields: dict[str, str]) -> StormWindow:
    """Return a bolt whose streams have times of their own."""
    return StormWindow().with_window("20s", "10s").with_timestamp_field(fields)


def counted(of: StormWindow) -> object:
    """End a bolt."""
    return of.agg(column("count(1)"))


def top(window: object) -> None:
    """Do nothing with a window."""


T, D, A = ArgumentTypeError, InvalidDurationError, InvalidArgumentError

# How, the error, how its message begins, what it says is allowed, what it tries.
CASES: list[Case] = [
    # length and slide
    (lambda: Count(0), A, "count=0 is out of range", "1 to 1000000", "count=3"),
    (lambda: Count(-1), A, "count=-1 is out of range", "1 to 1000000", "count=3"),
    (lambda: Count("3"), T, "count='3' has type str", "1 to 1000000", "count=3"),  # type: ignore[arg-type]
    (lambda: Count(1_000_001), A, "count=1000001 is out of", "1 to 1000000", "count=3"),
    (lambda: bolt().with_window("0s", "1s"), D, "length='0s' is zero", "more than zero", "length="),
    (lambda: bolt().with_window("-5s", "1s"), D, "length='-5s'", "more than zero", "length="),
    (lambda: bolt().with_window("5s", "0s"), D, "slide='0s' is zero", "more than zero", "slide="),
    (lambda: bolt().with_window("5s", "1us"), D, "slide='1us' is", "1ms", "slide='1ms'"),
    (
        lambda: bolt().with_window(20, "1s"),  # type: ignore[arg-type]
        T,
        "length=20 is a bare number",
        "rows as Count(20), or a duration such as '20s'",
        "length=Count(20)",
    ),
    (
        lambda: bolt().with_window("20s", 3),  # type: ignore[arg-type]
        T,
        "slide=3 is a bare number",
        "Count(3)",
        "slide=Count(3)",
    ),
    (lambda: bolt().with_window(None, "1s"), D, "length=None has type", "text with", "length="),  # type: ignore[arg-type]
    (lambda: bolt().with_tumbling_window("0s"), D, "length='0s' is zero", "more than", "length="),
    (
        lambda: counted(StormWindow().over(FRAME)),
        A,
        "length is missing",
        "a Count or a duration",
        ".with_window('20s', '10s')",
    ),
    # times
    (lambda: bolt().with_lag("-1s"), D, "lag='-1s'", "zero or more", "lag="),
    (lambda: bolt().with_lag(5), D, "lag=5 is a number without a unit", "text with", "'5s'"),  # type: ignore[arg-type]
    (
        lambda: bolt().with_watermark_interval("0s"),
        D,
        "watermark_interval='0s' is zero",
        "more than zero",
        "watermark_interval='1s'",
    ),
    (
        lambda: bolt().with_watermark_interval("1us"),
        D,
        "watermark_interval='1us' is",
        "1ms",
        "watermark_interval='1ms'",
    ),
    (
        lambda: counted(plain().with_lag("5s")),
        A,
        "lag='5s' is about event time, and no timestamp is set",
        "lag with a timestamp field or extractor",
        ".with_timestamp_field('ts')",
    ),
    (
        lambda: counted(plain().with_watermark_interval("5s")),
        A,
        "watermark_interval='5s' is about event time",
        "with a timestamp field",
        ".with_timestamp_field('ts')",
    ),
    (
        lambda: plain().with_late_tuple_stream("late").execute(top, ROWS),
        A,
        "late_tuple_stream='late' is about event time",
        "late_tuple_stream with a timestamp field or extractor",
        ".with_timestamp_field('ts')",
    ),
    (
        lambda: counted(plain().with_late("count")),
        A,
        "late='count' is about event time",
        "late with a timestamp",
        ".with_timestamp_field('ts')",
    ),
    (
        lambda: bolt().with_timestamp_field("at"),
        A,
        "timestamp_field='at' cannot be added: 'ts' is already set",
        "one for a bolt",
        "with_timestamp_field('at') alone",
    ),
    (
        lambda: bolt().with_timestamp_extractor("at"),
        A,
        "timestamp_extractor='at' cannot be added",
        "one for a bolt",
        "alone",
    ),
    (
        lambda: StormWindow().with_timestamp_field(7),  # type: ignore[arg-type]
        T,
        "timestamp_field=7 has type int",
        "a column name",
        ".with_timestamp_field('ts')",
    ),
    (
        lambda: StormWindow().with_timestamp_extractor({"orders": 7}),  # type: ignore[dict-item]
        T,
        "timestamp_extractor['orders']=7 has type int",
        "a column name, SQL text or a Column",
        "'user_id'",
    ),
    (
        lambda: StormWindow().with_timestamp_extractor("org.acme.Event::getTime"),
        A,
        "timestamp_extractor='org.acme.Event::getTime' is a Java method",
        "a column name",
        "timestamp_extractor='getTime'",
    ),
    (
        lambda: counted(
            StormWindow().with_window("20s", "10s").with_timestamp_field("at").over(FRAME)
        ),
        UnknownColumnError,
        "timestamp_field='at' is not a column",
        "one of ts, user, amount",
        "timestamp_field='ts'",
    ),
    (
        lambda: counted(by_stream({"orders": "ts", "clicks": "at"}).over({"orders": FRAME})),
        A,
        "timestamp_field['clicks']='at' names a stream that is not declared",
        "streams among orders",
        ".over({..., 'clicks': clicks})",
    ),
    (
        lambda: counted(by_stream({"orders": "ts"}).over({"orders": FRAME, "clicks": FRAME})),
        A,
        "timestamp_field['clicks'] is missing",
        "one for each stream",
        ".with_timestamp_field({..., 'clicks': 'ts'})",
    ),
    (
        lambda: counted(by_stream({"a": "ts"}).over(FRAME, stream="user", declared=["a"])),
        A,
        "timestamp_field={'a': 'ts'} is a mapping by stream names, but the bolt reads one",
        "a mapping with .over({...})",
        ".with_timestamp_field('ts')",
    ),
    (
        lambda: counted(bolt().with_late_tuple_stream("late").with_late("count")),
        A,
        "late_tuple_stream='late' is a stream of late rows, but late='count' writes none",
        "late_tuple_stream with late='log'",
        ".with_late('log')",
    ),
    # what the window of a bolt has not
    (
        lambda: bolt().execute(top, ROWS).emit("on_update", late_updates=True).explained(),
        A,
        "emit=(WindowTrigger.on_update,) has no meaning for with_window('20s', '10s')",
        "emit with another kind of window",
        "remove emit",
    ),
    (
        lambda: bolt().execute(top, ROWS).offset("1s").explained(),
        A,
        "offset='1s' has no meaning for with_window('20s', '10s')",
        "offset with windows of a size",
        "remove offset",
    ),
    (
        lambda: bolt().execute(top, ROWS).agg(column("count(1)")).explained(),
        A,
        "agg=(Column<'count(1)'>,) cannot be combined with execute(top, 'struct<n:bigint>')",
        "agg(...) or execute(...), one of the two",
        "remove agg",
    ),
    # streams
    (
        lambda: bolt().over(FRAME, stream="user", declared=5),  # type: ignore[arg-type]
        T,
        "declared=5 has",
        "a list",
        ".over(",
    ),
    (
        lambda: bolt().over(FakeFrame("ts", "_extracted_event_time")),
        A,
        "over=",
        "columns with other names than _extracted_event_time",
        ".over(",
    ),
    (
        lambda: counted(StormWindow().with_window("20s", "10s")),
        A,
        "over is missing",
        "a DataFrame, or several by name",
        ".over(events)",
    ),
    (lambda: bolt().over("events"), T, "over='events' has type str", "a DataFrame", ".over({"),  # type: ignore[arg-type]
    (lambda: bolt().over({}), A, "over={} is empty", "one or more names", ".over({"),
    (lambda: bolt().over({"a": 7}), T, "over['a']=7 has type int", "a Spark DataFrame", ".over({"),  # type: ignore[dict-item]
    (lambda: bolt().over({"": FRAME}), A, "over='' is empty", "names of streams", ".over({"),
    (
        lambda: bolt().over({"a": FakeFrame("ts", "_stream")}),
        A,
        "over['a']=",
        "columns with other names than _stream",
        ".over({",
    ),
    (
        lambda: bolt().over({"a": FRAME}, stream="user"),
        A,
        "stream='user' cannot be combined with a mapping",
        "stream with one DataFrame",
        "remove stream",
    ),
    (
        lambda: bolt().over(FRAME, stream="user"),
        A,
        "declared is missing",
        "both or none",
        ".over(events, stream='topic', declared=['orders', 'clicks'])",
    ),
    (lambda: bolt().over(FRAME, declared=["a"]), A, "stream is missing", "both or", ".over("),
    (
        lambda: bolt().over(FRAME, stream="topic", declared=["a"]),
        UnknownColumnError,
        "stream='topic' is not a column",
        "one of ts, user, amount",
        "stream='ts'",
    ),
    (
        lambda: bolt().over(FRAME, stream="user", declared=["a", "a"]),
        A,
        "declared=['a', 'a'] has a name twice",
        "names of streams, each once",
        ".over(",
    ),
    (
        lambda: bolt().over(FRAME, stream="user", declared=[]),
        A,
        "declared=[] is empty",
        "names",
        ".over(",
    ),
    (
        lambda: bolt().over(FRAME, stream="user", declared="orders"),
        A,
        "declared='orders' is not a list of names",
        "a list of names",
        ".over(",
    ),
    (
        lambda: bolt().stream("late", "/data/checkpoint"),
        A,
        "stream_id='late' is not declared",
        "a declared stream, which is none so far",
        ".with_late_tuple_stream('late')",
    ),
    (
        lambda: bolt().with_late_tuple_stream("late").stream("lat", "/data/checkpoint"),
        A,
        "stream_id='lat' is not declared",
        "which is 'late'",
        ".with_late_tuple_stream('lat')",
    ),
    (lambda: bolt().with_late_tuple_stream(""), A, "late_tuple_stream='' is", "a name", "('late')"),
    # keys
    (lambda: bolt().group_by(), A, "group_by=() is empty", "columns", ".group_by('user', 'site')"),
    (lambda: bolt().group_by(7), T, "group_by=7 has type int", "columns", "group_by"),  # type: ignore[arg-type]
    (lambda: bolt().group_by("user", "user"), A, "group_by=('user', 'user') has a", "col", "group"),
    (
        lambda: bolt().group_by("user", key_ttl="-1s"),
        D,
        "key_ttl='-1s'",
        "zero or more",
        "key_ttl=",
    ),
    (
        lambda: counted(bolt().group_by("users")),
        UnknownColumnError,
        "group_by='users' is not a column",
        "one of ts, user, amount",
        "group_by='user'",
    ),
    # what comes out
    (
        lambda: bolt().execute("top", ROWS),  # type: ignore[call-overload]
        T,
        "function='top' has type str, which cannot be called",
        "a function of a window",
        ".execute(top_users, 'user string, n long')",
    ),
    (lambda: bolt().execute(top, 7), T, "schema=7 has type int", "columns", "schema='user"),  # type: ignore[call-overload]
    (lambda: bolt().execute(top, ""), A, "schema='' is empty", "columns", "schema='user"),
    (
        lambda: bolt().execute(top, ROWS, rows="polars"),  # type: ignore[call-overload]
        A,
        "rows='polars' is unknown",
        "'pandas', 'arrow'",
        "rows='pandas'",
    ),
    (
        lambda: bolt().with_max_events_in_memory(0),
        A,
        "max_events_in_memory=0 is out of range",
        "1 to 2147483647",
        "max_events_in_memory=100_000",
    ),
    (lambda: bolt().with_late("drop"), A, "late='drop' is unknown", "'log', 'count'", "late='log'"),  # type: ignore[arg-type]
    (lambda: bolt().with_late_to(7), T, "late_to=7 has type int", "the path", ".with_late_to("),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("call", "error", "problem", "allowed", "fix"), CASES, ids=[case[2] for case in CASES]
)
def test_a_wrong_call_is_refused(
    call: Callable[[], object], error: type[EventtideError], problem: str, allowed: str, fix: str
) -> None:
    """What is wrong, the value, what is allowed, and what to try."""
    assert_refused(call, error, problem, allowed, fix)


def test_the_bolts_of_the_table_pass_without_their_mistakes() -> None:
    """Else every call would be refused."""
    counted(bolt().group_by("user"))
    counted(plain())
    bolt().with_late_tuple_stream("late").execute(top, ROWS)
