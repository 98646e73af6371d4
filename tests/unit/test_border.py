"""The files in `tests/border`: what Python writes and reads is what the JVM reads and writes."""

from __future__ import annotations

import json
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, policies
from eventtide._text.durations import to_iso
from eventtide.errors import InvalidArgumentError, InvalidDurationError
from eventtide.observe._checkpoint import parse_report
from eventtide.observe._explain import explained
from eventtide.observe._progress import parse_progress
from eventtide.windows._key_time import IdleClock, ScopeName
from eventtide.windows._profiles import LateAction, LateRule, Profile
from eventtide.windows._settings import Settings
from eventtide.windows._shapes import Kind
from eventtide.windows._sizes import read_size
from eventtide.windows._triggers import TriggerName
from eventtide.windows._unframed import Touching

from tests.unit.fakes import column

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.fakes import FakeDoor, FakeFrame

BORDER = Path(__file__).parents[1] / "border"


def read(name: str) -> Any:
    """Return the content of a border file."""
    return json.loads((BORDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", read("options.json"), ids=lambda case: case["written"])
def test_a_policy_crosses_as_the_border_says(case: dict[str, Any]) -> None:
    """The same text, the same map."""
    policy = eval(case["written"], {"WatermarkPolicies": WatermarkPolicies})  # noqa: S307
    assert repr(policy) == case["written"]
    assert policy.to_options() == case["options"]


@pytest.mark.parametrize("case", read("watermark_options.json"), ids=lambda case: case["written"])
@pytest.mark.usefixtures("columns")
def test_a_watermark_crosses_as_the_border_says(
    case: dict[str, Any], door: FakeDoor, frame: FakeFrame
) -> None:
    """The same arguments, the same map."""
    policy = eval(f"WatermarkPolicies.{case['written']}", {"WatermarkPolicies": WatermarkPolicies})  # noqa: S307
    et.with_watermark(frame, "ts", policy, substream="device", **case["arguments"])
    assert door.calls[-1].watermark == case["options"]


@pytest.mark.parametrize("case", read("durations.json")["durations"], ids=str)
def test_a_duration_is_read_as_the_border_says(case: dict[str, str]) -> None:
    """The same option, or the same problem and the same fix."""
    assert case == crossed(case["text"], lambda: {"option": to_iso("lag", case["text"])})


@pytest.mark.parametrize("case", read("durations.json")["positive"], ids=str)
def test_a_positive_duration_is_read_as_the_border_says(case: dict[str, str]) -> None:
    """Zero is refused."""
    text = case["text"]
    assert case == crossed(text, lambda: {"option": to_iso("lag", text, positive=True)})


@pytest.mark.parametrize("case", read("durations.json")["sizes"], ids=str)
def test_a_size_is_read_as_the_border_says(case: dict[str, str]) -> None:
    """The option without a time zone and, for calendar units, with one."""

    def options() -> dict[str, str]:
        size = read_size("size", case["text"])
        zoned = {} if size.unit == "us" else {"zoned": size.iso(zoned=True)}
        return {"option": size.iso(zoned=False), **zoned}

    assert case == crossed(case["text"], options)


@pytest.mark.parametrize("case", read("origins.json"), ids=str)
@pytest.mark.usefixtures("columns")
def test_an_origin_is_read_as_the_border_says(
    case: dict[str, str], door: FakeDoor, frame: FakeFrame
) -> None:
    """The instant of a text, in a zone if there is one; refused without an option."""

    def results() -> object:
        window = et.window(frame).event_time("ts").tumbling("1 day").origin(case["text"])
        zoned = window.time_zone(case["zone"]) if "zone" in case else window
        return zoned.agg(column("count(1)")).results

    if "option" in case:
        assert results() is not None
        assert door.calls[-1].options["origin"] == case["option"]
    else:
        with pytest.raises(InvalidArgumentError) as error:
            results()
        assert error.value.argument == "origin"


def crossed(text: str, options: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Return the case of a text: its options, or the problem and the example of the error."""
    try:
        return {"text": text, **options()}
    except InvalidDurationError as error:
        example = str(error.fix).partition("=")[2].strip("'")
        return {"text": text, "problem": str(error.problem), "example": example}


def test_the_border_has_every_option_of_a_watermark() -> None:
    """A new one needs a case, which says in what form it is saved."""
    given = {name for case in read("watermark_options.json") for name in case["arguments"]}
    told = set(signature(et.with_watermark).parameters) - {"df", "event_time", "policy"}
    assert given == told - {"substream"}


@pytest.mark.parametrize("case", read("window_options.json"), ids=lambda case: case["written"])
@pytest.mark.usefixtures("columns")
def test_a_window_crosses_as_the_border_says(
    case: dict[str, Any], door: FakeDoor, frame: FakeFrame
) -> None:
    """The same text, the same map."""
    names = {"et": et, "frame": frame, "column": column}
    window = eval(f"et.window(frame).{case['written']}", names)  # noqa: S307
    assert window.agg(column("count(1)")).results._jdf == "a java frame"
    options = {name: text for name, text in door.calls[-1].options.items() if name != "event_time"}
    assert options == case["options"]


@pytest.mark.parametrize("case", read("window_refusals.json"), ids=lambda case: case["written"])
@pytest.mark.usefixtures("columns", "door")
def test_a_combination_is_refused_as_the_border_says(
    case: dict[str, Any], frame: FakeFrame
) -> None:
    """Before the JVM sees it, which refuses its options too."""
    names = {"et": et, "frame": frame, "n": column("count(1)")}
    with pytest.raises(InvalidArgumentError):
        _ = eval(f"et.window(frame).{case['written']}", names).results  # noqa: S307


@pytest.mark.parametrize("case", read("storm_options.json"), ids=lambda case: case["written"])
@pytest.mark.usefixtures("columns")
def test_a_bolt_crosses_as_the_border_says(case: dict[str, Any], frame: FakeFrame) -> None:
    """The same text, the same map, as aggregates or for a function."""
    names = {
        "StormWindow": et.storm.StormWindow,
        "Count": et.storm.Count,
        "shown": len,
        "frame": frame,
    }
    bolt, *function = case["written"].split(".execute")
    told = f"StormWindow().{bolt}.with_timestamp_field('ts').over(frame)"
    made = eval(told + "".join(f".execute{text}" for text in function), names)  # noqa: S307
    window = made if function else made.agg(column("count(1)"))
    assert window.settings.to_options() == case["options"]


@pytest.mark.parametrize("case", read("voltsp_options.json"), ids=lambda case: case["written"])
@pytest.mark.usefixtures("columns", "door")
def test_a_window_of_voltsp_crosses_as_the_border_says(
    case: dict[str, Any], frame: FakeFrame
) -> None:
    """The same text, the same map."""
    names = {**vars(et.voltsp), "WatermarkPolicies": WatermarkPolicies, **vars(et)}
    window = eval(f"Windows.{case['written']}", names)  # noqa: S307
    built = window.with_aggregate_definition(lambda builder: builder.count()).over(frame)
    assert built.settings.to_options() == case["options"]
    time = built.settings.event_time
    assert (time.watermark if time else {}) == case["watermark"]


def test_the_border_has_every_option_of_a_window() -> None:
    """A new setting needs a case, and each of its choices one."""
    cases = read("window_options.json")
    calls = " ".join(case["written"] for case in cases)
    for setting in fields(Settings):
        others = {"event_time", "key_by", "shape", "agg", "execution"}
        assert setting.name in others or setting.name in calls
    values = {value for case in cases for value in case["options"].values()}
    assert {
        *get_args(Kind),
        *get_args(Profile),
        *get_args(LateRule),
        *get_args(LateAction),
        *get_args(ScopeName),
        *get_args(IdleClock),
        *get_args(Touching),
        "session",
        "count",
    } <= values
    assert all(name in calls for name in get_args(TriggerName))


def test_the_border_has_every_policy_and_decorator() -> None:
    """A new one needs a case."""
    maps = [case["options"] for case in read("options.json")]
    names = {value for options in maps for value in options.values()}
    rules = [getattr(policies, name) for name in policies.__all__]
    assert {rule.name for rule in rules if hasattr(rule, "name")} <= names


def test_the_progress_of_the_border_is_read() -> None:
    """Active, silent and never seen substreams."""
    watermark = parse_progress(json.dumps(read("progress.json")))
    states = [one.state for source in watermark.inputs for one in source.substreams]
    assert states == ["active", "active", "idle", "idle"]
    assert watermark.late == {"behind_watermark": 4, "window_closed": 9}


def test_the_checkpoint_of_the_border_is_read() -> None:
    """Every key of the file has its place."""
    tree = read("checkpoint.json")
    report = parse_report(json.dumps(tree))
    assert report.watermark == parse_progress(json.dumps(tree["watermark"]))
    assert (report.orphans, report.orphan_bytes) == (0, 0)
    assert (report.ledger_entries, report.ledger_bytes) == (
        tree["ledgerEntries"],
        tree["ledgerBytes"],
    )
    assert str(report.closed_by) == "2024-01-01 00:00:15+00:00"
    assert report.windows[0].late == {"bad_time": 1, "window_closed": 1}
    assert (report.continues, report.problems) == (False, ("[LEDGER_UNREADABLE] ...",))
    assert "[CHECKPOINT_PLAN_CHANGED]" in (report.refusal or "")
    assert "size: 10s in the checkpoint, 15s in this query" in (report.refusal or "")
    assert report.plan[1] == f"window 0: {report.windows[0].structure}"
    assert len(tree) == len(fields(report))


def test_the_explanation_of_the_border_is_read() -> None:
    """Every value stands in the text."""
    tree = read("explain.json")
    text = explained(json.dumps(tree))
    (watermark,), (window,) = tree["watermarks"], tree["windows"]
    assert (watermark.pop("position"), window.pop("position")) == (0, 0)
    policy = watermark.pop("policy")
    for line in [*policy, *watermark.values(), *window.values(), *tree["notes"]]:
        assert line in text
