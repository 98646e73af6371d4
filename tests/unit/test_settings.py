"""The table of settings: what it has is what the builders, the options, YAML and the docs have."""

from __future__ import annotations

import json
from inspect import Parameter, signature
from typing import Any, get_args

import eventtide as et
import pytest
from eventtide._watermark import OnRestart
from eventtide.windows import _defaults
from eventtide.windows._closing import Closing
from eventtide.windows._framing import Framing
from eventtide.windows._key_time import IdleClock, ScopeName
from eventtide.windows._profiles import LateAction, LateRule, Profile
from eventtide.windows._timing import Timing
from eventtide.windows._unframed import Touching

from tests import settings_page, yaml_schema
from tests.unit.fakes import FakeFrame
from tests.unit.test_border import read

ROWS = settings_page.rows()
METHODS = {
    name: method
    for half in (Framing, Timing, Closing)
    for name, method in vars(half).items()
    if not name.startswith("_")
}


def arguments(method: str, function: Any) -> set[str]:
    """Return the arguments of a method as the table names them."""
    names = set(signature(function).parameters) - {"self", "df"}
    return {f"{method}.{name}" for name in names} or {method}


def test_the_table_has_every_argument() -> None:
    """Of `with_watermark`, and of each method of a window."""
    written = {name for row in ROWS for name in row.get("python", ()) if "storm." not in name}
    known = arguments("with_watermark", et.with_watermark)
    for name, method in METHODS.items():
        known |= arguments(name, method)
    assert {name.removesuffix(".") for name in written} == known


def test_both_ways_to_a_watermark_have_the_same_arguments() -> None:
    """`with_watermark`, the function for `transform`, and `event_time`."""
    whole, short = signature(et.with_watermark).parameters, signature(et.watermark).parameters
    in_window = signature(Framing.event_time).parameters
    options = [*whole][3:]
    assert [*short][2:] == options == [*in_window][3:]
    for one in options:
        assert whole[one].default == short[one].default == in_window[one].default


def test_the_table_has_every_option() -> None:
    """As the border has them: those of triggers and policies are none of a window's."""
    told = {row["option"] for row in ROWS if "option" in row and row["of"] == "window"}
    cases = read("window_options.json") + read("storm_options.json")
    options = {name for case in cases for name in case["options"]}
    assert options - {"kind", "every", "every_rows"} == told
    of_watermark = {row["option"] for row in ROWS if "option" in row and row["of"] == "watermark"}
    whole = signature(et.with_watermark).parameters.values()
    assert {one.name for one in whole if one.kind == Parameter.KEYWORD_ONLY} == {
        *of_watermark,
        "substream",
    }


def test_the_choices_of_the_table_are_those_of_the_types() -> None:
    """A new one is in both."""
    types = {
        "touching": Touching,
        "profile": Profile,
        "late_rule": LateRule,
        "late": LateAction,
        "key_idle_clock": IdleClock,
        "on_restart": OnRestart,
    }
    choices = {row["option"]: row["choices"] for row in ROWS if row["type"] == "choice"}
    assert choices.pop("result") == ["rows", "aggregates"]
    assert {name: set(values) for name, values in choices.items()} == {
        name: set(get_args(kind)) for name, kind in types.items()
    }
    [scope] = [row["choices"] for row in ROWS if row.get("option") == "scope"]
    assert {*scope, "group"} == set(get_args(ScopeName))


def test_explain_knows_every_default_of_a_session() -> None:
    """Those of windows; `explain` has those of watermarks from the plan."""
    names = {row["option"] for row in ROWS if row["of"] == "window" and row.get("session")}
    assert {*_defaults._OF_ALL, *_defaults._OF_TIME} == names


@pytest.mark.parametrize(
    ("window", "shown"),
    [
        (et.window().tumbling("1m"), True),
        (et.window().session("5m"), True),
        (et.window().by_count(3), False),
        (et.window().tumbling("1m").delay("0s"), False),
    ],
)
@pytest.mark.usefixtures("columns")
def test_explain_shows_a_default_of_the_session(window: et.WindowBuilder, shown: bool) -> None:
    """Where the window has the setting, and none of its own."""
    frame = FakeFrame("ts")
    frame.conf["spark.eventtide.delay"] = "7m"
    text = window.agg(et.windows._sql.SqlAggregate("n", "count(*)").column).over(frame).explained()
    assert ("7m" in text) == shown


def test_the_page_of_settings_is_that_of_the_table() -> None:
    """After a change: dev/tables."""
    assert settings_page.PAGE.read_text("utf-8") == settings_page.page()


def test_the_schema_is_that_of_the_table() -> None:
    """After a change: dev/tables."""
    assert json.loads(yaml_schema.SCHEMA.read_text("utf-8")) == yaml_schema.schema()
