"""What a window refuses: single arguments where they are written, the rest when it is asked for."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import eventtide as et
import pandas as pd
import pytest
from eventtide import EventtideError, WatermarkPolicies, WindowBuilder, WindowTrigger
from eventtide.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    UnknownColumnError,
)

from tests.any_kind import OfAnyKind
from tests.unit.fakes import FakeFrame, column

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.fakes import FakeDoor

    Describe = Callable[[WindowBuilder], object]

LAG = WatermarkPolicies.with_fixed_lag("5s")
UPDATES = {"late_updates": True}

AT_ONCE: list[tuple[Callable[[Any], object], type[EventtideError], str]] = [
    (lambda _: et.window("events"), ArgumentTypeError, r"^df='events' .*Try: et\.window\(df\)"),  # type: ignore[arg-type]
    (lambda w: w.event_time(5), ArgumentTypeError, "^event_time=5 has type int"),
    (lambda w: w.event_time(""), InvalidArgumentError, "^event_time='' is empty"),
    (lambda w: w.event_time("tz"), UnknownColumnError, "^event_time='tz' is not a column.*='ts'"),
    (
        lambda w: w.event_time(column("upper(ts)")),
        InvalidArgumentError,
        r"^event_time=Column<'upper\(ts\)'> is an expression.*withColumn\('ts', upper\(ts\)\)",
    ),
    (
        lambda w: w.event_time(column("'ts'")),
        InvalidArgumentError,
        r"^event_time=Column<''ts''> is a literal\. Allowed: a column\. Try: event_time='ts'\.",
    ),
    (lambda w: w.event_time(column("tz")), UnknownColumnError, "^event_time='tz' is not a column"),
    (
        lambda w: w.event_time("ts", "5s"),
        ArgumentTypeError,
        r"^policy='5s' has type str.*Try: policy=WatermarkPolicies.with_fixed_lag\('5s'\)\.$",
    ),
    (
        lambda w: w.event_time("ts", timedelta(seconds=10)),
        ArgumentTypeError,
        r"Try: policy=WatermarkPolicies.with_fixed_lag\(datetime.timedelta\(seconds=10\)\)\.$",
    ),
    (
        lambda w: w.event_time("ts", WatermarkPolicies.with_fixed_lag),
        ArgumentTypeError,
        r"^policy=.* is not called.*Try: policy=WatermarkPolicies.with_fixed_lag\(\.\.\.\)",
    ),
    (
        lambda w: w.event_time("ts", WatermarkPolicies.min_of),
        ArgumentTypeError,
        r"^policy=.* is not called.*Try: policy=WatermarkPolicies.min_of\(\.\.\.\)",
    ),
    (
        lambda w: w.event_time("ts", "late"),
        ArgumentTypeError,
        r"^policy='late' has type str.*Try: policy=WatermarkPolicies.with_fixed_lag\('5s'\)",
    ),
    (
        lambda w: w.event_time("ts", WatermarkPolicies),
        ArgumentTypeError,
        r"^policy=.* has type Namespace.*Try: policy=WatermarkPolicies.with_fixed_lag\('5s'\)",
    ),
    (
        lambda w: w.event_time("ts", substream_idle_timeout="1m"),
        InvalidArgumentError,
        "^substream_idle_timeout='1m' belongs to a policy, and there is none.*with_fixed_lag",
    ),
    (
        lambda w: w.event_time("ts", substream=column("site")),
        InvalidArgumentError,
        "^substream=Column<'site'> belongs to a policy",
    ),
    (lambda w: w.event_time("ts", LAG, substream="at"), UnknownColumnError, "^substream='at' is"),
    *(
        (lambda _, one=one: et.window().event_time("ts", LAG, substream=one), error, message)
        for one, error, message in [
            (5, ArgumentTypeError, "^substream=5 has type int"),
            ([], InvalidArgumentError, r"^substream=\[\] is empty"),
            (["a", "a"], InvalidArgumentError, "has a name twice"),
        ]
    ),
    (lambda w: w.event_time("ts", LAG, expected=0), InvalidArgumentError, "^expected=0 is out"),
    (lambda w: w.event_time("ts", LAG, on_restart="no"), InvalidArgumentError, "^on_restart='no'"),
    (lambda w: w.key_by(), InvalidArgumentError, r"^key_by=\(\) is empty"),
    (lambda w: w.key_by([]), InvalidArgumentError, r"^key_by=\(\) is empty"),
    (lambda w: w.key_by(["site"], "ts"), ArgumentTypeError, r"^key_by=\['site'\] has type list"),
    (lambda w: w.key_by([5]), ArgumentTypeError, r"^key_by=5 has type int.*Try: \.key_by\("),
    (lambda w: w.key_by("site", "site"), InvalidArgumentError, "has a name twice"),
    (lambda w: w.key_by("sites"), UnknownColumnError, "^key_by='sites' is not a column.*='site'"),
    (lambda w: w.tumbling(60), InvalidDurationError, "^size=60 is a number without a unit"),
    (lambda w: w.sliding("1m", "7s"), InvalidDurationError, "Try: every='6s' or every='10s'"),
    (lambda w: w.cumulate("1h", step="7m"), InvalidDurationError, "^size='1h' is not a multiple"),
    (lambda w: w.session(5), InvalidDurationError, "^gap=5 is a number without a unit"),
    (lambda w: w.session("0s"), InvalidDurationError, "^gap='0s' is zero"),
    (lambda w: w.session("1us"), InvalidDurationError, "^gap='1us' is shorter.*Allowed: 1ms"),
    (
        lambda w: w.session("5m", maximum_duration="1m"),
        InvalidDurationError,
        "^maximum_duration='1m' is shorter than gap='5m'.*5m or more.*maximum_duration='5m'",
    ),
    (
        lambda w: w.session(column("gap"), maximum_duration="1us"),
        InvalidDurationError,
        "^maximum_duration='1us' is shorter.*Allowed: 1ms",
    ),
    (
        lambda w: w.session(column("gap"), touching="both"),
        InvalidArgumentError,
        "^touching='both' is unknown",
    ),
    (
        lambda w: w.session("5m", touching="both"),
        InvalidArgumentError,
        "^touching='both' is unknown. Allowed: 'separate', 'merge'",
    ),
    (lambda w: w.by_count(0), InvalidArgumentError, "^rows=0 is out of range.*1 to 1000000.*=100"),
    (lambda w: w.by_count(1_000_001), InvalidArgumentError, "^rows=1000001 is out of range"),
    (lambda w: w.by_count("100"), ArgumentTypeError, "^rows='100' has type str"),
    (lambda w: w.by_count(9, every=0), InvalidArgumentError, "^every=0 is out of range"),
    (
        lambda w: w.by_count(9, every=10),
        InvalidArgumentError,
        "^every=10 is more than rows=9.*from 1 to 9.*Try: every=9",
    ),
    (lambda w: w.watermark_scope(None), ArgumentTypeError, "^watermark_scope=None has type"),
    (lambda w: w.watermark_scope([]), InvalidArgumentError, r"^watermark_scope=\[\] is empty"),
    (lambda w: w.watermark_scope(""), InvalidArgumentError, "^watermark_scope='' is empty"),
    (
        lambda w: w.watermark_scope("keys"),
        UnknownColumnError,
        "^watermark_scope='keys' is not a column. Allowed: 'key', 'global', or one of ts.*='key'",
    ),
    (lambda w: w.key_idle_timeout("0s"), InvalidDurationError, "^key_idle_timeout='0s' is zero"),
    (lambda w: w.key_idle_timeout(300), InvalidDurationError, "^key_idle_timeout=300 is a number"),
    (
        lambda w: w.key_idle_timeout("5m", clock="wall"),
        InvalidArgumentError,
        "^clock='wall' is unknown. Allowed: 'processing_time', 'event_time'",
    ),
    (lambda w: w.key_ttl("-1s"), InvalidDurationError, "^key_ttl='-1s' is negative"),
    (lambda w: w.heartbeat("99ms"), InvalidDurationError, "^heartbeat='99ms' is too short.*100ms"),
    (lambda w: w.max_rows_per_batch(0), InvalidArgumentError, "^max_rows_per_batch=0 is out of"),
    (lambda w: w.max_rows_per_batch("1"), ArgumentTypeError, "^max_rows_per_batch='1' has type"),
    (lambda w: w.heartbeat("0s"), InvalidDurationError, "^heartbeat='0s' is zero"),
    (lambda w: w.late_retention("0s"), InvalidDurationError, "^late_retention='0s' is zero"),
    (lambda w: w.on_late("handle"), ArgumentTypeError, "^on_late='handle' has type str.*fn.df"),
    (lambda w: w.on_late(print, on_error="go"), InvalidArgumentError, "^on_error='go' is unknown"),
    (
        lambda w: w.tumbling("1m").sliding("1m", "10s"),
        InvalidArgumentError,
        r"^window=sliding\('1m', every='10s'\) cannot be .*Try: remove \.tumbling\('1m'\)\.$",
    ),
    (
        lambda w: w.session("5m").session("1h"),
        InvalidArgumentError,
        r"^window=session\('1h'\) cannot be combined with session\('5m'\)",
    ),
    (
        lambda w: w.by_count(10, 5).cumulate("1h", "1m"),
        InvalidArgumentError,
        r"^window=cumulate\('1h', step='1m'\) cannot be combined with by_count\(10, every=5\)",
    ),
    (lambda w: w.emit(), InvalidArgumentError, r"^emit=\(\) is empty.*Try: \.emit\(WindowTrigger"),
    (lambda w: w.emit(discarding=True), InvalidArgumentError, r"^emit=\(\) is empty"),
    (
        lambda w: w.emit("on_update", discarding="yes"),
        ArgumentTypeError,
        r"^discarding='yes' has type str.*Try: \.emit\(\.\.\., discarding=True\)",
    ),
    (
        lambda w: w.emit(late_updates=1),
        ArgumentTypeError,
        r"^late_updates=1 has type int.*Try: \.emit\(late_updates=True\)",
    ),
    (lambda w: w.emit("at_end"), InvalidArgumentError, "^trigger='at_end' is unknown.*on_update"),
    (lambda w: w.emit("every"), InvalidArgumentError, r"^trigger='every' needs a value.*'10s'\)"),
    (
        lambda w: w.emit(WindowTrigger.every),
        ArgumentTypeError,
        r"has type function.*every\('10s'\)",
    ),
    (lambda w: w.emit(5), ArgumentTypeError, "^trigger=5 has type int"),
    (lambda w: w.emit("on_update", "ON_UPDATE"), InvalidArgumentError, "has a trigger twice"),
    (
        lambda w: w.emit(WindowTrigger.every("1s"), WindowTrigger.every("2s")),
        InvalidArgumentError,
        r"^emit=\(WindowTrigger.every\('1s'\), .* has a trigger twice",
    ),
    (lambda _: WindowTrigger("on_update", 5), InvalidArgumentError, "takes no value"),
    (lambda _: WindowTrigger.every("0s"), InvalidDurationError, "^every='0s' is zero"),
    (lambda _: WindowTrigger.every_rows(0), InvalidArgumentError, "^every_rows=0 is out of range"),
    (lambda _: WindowTrigger.every_rows(1.5), ArgumentTypeError, "^every_rows=1.5 has type float"),  # type: ignore[arg-type]
    (lambda _: WindowTrigger.when(7), ArgumentTypeError, "^when=7 has type int"),  # type: ignore[arg-type]
    (lambda _: WindowTrigger("when", True), ArgumentTypeError, "^when=True has type bool"),  # noqa: FBT003 - what is refused
    (lambda _: WindowTrigger.when(""), InvalidArgumentError, "^when='' is empty"),
    (lambda w: w.offset("-1s"), InvalidDurationError, "^offset='-1s' is negative"),
    (lambda w: w.origin(7), ArgumentTypeError, "^origin=7 has type int"),
    (lambda w: w.origin(date(2024, 1, 1)), ArgumentTypeError, "^origin=.*has type date"),
    (lambda w: w.origin(pd.NaT), InvalidArgumentError, "^origin=NaT is not a time"),
    (lambda w: w.origin("noon"), InvalidArgumentError, "^origin='noon' cannot be read as a time"),
    (
        lambda w: w.origin("0001-01-01T00:00:00+02:00"),
        InvalidArgumentError,
        "^origin='0001-01-01 00:00:00.02:00' is outside the years 1 to 9999",
    ),
    (lambda w: w.time_zone(1), ArgumentTypeError, "^time_zone=1 has type int"),
    (lambda w: w.time_zone("Europe/Bern"), InvalidArgumentError, "is unknown.*'Europe/Berlin'"),
    (lambda w: w.time_zone("+01:00"), InvalidArgumentError, "^time_zone='.01:00' is unknown"),
    (lambda w: w.profile("beam"), InvalidArgumentError, "^profile='beam' is unknown"),
    (lambda w: w.late_rule("never"), InvalidArgumentError, "^late_rule='never' is unknown"),
    (lambda w: w.delay(5), InvalidDurationError, "^delay=5 is a number without a unit"),
    (lambda w: w.allowed_lateness(None), InvalidDurationError, "^allowed_lateness=None has type"),
    (lambda w: w.late("drop"), InvalidArgumentError, "^late='drop' is unknown"),
    (lambda w: w.late_to(""), InvalidArgumentError, "^late_to='' is empty"),
    (lambda w: w.late_to(None), ArgumentTypeError, "^late_to=None has type NoneType"),
    (lambda w: w.agg(), InvalidArgumentError, r"^agg=\(\) is empty"),
    (lambda w: w.agg([]), InvalidArgumentError, r"^agg=\(\) is empty"),
    (lambda w: w.agg("n"), ArgumentTypeError, "^agg='n' has type str.*F.count"),
    (
        lambda w: w.agg({"amount": "sum"}),
        ArgumentTypeError,
        r"has type dict.*Try: \.agg\(F\.sum\('amount'\)\.alias\('sum_amount'\)\)",
    ),
    (lambda w: w.over(None), ArgumentTypeError, "^df=None has type NoneType"),
]


@pytest.mark.parametrize(("describe", "error", "message"), AT_ONCE)
def test_a_wrong_argument_is_refused_where_it_is_written(
    door: FakeDoor,
    frame: FakeFrame,
    describe: Describe,
    error: type[EventtideError],
    message: str,
) -> None:
    """With what is wrong, the value, what is allowed and what to try."""
    with pytest.raises(error, match=message) as caught:
        describe(et.window(frame))
    assert type(caught.value) is error
    assert "Allowed: " in str(caught.value)
    assert "Try: " in str(caught.value)
    assert door.calls == []


# Each describes a window of a minute anew; the last is what the message tries.
TOGETHER: list[tuple[Describe, type[EventtideError], str]] = [
    (
        lambda w: w.tumbling("1 month"),
        InvalidDurationError,
        r"^size='1 month' is a calendar size.*Try: \.time_zone\('Europe/Berlin'\)\.$",
    ),
    (
        lambda w: w.time_zone("UTC"),
        InvalidDurationError,
        r"^size='1m' has a fixed length, and time_zone='UTC'.*Try: size='1 day', or no time_zone",
    ),
    (
        lambda w: w.cumulate("1 day", step="1h").time_zone("UTC"),
        InvalidDurationError,
        "^step='1h' has a fixed length",
    ),
    (lambda w: w.offset("1m"), InvalidDurationError, "^offset='1m' is not inside a frame.*1m. Try"),
    (
        lambda w: w.sliding("1m", every="5s").offset("5s"),
        InvalidDurationError,
        "zero or more, and below 5s",
    ),
    (
        lambda w: w.cumulate("1m", step="5s").offset("1m"),
        InvalidDurationError,
        "^offset='1m' is not inside a window.*zero or more, and below 1m",
    ),
    (
        lambda w: w.offset("1s").origin("2024-01-01T00:00:00Z"),
        InvalidArgumentError,
        "^origin=.*sets the start of windows, as does offset='1s'",
    ),
    (
        lambda w: w.origin("2024-04-01"),
        InvalidArgumentError,
        r"^origin='2024-04-01' has no time zone.*Try: \.origin\('2024-04-01T00:00:00Z'\)",
    ),
    (
        lambda w: w.profile("voltsp").delay("1s").allowed_lateness("1s"),
        InvalidArgumentError,
        "^allowed_lateness='1s' cannot be combined with delay='1s' under profile='voltsp'",
    ),
    (
        lambda w: w.emit(late_updates=True),
        InvalidArgumentError,
        r"^late_updates=True has nothing to update.*Try: \.allowed_lateness\('1m'\)",
    ),
    (
        lambda w: w.emit("on_update", late_updates=True).allowed_lateness("0s"),
        InvalidArgumentError,
        "^late_updates=True has nothing to update",
    ),
    (
        lambda w: w.late("count").late_to("/data/late"),
        InvalidArgumentError,
        "^late_to='/data/late' is a folder for late rows, but late='count' writes none",
    ),
    (
        lambda w: w.late_to("/data/late").late("fail"),
        InvalidArgumentError,
        "^late_to='/data/late' is a folder",
    ),
    (
        lambda w: w.late("count").late_retention("90d"),
        InvalidArgumentError,
        "^late_retention='90d' is a retention of late rows, but late='count' writes none",
    ),
    (
        lambda w: w.late("count").on_late(print),
        InvalidArgumentError,
        r"^on_late=<built-in function print> reads late rows from the log.*late='count'",
    ),
    (
        lambda w: w.session("5m").offset("1s"),
        InvalidArgumentError,
        r"^offset='1s' has no meaning for session\('5m'\): .* begins with its first row",
    ),
    (
        lambda w: w.session("5m").origin("2024-01-01T00:00:00Z"),
        InvalidArgumentError,
        "^origin='2024-01-01T00:00:00Z' has no meaning for session",
    ),
    (lambda w: w.session("5m").time_zone("UTC"), InvalidArgumentError, "^time_zone='UTC' has no m"),
    (
        lambda w: w.session(column("gap")).offset("1s"),
        InvalidArgumentError,
        r"^offset='1s' has no meaning for session\(Column<'gap'>\)",
    ),
    (
        lambda w: w.session(column("gap")).key_by("ts").watermark_scope("key"),
        InvalidArgumentError,
        "^key_idle_timeout is missing: .*last session",
    ),
    (
        lambda w: w.by_count(9).delay("1s"),
        InvalidArgumentError,
        r"^delay='1s' has no meaning for by_count\(9\).*ends with a row.*remove delay",
    ),
    (lambda w: w.by_count(9).allowed_lateness("1s"), InvalidArgumentError, "^allowed_lateness="),
    (lambda w: w.by_count(9).late_rule("frame_closed"), InvalidArgumentError, "^late_rule="),
    (lambda w: w.by_count(9).offset("1s"), InvalidArgumentError, "^offset='1s' has no meaning"),
    (lambda w: w.by_count(9).time_zone("UTC"), InvalidArgumentError, "^time_zone='UTC' has no"),
    (lambda w: w.by_count(9).profile("jet"), InvalidArgumentError, "^profile='jet' has no meaning"),
    (
        lambda w: w.watermark_scope(["ts"]),
        InvalidArgumentError,
        r"^watermark_scope=\['ts'\] requires keys.*Try: watermark_scope\('key'\)",
    ),
    (
        lambda w: w.session("5m").key_by("ts").watermark_scope("key"),
        InvalidArgumentError,
        r"^key_idle_timeout is missing: .*last session.*Try: \.key_idle_timeout\('5m'\)",
    ),
    (
        lambda w: w.key_ttl("1h"),
        InvalidArgumentError,
        "^key_ttl='1h' applies only to keys that can become idle",
    ),
    (
        lambda w: w.key_by("ts").watermark_scope(["ts"]).max_rows_per_batch(1),
        InvalidArgumentError,
        "^max_rows_per_batch=1 requires a watermark for each key",
    ),
    (
        lambda w: w.watermark_scope("global").heartbeat("1s"),
        InvalidArgumentError,
        "^heartbeat='1s' applies only to keys that can become idle",
    ),
    (
        lambda w: w.processing_time().event_time("ts"),
        InvalidArgumentError,
        r"^event_time='ts' cannot be combined with processing_time\(\)",
    ),
    *(
        (describe, InvalidArgumentError, f"^{name}=.* is about late rows, and with processing_time")
        for name, describe in {
            "delay": lambda w: w.processing_time().delay("1s"),
            "allowed_lateness": lambda w: w.processing_time().allowed_lateness("1s"),
            "late_rule": lambda w: w.processing_time().late_rule("frame_closed"),
            "late": lambda w: w.processing_time().late("log"),
            "late_to": lambda w: w.processing_time().late_to("/data/late"),
            "late_retention": lambda w: w.processing_time().late_retention("90d"),
            "on_late": lambda w: w.processing_time().on_late(print),
        }.items()
    ),
    (
        lambda w: w.processing_time().key_idle_timeout("1m", clock="event_time"),
        InvalidArgumentError,
        "^clock='event_time' needs an event time, and with processing_time",
    ),
    (
        lambda w: w.processing_time().key_by("ts").watermark_scope("key"),
        InvalidArgumentError,
        "^watermark_scope='key' requires several watermarks",
    ),
    (
        lambda w: w.emit("at_window_end", discarding=True),
        InvalidArgumentError,
        r"^discarding=True has nothing to discard.*every\('10s'\), discarding=True\)",
    ),
]


@pytest.mark.parametrize("ask", ["results", "explain"])
@pytest.mark.parametrize(("describe", "error", "message"), TOGETHER)
def test_settings_that_contradict_each_other_are_refused_when_asked_for(
    door: FakeDoor,
    describe: Callable[[WindowBuilder], WindowBuilder],
    error: type[EventtideError],
    message: str,
    ask: str,
) -> None:
    """Not before: the next call may correct it."""
    window = describe(OfAnyKind(FakeFrame("ts")).tumbling("1m").agg(column("n")))
    with pytest.raises(error, match=message) as caught:
        _ = window.results if ask == "results" else window.explain()  # type: ignore[func-returns-value]
    assert type(caught.value) is error
    assert "Allowed: " in str(caught.value)
    assert door.calls == []


def test_a_window_without_kind_or_aggregates_is_refused(door: FakeDoor, frame: FakeFrame) -> None:
    """The message shows what is missing."""
    with pytest.raises(InvalidArgumentError, match=r"^window has no kind.*Try: \.tumbling"):
        _ = et.window(frame).agg(column("n")).results
    with pytest.raises(InvalidArgumentError, match=r"^agg is missing.*Try: \.agg\(F\.count"):
        _ = et.window(frame).tumbling("1m").results
    assert door.calls == []


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize(
    "describe",
    [
        lambda w: w.offset("59s"),
        lambda w: w.tumbling("1 day").offset("23h").time_zone("UTC"),
        lambda w: w.tumbling("1 month").offset("1 day").time_zone("UTC"),
        lambda w: w.origin("2024-04-01").tumbling("1 day").time_zone("Europe/Berlin"),
        lambda w: w.delay("1s").allowed_lateness("1s"),
        lambda w: w.profile("eventtide").delay("1s").allowed_lateness("1s"),
        lambda w: w.profile("jet").delay("1s"),
        lambda w: w.profile("flink").allowed_lateness("1m").emit(**UPDATES, discarding=True),
        lambda w: w.emit(WindowTrigger.every_rows(1), discarding=True),
        lambda w: w.session("5m").emit(WindowTrigger.every_rows(1), discarding=True),
        lambda w: w.emit("on_update", discarding=True),
        lambda w: w.emit("on_update", **UPDATES).allowed_lateness("1m"),
        lambda w: w.key_idle_timeout("1m").allowed_lateness("1m").emit(**UPDATES),
        lambda w: w.key_by("ts").watermark_scope("key").allowed_lateness("1m").emit(**UPDATES),
        lambda w: w.late("log").late_to("/data/late"),
        lambda w: w.late("log").on_late(print, on_error="log"),
        lambda w: w.emit("at_window_end").allowed_lateness("1m"),
        lambda w: w.key_idle_timeout("1m").key_ttl("0s").heartbeat("100ms"),
        lambda w: w.key_idle_timeout("1m", clock="event_time").emit(WindowTrigger.every_rows(1)),
        lambda w: w.key_idle_timeout("1m").allowed_lateness("1m"),
        lambda w: w.key_by("ts").watermark_scope("key").key_ttl("1h"),
        lambda w: w.watermark_scope("key").max_rows_per_batch(1),
        lambda w: w.key_by("ts").watermark_scope(["ts"]).heartbeat("1s"),
        lambda w: w.key_by("ts").watermark_scope("key").max_rows_per_batch(1),
        lambda w: w.session("5m").delay("1s").profile("spark"),
        lambda w: w.session(column("gap"), maximum_duration="1ms").allowed_lateness("1m"),
        lambda w: w.session("5m").key_by("ts").watermark_scope("key").key_idle_timeout("5m"),
        lambda w: w.session("5m").key_by("ts").watermark_scope("global"),
        lambda w: w.by_count(1, every=1).key_idle_timeout("5m"),
        lambda w: w.processing_time().watermark_scope("global").key_idle_timeout("1m"),
        lambda w: w.processing_time().session("1m"),
    ],
)
def test_settings_that_go_together_pass(
    door: FakeDoor, describe: Callable[[WindowBuilder], WindowBuilder]
) -> None:
    """Each at its limit."""
    window = describe(OfAnyKind(FakeFrame("ts")).tumbling("1m").agg(column("n")))
    assert window.results._jdf == door.answer
