"""The window builder: what crosses to the JVM, and how it prints and keeps itself."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowBuilder, WindowTrigger
from eventtide.storm import StormWindow
from eventtide.voltsp import Windows
from eventtide.windows._habits import _ELSEWHERE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.any_kind import OfAnyKind
from tests.unit.fakes import FakeFrame, JavaError, Requested, column, ours, raised

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

    from tests.unit.fakes import FakeDoor

pytestmark = pytest.mark.usefixtures("columns")

LAG = WatermarkPolicies.with_fixed_lag("5s")
N, TOTAL = column("count(1) AS n"), column("sum(amount) AS total")
SESSION = Windows.session_window()
MINUTE = {"kind": "tumbling", "size": "PT60S"}


def minute(frame: FakeFrame) -> WindowBuilder:
    """Return the smallest window that there is."""
    return OfAnyKind(frame).tumbling("1m").agg(N)


def test_the_smallest_window_crosses_without_what_was_not_set(
    door: FakeDoor, frame: FakeFrame
) -> None:
    """No event time: the JVM takes the column that has a watermark."""
    result = minute(frame).results
    java = ["java count(1) AS n"]
    assert door.calls == [Requested("window", frame._jdf, MINUTE, {}, {"aggregates": java})]
    assert result._jdf == "a java frame"


def test_a_whole_window_crosses_in_its_parts(door: FakeDoor, frame: FakeFrame) -> None:
    """The watermark's options are those of `with_watermark`; names and conditions are columns."""
    window = (
        et.window(frame)
        .event_time(
            "ts", LAG, substream="site", substream_idle_timeout="1m", expected=iter(["a", "b"])
        )
        .key_by("device", column("upper(site)"))
        .sliding("1m", every="1s")
        .emit(WindowTrigger.when("n >= 1000"))
        .agg(N, TOTAL)
    )
    assert window.results is window.results
    et.with_watermark(
        frame, "ts", LAG, substream="site", substream_idle_timeout="1m", expected=["a", "b"]
    )
    [crossed, watermark] = door.calls
    sizes = {"kind": "sliding", "size": "PT60S", "slide": "PT1S", "triggers": "when"}
    assert crossed.options == {"event_time": "ts", **sizes}
    assert crossed.watermark == watermark.watermark
    assert crossed.columns == {
        "substream": ["java site"],
        "keys": ["java device", "java upper(site)"],
        "aggregates": ["java count(1) AS n", "java sum(amount) AS total"],
        "when": ["java expr n >= 1000"],
    }


def test_an_event_time_needs_no_policy(door: FakeDoor, frame: FakeFrame) -> None:
    """The DataFrame may have a watermark, or be a batch."""
    assert minute(frame).event_time("ts").results is not None
    assert door.calls[0].options["event_time"] == "ts"
    assert door.calls[0].watermark == {}


def test_a_condition_may_be_a_column(door: FakeDoor, frame: FakeFrame) -> None:
    """It crosses as it is."""
    assert minute(frame).emit(WindowTrigger.when(column("last"))).results is not None
    assert door.calls[0].columns["when"] == ["java last"]


def test_a_gap_for_each_row_crosses_as_a_column(door: FakeDoor, frame: FakeFrame) -> None:
    """Its option says only that there is one; without it nothing crosses in its place."""
    gap = column("CASE WHEN site = 'a' THEN 5 seconds END")
    window = et.window(frame).session(gap, touching="merge").agg(N)
    assert window.results is not None
    [crossed] = door.calls
    assert crossed.columns["gap"] == ["java CASE WHEN site = 'a' THEN 5 seconds END"]
    assert crossed.options == {"kind": "session", "gap": "column", "touching": "merge"}
    assert repr(window.settings.shape) == f"session({gap!r}, touching='merge')"
    assert et.window(frame).session("5m").settings.row_gap is None


def test_nothing_crosses_before_results_are_asked_for(door: FakeDoor, frame: FakeFrame) -> None:
    """Then once, whatever is done with the builder."""
    window = minute(frame)
    assert "tumbling" in repr(window)
    window.explained()
    assert door.calls == []
    assert window.results is window.results
    assert len(door.calls) == 1


def test_a_builder_never_changes(frame: FakeFrame) -> None:
    """A method leaves it as it was; called again it replaces what it said."""
    window = minute(frame)
    assert window.delay("1s").delay("2s").settings.to_options() == {**MINUTE, "delay": "PT2S"}
    assert window.settings.to_options() == MINUTE
    with pytest.raises(FrozenInstanceError):
        window.settings = window.settings  # type: ignore[misc]


def test_a_quoted_name_is_a_name(door: FakeDoor) -> None:
    """PySpark prints it without quotes; whether it is one, the rows say."""
    rows = FakeFrame("My ts", "n")
    for window in (et.window(rows), et.window()):
        timed = window.event_time(column("my ts"), LAG).tumbling("1m").agg(N)
        assert timed.over(rows).results._jdf == "a java frame"
    et.with_watermark(rows, column("my ts"), LAG)
    assert [call.options["event_time"] for call in door.calls] == ["my ts"] * 3
    with pytest.raises(et.errors.InvalidArgumentError, match=r"^event_time=.* is an expression"):
        et.window(rows).event_time(column("ts AS my"))


NO_ROWS = r"^window has no rows\. Allowed: a DataFrame\. Try: \.over\(df\)\.$"


def test_a_window_without_rows_is_bound_later(door: FakeDoor, frame: FakeFrame) -> None:
    """With the same results as over these rows from the beginning."""
    steps: list[Callable[[WindowBuilder], WindowBuilder]] = [
        lambda window: window.event_time("ts", LAG, substream="site").key_by("device"),
        lambda window: window.tumbling("1m").watermark_scope(["device"]).agg(N),
    ]
    window, later = et.window(frame), et.window()
    for step in steps:
        window, later = step(window), step(later)
    assert repr(later) == repr(window).replace("et.window(df)", "et.window()")
    assert later.over(frame).results._jdf == window.results._jdf
    assert door.calls[0] == door.calls[1]


@pytest.mark.parametrize(
    "use",
    [
        lambda window: window.df,
        lambda window: window.results,
        lambda window: window.start(object.__new__(DataStreamWriter)),
        lambda window: window.explain(),
        et.explain,
        lambda window: et.read_state("/data/checkpoint", window),
    ],
)
def test_a_window_without_rows_has_no_results(use: Callable[[WindowBuilder], object]) -> None:
    """The error says how to give it rows, also where more is missing."""
    for window in (et.window(), et.window().event_time("nowhere", LAG).tumbling("1m").agg(N)):
        with pytest.raises(et.errors.InvalidArgumentError, match=NO_ROWS):
            use(window)


@pytest.mark.parametrize(
    ("step", "argument"),
    [
        (lambda window: window.event_time("tss"), "event_time='tss'"),
        (lambda window: window.event_time("ts", LAG, substream="sit"), "substream='sit'"),
        (lambda window: window.key_by("devices"), "key_by='devices'"),
        (lambda window: window.watermark_scope("keys"), "watermark_scope='keys'"),
    ],
)
def test_columns_are_checked_when_rows_come(
    step: Callable[[WindowBuilder], WindowBuilder], argument: str, frame: FakeFrame
) -> None:
    """With the error of a window over these rows."""
    with pytest.raises(et.errors.UnknownColumnError) as early:
        step(et.window(frame))
    with pytest.raises(et.errors.UnknownColumnError) as late:
        step(et.window()).over(frame)
    assert str(late.value) == str(early.value)
    assert str(late.value).startswith(f"{argument} is not a column. ")


def test_rows_are_a_dataframe(frame: FakeFrame) -> None:
    """None is no rows for `window` alone."""
    wrong: Any = None
    with pytest.raises(et.errors.ArgumentTypeError, match=r"^df=None has type .* window\.over"):
        et.window(frame).over(wrong)


def test_a_window_can_go_over_other_rows(door: FakeDoor, frame: FakeFrame) -> None:
    """All that it was told goes along, and a column that is not there is refused."""
    window = minute(frame).key_by("device").delay("1s")
    other = FakeFrame("device", "n")
    assert repr(window.over(other)) == repr(window)
    assert window.over(other).results._jdf == "a java frame"
    assert door.calls[0].rows == other._jdf
    with pytest.raises(et.errors.UnknownColumnError, match=r"^key_by='device' is not a column"):
        window.over(FakeFrame("ts"))


CALLS: list[Callable[[WindowBuilder], WindowBuilder]] = [
    lambda w: w.event_time("ts", LAG),
    lambda w: w.key_by("site"),
    lambda w: w.sliding("2 days", every="1 day"),
    lambda w: w.time_zone("Europe/Berlin"),
    lambda w: w.origin("2024-04-01"),
    lambda w: w.allowed_lateness("1h"),
    lambda w: w.emit("at_window_end", WindowTrigger.every_rows(10), late_updates=True),
    lambda w: w.late_to("/data/late"),
    lambda w: w.late_retention("90d"),
    lambda w: w.agg(N),
]


@given(st.permutations(CALLS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_the_calls_does_not_matter(
    door: FakeDoor, frame: FakeFrame, calls: list[Callable[[WindowBuilder], WindowBuilder]]
) -> None:
    """Not for what crosses, nor for how the window prints itself."""
    expected, window = et.window(frame), et.window(frame)
    for call in CALLS:
        expected = call(expected)
    for call in calls:
        window = call(window)
    assert expected.results is not window.results
    assert door.calls[-2] == door.calls[-1]
    assert repr(window) == repr(expected)
    assert window.explained() == expected.explained()


@given(st.datetimes(timezones=st.timezones()))
def test_an_origin_is_the_same_instant_however_it_is_written(origin: datetime) -> None:
    """As a datetime or as its text."""
    window = et.window(FakeFrame("ts"))
    try:
        crossed = window.origin(origin).settings.to_options()["origin"]
    except et.errors.InvalidArgumentError as error:
        assert "outside the years" in str(error)  # noqa: PT017 - only at both ends
        return
    text = origin.isoformat()
    assert window.origin(text).settings.to_options()["origin"] == crossed
    assert crossed.endswith("Z")
    assert datetime.fromisoformat(f"{crossed[:-1]}+00:00") == datetime.fromisoformat(text)


def test_a_window_prints_the_calls_that_make_it(frame: FakeFrame) -> None:
    """With every argument as it was written."""
    window = (
        et.window(frame)
        .event_time("ts", LAG, substream=["site"], on_restart="resume")
        .key_by("device", column("upper(site)"))
        .cumulate("1h", step=timedelta(minutes=1))
        .offset(timedelta(0))
        .emit(WindowTrigger.every("10s"), "at_window_end", discarding=True)
        .agg(N)
    )
    assert repr(window) == (
        "et.window(df).event_time('ts', policy=WatermarkPolicies.with_fixed_lag(lag='5s'),"
        " substream=['site'], on_restart='resume').key_by('device', Column<'upper(site)'>)"
        ".cumulate('1h', step=datetime.timedelta(seconds=60)).offset(datetime.timedelta(0))"
        ".emit(WindowTrigger.every('10s'), WindowTrigger.at_window_end, discarding=True)"
        ".agg(Column<'count(1) AS n'>)"
    )
    assert repr(et.window(frame).emit(late_updates=True)) == (
        "et.window(df).emit(WindowTrigger.at_window_end, late_updates=True)"
    )


def test_columns_are_given_one_by_one_or_as_a_list(frame: FakeFrame) -> None:
    """Of keys and of aggregates; the other arguments by position too."""
    window = et.window(frame)
    keys: list[str | Column] = ["device", column("upper(site)")]
    assert repr(window.key_by(keys)) == repr(window.key_by(*keys))
    assert (
        repr(window.agg([N, TOTAL])) == repr(window.agg(N, TOTAL)) == repr(window.agg((N, TOTAL)))
    )
    assert repr(window.sliding("1m", "10s")) == repr(window.sliding("1m", every="10s"))
    assert repr(window.cumulate("1h", "1m")) == repr(window.cumulate("1h", step="1m"))
    assert repr(window.by_count(10, 5)) == repr(window.by_count(10, every=5))
    assert repr(window.event_time(column("ts"))) == repr(window.event_time("ts"))


def test_late_updates_add_nothing_to_the_triggers_that_are_given(frame: FakeFrame) -> None:
    """Without any, there is the result at the end."""
    window = et.window(frame).allowed_lateness("1m")
    alone = window.emit(late_updates=True).settings.to_options()
    assert (alone["triggers"], alone["late_updates"]) == ("at_window_end", "true")
    beside = window.emit("on_update", late_updates=True).settings.to_options()
    assert (beside["triggers"], beside["late_updates"]) == ("on_update", "true")
    again = window.emit("on_update", discarding=True, late_updates=True).emit("on_update")
    assert again.settings.to_options() == {"allowed_lateness": "PT60S", "triggers": "on_update"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("show", "a window has no 'show', and its results do. Try: .results.show"),
        ("writeStream", "a window has no 'writeStream', and its results do. Try: .results.write"),
        ("isStreaming", "a window has no 'isStreaming', and its results do. Try: .results.isStr"),
        ("groupBy", "a window has no 'groupBy'. Try: .key_by"),
        ("select", "a window has no 'select'. Try: .agg"),
        ("withWatermark", "a window has no 'withWatermark'. Try: .event_time"),
        ("idle_timeout", "a window has no 'idle_timeout'. Try: .key_idle_timeout"),
        ("hop", "a window has no 'hop'. Try: .sliding"),
        ("tumbling_window", "a window has no 'tumbling_window'. Try: .tumbling"),
        ("watermark_scopes", "a window has no 'watermark_scopes'. Try: .watermark_scope"),
        ("xyz", "a window has no 'xyz'. Known: agg, allowed_lateness, by_count, cumulate, "),
    ],
)
def test_a_name_that_a_window_has_not_is_found_elsewhere(
    frame: FakeFrame, name: str, hint: str
) -> None:
    """One of Spark, of another system, or misspelt."""
    with pytest.raises(AttributeError) as error:
        getattr(et.window(frame), name)
    assert str(error.value).startswith(hint)
    assert not hasattr(et.window(frame), name)


@pytest.mark.parametrize(
    ("builder", "name", "hint"),
    [
        (StormWindow(), "show", "a window has no 'show', and its results do. Try: .agg(...).resul"),
        (StormWindow(), "results", "a window has no 'results' yet. Try: .agg(...).results"),
        (StormWindow(), "groupBy", "a window has no 'groupBy'. Try: .group_by"),
        (StormWindow(), "tumbling", "a window has no 'tumbling'. Try: .with_tumbling_window"),
        (StormWindow(), "select", "a window has no 'select'. Try: .agg"),
        (SESSION, "writeStream", "a window has no 'writeStream', and its results do. Try: .over("),
        (SESSION, "start", "a window has no 'start' yet. Try: .over(df).start"),
        (SESSION, "trigger", "a window has no 'trigger'. Try: .emit"),
        (SESSION, "groupBy", "a window has no 'groupBy'. Known: emit, over, to_yaml, with_"),
    ],
)
def test_the_builders_of_other_systems_have_hints_too(
    builder: object, name: str, hint: str
) -> None:
    """In their own words."""
    with pytest.raises(AttributeError) as error:
        getattr(builder, name)
    assert str(error.value).startswith(hint)


def test_what_a_hint_names_is_there() -> None:
    """Each of the table."""
    for name, instead in _ELSEWHERE.items():
        assert not hasattr(WindowBuilder, name)
        assert hasattr(WindowBuilder, instead.partition("(")[0])


def test_hints_do_not_hide_an_error_of_a_property(
    frame: FakeFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if there were no hints."""

    def fails(*_: Any, **__: Any) -> None:
        raise AttributeError("inside")

    monkeypatch.setattr("eventtide._jvm.requested", fails)
    with pytest.raises(AttributeError, match=r"^inside$"):
        _ = minute(frame).results


def by_pickle(window: WindowBuilder) -> WindowBuilder:
    """Return the window that a worker would get."""
    copied: WindowBuilder = pickle.loads(pickle.dumps(window))  # noqa: S301 - our own bytes
    return copied


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, by_pickle])
def test_a_window_is_copied(copied: Callable[[WindowBuilder], WindowBuilder]) -> None:
    """Hints for unknown names are no obstacle, also not on a builder without its fields."""
    window = et.window(FakeFrame("ts")).event_time("ts", LAG).tumbling("1m").emit("on_update")
    other = copied(window)
    assert other is not window
    assert repr(other) == repr(window)
    assert other.settings.to_options() == window.settings.to_options()


def test_a_window_explains_itself(frame: FakeFrame, capsys: pytest.CaptureFixture[str]) -> None:
    """Also through `et.explain`, and without the JVM."""
    window = (
        et.window(frame)
        .event_time("ts", LAG)
        .key_by("device", "site")
        .sliding("1m", every="1s")
        .offset("500ms")
        .delay("5s")
        .late_to("/data/late")
        .agg(N)
    )
    window.explain()
    et.explain(window)
    text = window.explained()
    assert capsys.readouterr().out == f"{text}\n{text}\n"
    assert text.splitlines() == [
        "windows of 1m, one begins every 1s, moved by 500ms",
        "   event time: ts, WatermarkPolicies.with_fixed_lag(lag='5s')",
        "   keys: device, site",
        "   aggregates: count(1) AS n",
        "   holds rows with start <= time < end, closes when watermark >= end, 5s later",
        "   a row is late when all of its windows are closed",
        "   late rows are counted and kept in the late log in /data/late",
        "   results: one row a window",
        "stock Spark: copies each row into up to 60 windows; drops late rows and only counts them",
    ]


@pytest.mark.parametrize(
    ("describe", "line"),
    [
        (lambda w: w, "event time: the column that has a watermark"),
        (lambda w: w.event_time("ts"), "event time: ts"),
        (lambda w: w, "keys: none, one window for all rows"),
        (lambda w: w.key_by("site", column("upper(site)")), "keys: site, upper(site)"),
        (lambda w: w, "stock Spark: has the same windows"),
        (lambda w: w.cumulate("1h", step="1m"), "windows of 1h, growing by 1m"),
        (lambda w: w.cumulate("1h", step="1m"), "stock Spark: has no such window"),
        (lambda w: w.tumbling("1 month").time_zone("UTC"), "stock Spark: has no such window"),
        (lambda w: w.tumbling("2 weeks").time_zone("UTC"), "windows of 14 days, side by side, in"),
        (lambda w: w.origin("2024-01-01T00:00:00Z"), "side by side, from 2024-01-01T00:00:00Z"),
        (lambda w: w.profile("storm"), "start < time <= end, closes when watermark > end"),
        (lambda w: w.profile("flink"), "closes when watermark >= end (Flink's own is 1 ms less)"),
        (lambda w: w.profile("jet"), "late when its frame is closed"),
        (lambda w: w.profile("spark"), "late when all of its windows were closed by the batch"),
        (lambda w: w.session("5m"), "late when its session is closed"),
        (lambda w: w.session(column("gap")), "sessions with a gap for each row, gap\n"),
        (lambda w: w.session(column("gap")), "a row without a usable gap is in no session, and"),
        (lambda w: w.session(column("gap")), "counts them; drops rows without a gap uncounted"),
        (lambda w: w.session("5m").profile("jet"), "closes when watermark > end"),
        (lambda w: w.session("5m").profile("jet"), "late when its time is below the watermark"),
        (lambda w: w.session("5m").profile("spark"), "late when the session that it would form"),
        (lambda w: w.session("5m").profile("storm"), "start <= time < end, closes when watermark"),
        (
            lambda w: w.profile("jet").late_rule("behind_watermark"),
            "late when its time is below the watermark",
        ),
        (lambda w: w.late("fail"), "late rows stop the query"),
        (lambda w: w.allowed_lateness("1m"), "one row a window, with the rows within 1m after"),
        (
            lambda w: w.allowed_lateness("1m").emit(late_updates=True),
            "at its end, one more for late rows within 1m after the end; each of all rows so far,",
        ),
        (
            lambda w: w.emit(WindowTrigger.every_rows(3), "at_window_end", discarding=True),
            "every 3 rows, at its end; each of the rows since the previous result, with the name",
        ),
    ],
)
def test_an_explanation_follows_the_settings(
    frame: FakeFrame, describe: Callable[[WindowBuilder], WindowBuilder], line: str
) -> None:
    """Each setting in words."""
    assert line in describe(minute(frame)).explained()


class Writer(DataStreamWriter):
    """A writer that knows only how to start."""

    def __init__(self, *, fails_with: BaseException | None = None) -> None:
        self._fails_with = fails_with

    def start(self, *_: Any, **__: Any) -> Any:
        """Return a query, or fail as it was told."""
        if self._fails_with is not None:
            raise self._fails_with
        return SimpleNamespace(name="a query")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the window in what each writer writes, and start the writer without a JVM."""
    monkeypatch.setattr("eventtide._jvm.late_nodes", lambda _: ["the window"])
    monkeypatch.setattr("eventtide._jvm.written", lambda _: None)
    monkeypatch.setattr("eventtide._jvm.start", lambda writer, *_, **__: writer.start())


@pytest.mark.usefixtures("door", "started")
def test_a_window_is_started_with_its_writer(frame: FakeFrame) -> None:
    """As the writer itself does."""
    assert et.start(minute(frame), Writer()).name == "a query"
    assert minute(frame).start(Writer()).name == "a query"


def test_a_window_starts_itself_as_start_does(
    frame: FakeFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all of its arguments."""
    calls: list[Any] = []
    monkeypatch.setattr(
        "eventtide.windows._builder.start", lambda *given, **more: calls.append((given, more))
    )
    window, writer = minute(frame), Writer()
    window.start(writer)
    window.start(writer, drain=True)
    assert calls == [((window, writer), {"drain": False}), ((window, writer), {"drain": True})]


@pytest.mark.usefixtures("door", "started")
def test_what_stops_a_start_has_its_name(frame: FakeFrame) -> None:
    """Errors of the JVM half become Python's."""
    wrapped = raised(JavaError("java.lang.RuntimeException", ours("CheckpointError")))
    with pytest.raises(et.errors.CheckpointError):
        et.start(minute(frame), Writer(fails_with=wrapped))


def test_start_wants_a_window_and_a_writer(frame: FakeFrame) -> None:
    """A query that runs already is no writer."""
    with pytest.raises(et.errors.ArgumentTypeError, match=r"^window=.*has type str"):
        et.start("counts", Writer())  # type: ignore[arg-type]
    with pytest.raises(
        et.errors.ArgumentTypeError,
        match=r"^writer=.*has type SimpleNamespace.*Try: counts\.start\(counts\.results",
    ):
        et.start(minute(frame), SimpleNamespace())  # type: ignore[arg-type]
    with pytest.raises(et.errors.ArgumentTypeError, match=r"^writer=None has type NoneType"):
        minute(frame).start(None)  # type: ignore[arg-type]
    with pytest.raises(et.errors.ArgumentTypeError, match=r"^drain=1 has type int.*drain=True\)"):
        minute(frame).start(Writer(), drain=1)  # type: ignore[arg-type]
