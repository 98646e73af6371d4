"""`with_watermark` and `with_ingestion_time`: what crosses to the JVM, what is refused before."""

from __future__ import annotations

from datetime import timedelta
from inspect import signature
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import (
    EventtideError,
    WatermarkPolicies,
    watermark,
    with_ingestion_time,
    with_watermark,
)
from eventtide.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    UnknownColumnError,
)

from tests.unit.fakes import FakeFrame, Requested, column

if TYPE_CHECKING:
    from tests.unit.fakes import FakeDoor

LAG = WatermarkPolicies.with_fixed_lag("5s")
SMALLEST = {"policy": "with_fixed_lag", "lag": "PT5S"}


pytestmark = pytest.mark.usefixtures("columns")


def smallest(frame: FakeFrame) -> Requested:
    """Return the request of a watermark with nothing but its policy."""
    return Requested("with_watermark", frame._jdf, {"event_time": "ts"}, SMALLEST, {})


def test_the_smallest_call_crosses_without_what_is_not_set(
    door: FakeDoor, frame: FakeFrame
) -> None:
    """The Java frame, the event time, no substream, and the options."""
    result = with_watermark(frame, "ts", LAG)
    assert door.calls == [smallest(frame)]
    assert result._jdf == "a java frame"


def test_every_option_crosses_as_text(door: FakeDoor, frame: FakeFrame) -> None:
    """Durations in ISO 8601, names one by one."""
    with_watermark(
        frame,
        "ts",
        LAG,
        substream=["site", column("device")],
        substream_idle_timeout=timedelta(minutes=1),
        expected=["north", "south"],
        max_substreams=10,
        on_restart="resume",
    )
    [crossed] = door.calls
    assert crossed.columns == {"substream": ["java site", "java device"]}
    assert crossed.watermark == {
        **SMALLEST,
        "substream_idle_timeout": "PT60S",
        "expected.0": "north",
        "expected.1": "south",
        "max_substreams": "10",
        "on_restart": "resume",
    }


@pytest.mark.parametrize("substream", ["device", ["device"], ("device",)])
def test_a_substream_is_a_name_or_a_list(
    door: FakeDoor, frame: FakeFrame, substream: str | list[str]
) -> None:
    """One name needs no list."""
    with_watermark(frame, "ts", LAG, substream=substream)
    assert door.calls[0].columns == {"substream": ["java device"]}


def test_a_substream_may_be_an_expression(door: FakeDoor, frame: FakeFrame) -> None:
    """Spark resolves what is in it."""
    with_watermark(frame, "ts", LAG, substream=column("hash(device)"))
    assert door.calls[0].columns == {"substream": ["java hash(device)"]}


@pytest.mark.parametrize(("expected", "options"), [(3, {"expected": "3"}), (None, {})])
def test_expected_may_be_a_count(
    door: FakeDoor, frame: FakeFrame, expected: int | None, options: dict[str, str]
) -> None:
    """Then the substreams have no names yet."""
    with_watermark(frame, "ts", LAG, expected=expected)
    assert door.calls[0].watermark == {**SMALLEST, **options}


@pytest.mark.parametrize(
    "name", ["TS", "meta.ts", "`odd name`", "_metadata.file_modification_time"]
)
def test_names_that_only_spark_can_look_up_cross(
    door: FakeDoor, frame: FakeFrame, name: str
) -> None:
    """Nested, quoted and metadata names, and names in another case."""
    with_watermark(frame, name, LAG, substream=name)
    assert door.calls[0].options == {"event_time": name}


def test_an_event_time_may_be_a_column(door: FakeDoor, frame: FakeFrame) -> None:
    """One that names a column crosses as the name."""
    with_watermark(frame, column("ts"), LAG)
    with_watermark(frame, column("meta.ts"), LAG)
    assert [call.options["event_time"] for call in door.calls] == ["ts", "meta.ts"]


def test_a_watermark_is_a_function_for_transform(door: FakeDoor, frame: FakeFrame) -> None:
    """It crosses as `with_watermark` does, with every argument."""
    arguments: dict[str, Any] = {
        "substream": ["site", "device"],
        "substream_idle_timeout": "1m",
        "expected": 2,
        "max_substreams": 10,
        "substream_ttl": "7d",
        "max_clock_step": "5m",
        "on_restart": "resume",
        "name": "orders",
    }
    others = set(signature(watermark).parameters) - {"event_time", "policy"}
    assert set(arguments) == others
    assert others == set(signature(with_watermark).parameters) - {"df", "event_time", "policy"}
    assert frame.transform(watermark("ts", LAG, **arguments))._jdf == "a java frame"
    with_watermark(frame, "ts", LAG, **arguments)
    assert door.calls[0] == door.calls[1]
    frame.transform(watermark("ts", LAG))
    assert door.calls[2] == smallest(frame)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"df": "events"}, ArgumentTypeError, "^df='events' has type str"),
        ({"event_time": 5}, ArgumentTypeError, "^event_time=5 has type int"),
        ({"event_time": ""}, InvalidArgumentError, "^event_time='' is empty"),
        ({"name": 5}, ArgumentTypeError, "^name=5 has type int.*Try: name='orders'.$"),
        ({"name": ""}, InvalidArgumentError, "^name='' is empty"),
        (
            {"event_time": "time"},
            UnknownColumnError,
            "^event_time='time' is not a column.*one of ts,",
        ),
        ({"event_time": "t"}, UnknownColumnError, "Try: event_time='ts'"),
        ({"policy": "5s"}, ArgumentTypeError, "^policy='5s' has type str.*with_fixed_lag"),
        (
            {"policy": "10 seconds"},
            ArgumentTypeError,
            r"Try: policy=WatermarkPolicies.with_fixed_lag\('10 seconds'\)",
        ),
        (
            {"policy": WatermarkPolicies.storm},
            ArgumentTypeError,
            r"^policy=.* is not called.*Try: policy=WatermarkPolicies.storm\(\.\.\.\)",
        ),
        (
            {"event_time": column("ts + 1")},
            InvalidArgumentError,
            r"^event_time=Column<'ts \+ 1'> is an expression.* Try: df\.withColumn\('ts', ts ",
        ),
        ({"substream": 7}, ArgumentTypeError, "^substream=7 has type int"),
        ({"substream": [7]}, ArgumentTypeError, "^substream=7 has type int"),
        ({"substream": []}, InvalidArgumentError, r"^substream=\[\] is empty"),
        ({"substream": ""}, InvalidArgumentError, "^substream='' is empty"),
        ({"substream": ["site", "site"]}, InvalidArgumentError, "has a name twice"),
        ({"substream": "devise"}, UnknownColumnError, "^substream='devise'.*'device'.$"),
        (
            {"substream_idle_timeout": 60},
            InvalidDurationError,
            "^substream_idle_timeout=60 .*substream_idle_timeout='60s'.$",
        ),
        (
            {"substream_idle_timeout": "0s"},
            InvalidDurationError,
            "^substream_idle_timeout='0s' is zero",
        ),
        ({"expected": 0}, InvalidArgumentError, "^expected=0 is out of range"),
        ({"expected": True}, ArgumentTypeError, "^expected=True has type bool"),
        ({"expected": 1.5}, ArgumentTypeError, "^expected=1.5 is not a list"),
        ({"expected": "north"}, ArgumentTypeError, "^expected='north' is one name, not a list"),
        ({"expected": []}, InvalidArgumentError, r"^expected=\[\] is empty"),
        ({"expected": ["a", "a"]}, InvalidArgumentError, "has a name twice"),
        ({"expected": ["a", 1]}, ArgumentTypeError, r"^expected\[1\]=1 has type int"),
        ({"expected": [""]}, InvalidArgumentError, r"^expected\[0\]='' is empty"),
        ({"max_substreams": 0}, InvalidArgumentError, "^max_substreams=0 is out of range"),
        ({"max_substreams": 2**31}, InvalidArgumentError, "^max_substreams=2147483648"),
        ({"max_substreams": "many"}, ArgumentTypeError, "^max_substreams='many' has type str"),
        ({"on_restart": "wait"}, InvalidArgumentError, "'hold_until_caught_up', 'resume'"),
        ({"on_restart": ["resume"]}, InvalidArgumentError, "is unknown"),
    ],
)
def test_a_wrong_argument_is_refused_before_the_jvm_is_asked(
    door: FakeDoor,
    frame: FakeFrame,
    arguments: dict[str, Any],
    error: type[EventtideError],
    message: str,
) -> None:
    """The error has the argument, the value, what is allowed and what to try."""
    with pytest.raises(error, match=message) as caught:
        with_watermark(**{"df": frame, "event_time": "ts", "policy": LAG, **arguments})
    assert "Allowed: " in str(caught.value)
    assert "Try: " in str(caught.value)
    assert door.calls == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"event_time": 5}, "^event_time=5 has type int"),
        ({"policy": 5}, "^policy=5 has type int.*with_fixed_lag"),
        ({"substream": 5}, "^substream=5 has type int"),
        ({"expected": 1.5}, "^expected=1.5 is not a list"),
    ],
)
def test_a_wrong_argument_of_a_function_for_transform_is_refused_where_it_is_made(
    arguments: dict[str, Any], message: str
) -> None:
    """Not where it gets a DataFrame."""
    with pytest.raises(ArgumentTypeError, match=message):
        watermark(**{"event_time": "ts", "policy": LAG, **arguments})


def test_a_frame_without_columns_is_refused_in_words(door: FakeDoor) -> None:
    """The message about an unknown column does not itself fail."""
    with pytest.raises(UnknownColumnError, match="is not a column"):
        with_watermark(FakeFrame(), "ts", LAG)
    assert door.calls == []


def test_an_error_about_a_wide_frame_stays_short(door: FakeDoor) -> None:
    """The nearest of all columns is still found."""
    wide = FakeFrame(*(f"column_{i}" for i in range(10_000)), "event_ts")
    with pytest.raises(
        UnknownColumnError, match=r"9981 more\. Try: event_time='event_ts'"
    ) as error:
        with_watermark(wide, "event_tz", LAG)
    assert len(str(error.value)) < 500
    assert door.calls == []


def test_ingestion_time_crosses_with_its_policy(door: FakeDoor, frame: FakeFrame) -> None:
    """Plain by default, decorated on request."""
    with_ingestion_time(frame)
    policy = WatermarkPolicies.with_ingestion_time().throttle_by_min_step("1s")
    with_ingestion_time(frame, into="seen", policy=policy)
    first, second = door.calls
    assert (first.name, first.rows) == ("with_ingestion_time", frame._jdf)
    assert (first.options, second.options) == ({"into": "ingested_at"}, {"into": "seen"})
    assert first.watermark == {"policy": "with_ingestion_time"}
    assert second.watermark == policy.to_options()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"df": None}, ArgumentTypeError, "^df=None"),
        ({"into": None}, ArgumentTypeError, "^into=None"),
        ({"into": ""}, InvalidArgumentError, "^into='' is empty"),
        ({"into": "ts"}, InvalidArgumentError, "^into='ts' is already a column"),
        ({"into": "TS"}, InvalidArgumentError, "^into='TS' is already a column"),
        ({"policy": LAG}, ArgumentTypeError, "^policy=.*has type WithFixedLag"),
    ],
)
def test_a_wrong_argument_of_ingestion_time_is_refused(
    door: FakeDoor,
    frame: FakeFrame,
    arguments: dict[str, Any],
    error: type[EventtideError],
    message: str,
) -> None:
    """Before the JVM is asked, in the same form."""
    with pytest.raises(error, match=message):
        with_ingestion_time(**{"df": frame, **arguments})
    assert door.calls == []
