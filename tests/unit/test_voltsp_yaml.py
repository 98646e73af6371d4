"""Windows as YAML: what is read is what the builder says, and is written as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from copy import deepcopy
from datetime import date, timedelta
from importlib.resources import files
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
import yaml
from eventtide import WindowTrigger as Trigger
from eventtide.voltsp import TimeConfig, TimeSource, Windows
from eventtide.voltsp.document.schema import schema
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.fakes import column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from eventtide.voltsp import VoltSPWindow

    from tests.unit.fakes import FakeDoor, FakeFrame

PAGE = """\
version: 1
name: "WindowedPipeline"
emitter:
  tumbling-time-window:
    windowSpan: 1h
    keyExtractor: device
    timeConfig:
      eventTimeExtractor: "ts"
      idleTimeout: 5m
    aggregateDefinition:
      builder:
      - type: count
      - type: sum
        column: Amount
        as: total
    triggers:
    - trigger: atWindowEnd
"""
HOURLY = (
    Windows.tumbling_time_window()
    .with_window_span("1h")
    .with_key_extractor("device")
    .with_time_config(TimeConfig("ts", idle_timeout="5m"))
    .with_aggregate_definition(lambda builder: builder.count().sum("total", "Amount"))
    .emit(Trigger.at_window_end)
)
KINDS = [
    "tumbling-time-window",
    "sliding-time-window",
    "session-window",
    "tumbling-count-window",
    "sliding-count-window",
]
COUNT = "aggregateDefinition: {builder: [{type: count}]}"


def test_the_page_is_read() -> None:
    """Its layout, with columns in place of Java's methods."""
    assert repr(et.voltsp.from_yaml(PAGE)) == repr(HOURLY)


@pytest.mark.usefixtures("columns")
def test_a_document_is_a_window_over_rows(door: FakeDoor, frame: FakeFrame) -> None:
    """As the builder makes it."""
    window, expected = et.voltsp.from_yaml(PAGE).over(frame), HOURLY.over(frame)
    assert isinstance(window, et.WindowBuilder)
    assert repr(window) == repr(expected)
    assert window.explained() == expected.explained()
    assert window.results is not None
    assert expected.results is not None
    first, second = door.calls
    assert first == second


def test_a_document_may_be_in_a_file(tmp_path: Path) -> None:
    """Named by a Path, or by text with the ending of such files."""
    file = tmp_path / "window.yaml"
    file.write_text(PAGE, encoding="utf-8")
    assert repr(et.voltsp.from_yaml(file)) == repr(HOURLY)
    assert repr(et.voltsp.from_yaml(str(file))) == repr(HOURLY)


def test_the_window_may_stand_at_the_top() -> None:
    """Without the pipeline around it."""
    lines = PAGE.splitlines()
    text = dedent("\n".join(lines[3:]))
    assert text.startswith("tumbling-time-window:")
    assert repr(et.voltsp.from_yaml(text)) == repr(HOURLY)


def counted(window: VoltSPWindow) -> VoltSPWindow:
    """Return a window that counts."""
    return window.with_aggregate_definition(lambda builder: builder.count())


WRITTEN = [
    HOURLY,
    counted(Windows.tumbling_time_window().with_window_span("1h")),
    counted(Windows.sliding_time_window().with_window_span("1m").with_slide("1s"))
    .with_key_extractor("device", "upper(site)")
    .with_time_config(
        TimeConfig(
            "to_timestamp(at)",
            "MAX_EVENT_TIME",
            "5s",
            "5m",
            "EVENT_TIME",
            scope=["device"],
            late_rule="behind_watermark",
            heartbeat="2s",
            key_ttl="2h",
        )
    )
    .with_late("log")
    .with_late_to("s3://bucket/late: 1"),
    counted(Windows.tumbling_time_window().with_window_span("1m"))
    .with_key_extractor("device")
    .with_time_config(TimeConfig("ts", max_rows_per_batch=1)),
    counted(Windows.session_window())
    .with_time_config(TimeConfig("ts", idle_timeout="5m", scope="global"))
    .with_maximum_duration("1h")
    .with_touching("merge"),
    counted(Windows.tumbling_count_window().with_window_span(100)),
    counted(Windows.sliding_count_window().with_window_span(100).with_slide(10)).emit(
        "on_update", Trigger.every("10s"), Trigger.every_rows(5), Trigger.when("count > 'ä'")
    ),
    Windows.tumbling_time_window()
    .with_window_span("1h")
    .with_aggregate_definition(
        lambda builder: (
            builder.count("seen", "Amount")
            .avg("mean", "Amount * 2")
            .min("first", "ts")
            .max("last", "ts")
            .expression("ok", "count_if(Amount > 0)")
        )
    ),
]


@pytest.mark.parametrize("window", WRITTEN, ids=lambda window: window.kind)
def test_what_was_written_is_read_back(window: VoltSPWindow) -> None:
    """With everything that it was told."""
    text = window.to_yaml()
    assert repr(et.voltsp.from_yaml(text)) == repr(window)
    assert et.voltsp.from_yaml(text).to_yaml() == text


@pytest.mark.usefixtures("columns")
def test_durations_are_written_as_text(frame: FakeFrame) -> None:
    """And mean the same when they are read."""
    second, hour = timedelta(milliseconds=1500), timedelta(hours=1)
    config = TimeConfig("ts", delay_window_close=second, idle_timeout=timedelta(days=2))
    window = counted(Windows.tumbling_time_window()).with_window_span(hour)
    window = window.with_key_extractor("device").with_time_config(config)
    read = et.voltsp.from_yaml(window.to_yaml())
    assert read.to_yaml() == window.to_yaml()
    assert read.over(frame).explained() == window.over(frame).explained()


def test_a_window_is_written_as_the_page_has_it() -> None:
    """Names of enumerations in upper case, durations as text."""
    config = TimeConfig("ts", idle_timeout="5m", idle_timeout_clock=TimeSource.EVENT_TIME)
    assert HOURLY.with_time_config(config).to_yaml() == (
        PAGE.replace('name: "WindowedPipeline"\n', "")
        .replace('"ts"', "ts")
        .replace("idleTimeout: 5m\n", "idleTimeout: 5m\n      idleTimeoutClock: EVENT_TIME\n")
        .replace("- type: count\n", "- type: count\n        as: count\n")
    )


@pytest.mark.parametrize(
    ("window", "name"),
    [
        (HOURLY.with_key_extractor(column("site")), "key_extractor"),
        (HOURLY.with_time_config(TimeConfig(column("ts"))), "event_time_extractor"),
        (HOURLY.with_time_config(TimeConfig("ts", scope=[column("site")])), "scope"),
        (
            HOURLY.with_time_config(TimeConfig(policy=et.WatermarkPolicies.with_fixed_lag("5s"))),
            "policy",
        ),
        (HOURLY.with_exception_handler(print), "exception_handler"),
        (HOURLY.with_aggregate_definition(lambda a: a.agg(column("n"))), "agg"),
        (HOURLY.with_aggregate_definition(lambda a: a.sum("n", column("n"))), "column"),
        (HOURLY.emit(Trigger.when(column("n"))), "when"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_what_is_no_text_cannot_be_written(window: VoltSPWindow, name: str) -> None:
    """Columns, functions and policies stay in Python."""
    with pytest.raises(
        et.errors.InvalidArgumentError, match=f"^{name}=.* cannot be written as YAML"
    ):
        window.to_yaml()


@pytest.mark.parametrize("written", ["atWindowEnd", "at_window_end", "ATWINDOWEND"])
def test_a_trigger_has_its_name_in_any_case(written: str) -> None:
    """As enumerations have."""
    text = f"tumbling-time-window: {{windowSpan: 1h, {COUNT}, triggers: [{{trigger: {written}}}]}}"
    assert et.voltsp.from_yaml(text).triggers == (Trigger.at_window_end,)


def test_the_schema_is_that_of_the_model() -> None:
    """After a change: python -m eventtide.voltsp.document.schema."""
    kept = files("eventtide.voltsp.document").joinpath("schema.json").read_text(encoding="utf-8")
    assert json.loads(kept) == json.loads(schema())


def test_the_schema_knows_what_is_read() -> None:
    """Every document of this file is valid by it, and one with another key is not."""
    jsonschema = pytest.importorskip("jsonschema")
    valid = jsonschema.Draft202012Validator(json.loads(schema())).is_valid
    for text in [PAGE, *(window.to_yaml() for window in WRITTEN)]:
        assert valid(yaml.safe_load(text))
        assert not valid({**yaml.safe_load(text), "source": {}})
    for kind in KINDS:
        assert not valid({kind: {}})


@given(st.text(alphabet="{}[]:,-&*!#'\" \n\tab1é\0", max_size=60) | st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    """It is a window, or an error of ours."""
    with pytest.raises(et.EventtideError):
        et.voltsp.from_yaml(text + "\n")


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value below this one."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield (*path, key)
        yield from places(data[key], (*path, key))


WHOLE = yaml.safe_load(WRITTEN[2].emit("at_window_end", Trigger.every("5s")).to_yaml())
ODD: list[Any] = [None, True, -1, 1.5, 10**30, float("nan"), "", "a=b", "Event::x", "a#b", b"x"]
ODD += [date(2020, 1, 1), {}, [], [None], {"a": 1}, ["a", "a"], {"every": None}, {"when": {}}]


@given(st.sampled_from(list(places(WHOLE))), st.sampled_from(ODD), st.sampled_from(KINDS))
def test_no_value_breaks_the_reader(path: tuple[Any, ...], value: object, kind: str) -> None:
    """With it in any place, there is a window or an error of ours with all of its parts."""
    data = deepcopy(WHOLE)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if len(path) > 1:
        data["emitter"] = {kind: data["emitter"]["sliding-time-window"]}
    try:
        window = et.voltsp.from_yaml(yaml.safe_dump(data))
    except et.EventtideError as error:
        assert str(error).startswith("line ")  # noqa: PT017 - most are errors, and some are not
        assert str(error).index(" Allowed: ") < str(error).index(" Try: ")  # noqa: PT017
    else:
        assert repr(et.voltsp.from_yaml(window.to_yaml())) == repr(window)


WITHOUT = """
import sys
sys.modules[{missing!r}] = None
import eventtide as et
try:
    et.voltsp.from_yaml("version: 1")
except et.errors.SetupError as error:
    print(error)
"""


@pytest.mark.parametrize("missing", ["pydantic", "yaml"])
def test_without_the_extra_only_yaml_is_missing(missing: str) -> None:
    """The package is there, and one sentence says what to install."""
    code = WITHOUT.format(missing=missing)
    ran = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    message = f"YAML needs {missing}, which is not installed. Try: pip install 'eventtide[yaml]'."
    assert ran.stdout.strip() == message
