"""What VoltSP's builder refuses: the argument, its value, what is allowed, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from eventtide import EventtideError
from eventtide import WindowTrigger as Trigger
from eventtide.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    UnknownColumnError,
)
from eventtide.voltsp import TimeConfig, Windows

from tests.unit.refusals import assert_refused
from tests.unit.voltsp_samples import FRAME, counted, hourly, session

if TYPE_CHECKING:
    from collections.abc import Callable

    Case = tuple[Callable[[], object], type[EventtideError], str, str, str]

pytestmark = pytest.mark.usefixtures("columns")


def handle(df: object, context: object) -> None:
    """Take late rows."""


T, D, A = ArgumentTypeError, InvalidDurationError, InvalidArgumentError

# How, the error, how its message begins, what it says is allowed, what it tries.
BUILDER: list[Case] = [
    # spans and slides
    (
        lambda: hourly().with_window_span("0s"),
        D,
        "window_span='0s' is zero",
        "more than zero",
        "1s",
    ),
    (lambda: hourly().with_window_span(60), D, "window_span=60 is a number", "text", "='60s'"),
    (lambda: hourly().with_window_span("-1h"), D, "window_span='-1h' is neg", "more", "'1h'"),
    (lambda: hourly().with_window_span("soon"), D, "window_span='soon' cannot", "text", "'5s'"),
    (lambda: hourly().with_window_span("1us"), D, "window_span='1us' is sh", "1ms", "'1ms'"),
    (lambda: hourly().with_window_span(None), D, "window_span=None has type", "text", "'5s'"),  # type: ignore[arg-type]
    (
        lambda: hourly().with_slide("1s"),
        A,
        "slide='1s' does not apply to a tumbling_time_window",
        "slide of sliding_time_window, sliding_count_window",
        "Windows.sliding_time_window()",
    ),
    (
        lambda: session().with_window_span("5m"),
        A,
        "window_span='5m' does not apply to a session_window, whose gap is its idle timeout",
        "window_span of tumbling_time_window",
        ".with_time_config_builder(lambda b: b.with_idle_timeout('5m'))",
    ),
    (
        lambda: session().with_slide("5m"),
        A,
        "slide='5m' does not apply to a session",
        "slide of",
        "idle",
    ),
    (
        lambda: Windows.tumbling_time_window().over(FRAME),
        A,
        "window_span is missing: a tumbling_time_window needs it",
        "a duration of 1ms",
        ".with_window_span('1m')",
    ),
    (
        lambda: Windows.sliding_time_window().with_window_span("1m").over(FRAME),
        A,
        "slide is missing: a sliding_time_window needs it",
        "a duration of 1ms",
        ".with_slide('1m')",
    ),
    (
        lambda: Windows.sliding_time_window().with_window_span("10s").with_slide("3s").over(FRAME),
        D,
        "window_span='10s' is not a multiple of slide='3s'",
        "a multiple of slide",
        "slide='2s' or slide='5s'",
    ),
    (
        lambda: Windows.sliding_time_window().with_window_span("1s").with_slide("1m").over(FRAME),
        D,
        "window_span='1s' is not a multiple of slide='1m'",
        "a multiple of slide",
        "window_span='1m'",
    ),
    (
        lambda: Windows.sliding_time_window().with_window_span("1h").with_slide("1ms").over(FRAME),
        D,
        "slide='1ms' makes 3600000 frames of window_span='1h'",
        "up to 1000000 frames",
        "slide='3ms 600us'",
    ),
    (
        lambda: hourly().with_window_span("1 month").over(FRAME),
        D,
        "window_span='1 month' is a calendar size, and there is no time zone here",
        "a duration",
        "et.window(df).tumbling('1 month').time_zone('Europe/Berlin')",
    ),
    (
        lambda: (
            hourly()
            .with_key_extractor("device")
            .with_time_config(TimeConfig("ts", scope="ts"))
            .over(FRAME)
        ),
        A,
        "scope='ts' is not a key",
        "some of 'device'",
        "scope='key'",
    ),
    (
        lambda: counted().with_time_config(TimeConfig("ts", scope="global")).over(FRAME),
        A,
        "scope='global' applies to time, and a sliding_count_window ends with a row",
        "scope of a time window",
        "remove scope",
    ),
    (
        lambda: counted().with_time_config(TimeConfig("ts", max_rows_per_batch=1)).over(FRAME),
        A,
        "max_rows_per_batch=1 applies to time, and a sliding_count_window ends with a row",
        "max_rows_per_batch of a time window",
        "remove max_rows_per_batch",
    ),
    (lambda: counted().with_window_span("100"), T, "window_span='100' has", "1 to 1000000", "=100"),
    (lambda: counted().with_window_span("1m"), T, "window_span='1m' has type", "whole", "=100"),
    (lambda: counted().with_window_span(0), A, "window_span=0 is out of", "from 1", "=100"),
    (lambda: counted().with_window_span(1.5), T, "window_span=1.5 has type", "whole", "=100"),  # type: ignore[arg-type]
    (lambda: counted().with_window_span(2_000_000), A, "window_span=2000000 is", "1000000", "=100"),
    (lambda: counted().with_slide(-1), A, "slide=-1 is out of range", "from 1", "slide=100"),
    (
        lambda: counted().with_slide(101).over(FRAME),
        A,
        "slide=101 is more than window_span=100",
        "from 1 to 100",
        "slide=100",
    ),
    (
        lambda: Windows.tumbling_count_window().over(FRAME),
        A,
        "window_span is missing",
        "a whole number of rows",
        ".with_window_span(10)",
    ),
    # keys and columns
    (lambda: hourly().with_key_extractor(), A, "key_extractor=() is empty", "columns", "'user_id'"),
    (
        lambda: hourly().with_key_extractor(7),  # type: ignore[arg-type]
        T,
        "key_extractor=7 has type int",
        "columns",
        "user_id",
    ),
    (
        lambda: hourly().with_key_extractor("device", "device"),
        A,
        "key_extractor=('device', 'device') has a name twice",
        "columns, one after the other",
        ".with_key_extractor('user_id', 'site')",
    ),
    (
        lambda: hourly().with_key_extractor("Event::userId"),
        A,
        "key_extractor='Event::userId' is a Java method",
        "a column name",
        "key_extractor='userId'",
    ),
    (
        lambda: hourly().with_key_extractor("devices").over(FRAME),
        UnknownColumnError,
        "key_extractor='devices' is not a column",
        "one of ts, device, Amount",
        "key_extractor='device'",
    ),
    (
        lambda: hourly().with_time_config(TimeConfig("tz")).over(FRAME),
        UnknownColumnError,
        "event_time_extractor='tz' is not a column",
        "one of ts, device, Amount",
        "event_time_extractor='ts'",
    ),
    (lambda: hourly().over("events"), T, "df='events' has type str", "a Spark DataFrame", "over"),  # type: ignore[arg-type]
    # sessions
    (lambda: session(idle_timeout="1us").over(FRAME), D, "idle_timeout='1us' is", "1ms", "'1ms'"),
    (
        lambda: session(idle_timeout="5m").with_maximum_duration("1m").over(FRAME),
        D,
        "maximum_duration='1m' is shorter than idle_timeout='5m'",
        "5m or more",
        "maximum_duration='5m'",
    ),
    (lambda: session().with_maximum_duration(60), D, "maximum_duration=60 is a", "text", "'60s'"),  # type: ignore[arg-type]
    (
        lambda: hourly().with_maximum_duration("1h"),
        A,
        "maximum_duration='1h' does not apply to a tumbling_time_window",
        "maximum_duration of session_window",
        "remove maximum_duration",
    ),
    (
        lambda: session().with_touching("both"),  # type: ignore[arg-type]
        A,
        "touching='both' is unknown",
        "'separate', 'merge'",
        "touching='separate'",
    ),
    (
        lambda: counted().with_touching("merge"),
        A,
        "touching='merge' does not",
        "session",
        "remove",
    ),
    # aggregates
    (
        lambda: Windows.tumbling_count_window().with_window_span(9).over(FRAME),
        A,
        "aggregate_definition is missing",
        "one aggregate or more",
        ".with_aggregate_definition(lambda a: a.count())",
    ),
    (
        lambda: hourly().with_aggregate_definition("count"),  # type: ignore[arg-type]
        T,
        "aggregate_definition='count' has type str, which cannot be called",
        "a function that receives an empty AggregateDefinition",
        "lambda builder: builder.count()",
    ),
    (
        lambda: hourly().with_aggregate_definition(lambda a: a.sum("n", None)),  # type: ignore[arg-type]
        T,
        "column=None has type NoneType",
        "a column name, SQL text or a Column",
        "column=",
    ),
    (
        lambda: hourly().with_aggregate_definition(lambda a: a.count().count()),
        A,
        "name='count' is already used",
        "names that differ",
        "name='count_2'",
    ),
    (
        lambda: hourly().with_aggregate_definition(lambda a: a.agg("n")),  # type: ignore[arg-type]
        T,
        "agg='n' has type str",
        "aggregates of Spark",
        ".agg(F.max(",
    ),
    (
        lambda: hourly().with_aggregate_definition(lambda a: a.expression("n", "")),
        A,
        "expression='' is empty",
        "SQL text of an aggregate",
        "expression='count_if(ok)'",
    ),
    # late rows and triggers
    (
        lambda: hourly().with_exception_handler("handle"),  # type: ignore[arg-type]
        T,
        "exception_handler='handle' has type str, which cannot be called",
        "a function of two arguments, fn(df, context)",
        "exception_handler=handle",
    ),
    (
        lambda: hourly().with_exception_handler(handle, "ignore"),  # type: ignore[arg-type]
        A,
        "on_handler_error='ignore' is unknown",
        "'fail', 'log'",
        "on_handler_error='fail'",
    ),
    (
        lambda: hourly().with_exception_handler(handle).with_late("count").over(FRAME),
        A,
        "exception_handler=<function handle at",
        "exception_handler with late='log'",
        ".with_late('log')",
    ),
    (
        lambda: hourly().with_late_to("/data/late").with_late("fail").over(FRAME),
        A,
        "late_to='/data/late' reads late rows from the log, but late='fail' writes none",
        "late_to with late='log'",
        ".with_late('log')",
    ),
    (lambda: hourly().with_late("drop"), A, "late='drop' is unknown", "'log', 'count'", "'log'"),  # type: ignore[arg-type]
    (lambda: hourly().with_late_to(""), A, "late_to='' is empty", "the path of a folder", "s3:"),
    (lambda: hourly().emit(), A, "emit=() is empty", "one or more of at_window_end", ".emit("),
    (lambda: hourly().emit("at_end"), A, "trigger='at_end' is unknown", "at_window_end", ".emit("),
    (lambda: hourly().emit("every"), A, "trigger='every' needs a value", "every(...)", "('10s')"),
    (lambda: hourly().emit(Trigger.every), T, "trigger=<function", "every(...)", "every('10s')"),  # type: ignore[arg-type]
    (lambda: hourly().emit("on_update", "on_update"), A, "emit=(WindowTrigger", "each once", "."),
    (lambda: hourly().emit(Trigger.every(10)), D, "every=10 is a number", "text", "'10s'"),  # type: ignore[arg-type]
    (lambda: hourly().emit(Trigger.every_rows(0)), A, "every_rows=0 is out", "from 1", "=1000"),
    (lambda: hourly().emit(Trigger.when("")), A, "when='' is empty", "SQL text", "n >= 1000"),
]


@pytest.mark.parametrize(("go", "error", "begins", "allowed", "fix"), BUILDER)
def test_a_wrong_call_is_refused(
    go: Callable[[], object], error: type[EventtideError], begins: str, allowed: str, fix: str
) -> None:
    """In the words of the builder."""
    assert_refused(go, error, begins, allowed, fix)


def test_the_windows_of_the_table_pass_without_their_mistakes() -> None:
    """Each case differs from these in one thing."""
    for window in (hourly(), counted(), session(idle_timeout="5m")):
        assert window.over(FRAME).explained()
