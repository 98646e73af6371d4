"""The table of settings: what it has is what the builders, the options, YAML and the docs have."""

from __future__ import annotations

import json
import re
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, get_args

import eventtide as et
import pytest
from eventtide._watermark import OnRestart
from eventtide.windows._closing import Closing
from eventtide.windows._framing import Framing
from eventtide.windows._key_time import IdleClock, ScopeName
from eventtide.windows._profiles import LateAction, LateRule, Profile
from eventtide.windows._timing import Timing
from eventtide.windows._unframed import Touching

from tests import settings_page, yaml_schema
from tests.pages import ROOT
from tests.unit.fakes import FakeFrame, column
from tests.unit.test_border import read

if TYPE_CHECKING:
    from tests.unit.fakes import FakeDoor

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


def test_the_table_has_every_setting_that_the_code_reads() -> None:
    """A session with another key is refused."""
    code = (ROOT / "jvm/spark/src/main/scala").rglob("*.scala")
    read_by_code = re.findall(
        r'"spark\.eventtide\.([\w.]+)"', "\n".join(file.read_text("utf-8") for file in code)
    )
    known = {row["option"] for row in ROWS if row["of"] in {"session", "server"}}
    assert {*read_by_code} - known == {"maxClockStep"}  # a default of `max_clock_step`


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


# A value of each default of a session, what `explain` says of it, and a value that is wrong.
DEFAULTS = {
    "profile": ("storm", "start < time <= end", "beam"),
    "late_rule": ("behind_watermark", "below the watermark", "later"),
    "delay": ("7m", "7m", "300"),
    "allowed_lateness": ("7m", "7m", "soon"),
    "late_retention": ("7m", "7m", "90"),
    "key_ttl": ("7m", "7m", "-5s"),
    "heartbeat": ("7m", "7m", "often"),
}


def with_default(window: et.WindowBuilder, name: str, value: str) -> et.WindowBuilder:
    """Return a window over rows of a session with a default."""
    frame = FakeFrame("ts", "site")
    frame.conf[settings_page.session_key(name)] = value
    return window.agg(column("count(1)")).over(frame)


def test_explain_knows_every_default_of_a_session() -> None:
    """Those of windows; `explain` has those of watermarks from the plan."""
    names = {row["option"] for row in ROWS if row["of"] == "window" and row.get("session")}
    assert names == {*DEFAULTS}


@pytest.mark.parametrize("name", DEFAULTS)
def test_explain_shows_a_default_of_the_session(name: str) -> None:
    """A wrong one is refused under its key; one of the window's own stays."""
    window = et.window().key_by("site").tumbling("1m").key_idle_timeout("5m")
    value, said, wrong = DEFAULTS[name]
    assert said in with_default(window, name, value).explained()
    assert said not in window.agg(column("count(1)")).over(FakeFrame("ts", "site")).explained()
    with pytest.raises(et.errors.InvalidArgumentError) as refused:
        with_default(window, name, wrong).explained()
    assert refused.value.argument == settings_page.session_key(name)
    assert refused.value.value == wrong


@pytest.mark.parametrize(
    ("window", "name"),
    [
        (et.window().by_count(3), "delay"),
        (et.window().tumbling("1m").processing_time(), "delay"),
        (et.window().tumbling("1m").processing_time(), "late_retention"),
        (et.window().tumbling("1m").late("count"), "late_retention"),
        (et.window().tumbling("1m"), "heartbeat"),
        (et.window().tumbling("1m").key_idle_timeout("5m"), "key_ttl"),
        (et.window().tumbling("1m").delay("0s"), "delay"),
        (et.window().tumbling("1m").profile("voltsp"), "late_rule"),
    ],
)
def test_a_window_has_only_the_defaults_that_it_can_have(
    window: et.WindowBuilder, name: str
) -> None:
    """It is explained as without."""
    plain = window.agg(column("count(1)")).over(FakeFrame("ts", "site"))
    assert with_default(window, name, "7m").explained() == plain.explained()


@pytest.mark.usefixtures("columns")
def test_a_default_is_checked_with_the_settings_of_the_window(door: FakeDoor) -> None:
    """What needs it is allowed, and its option crosses."""
    window = et.window().tumbling("1m").emit(late_updates=True)
    assert with_default(window, "allowed_lateness", "90s").results._jdf == "a java frame"
    assert door.calls[-1].options["allowed_lateness"] == "PT90S"


def test_the_page_of_settings_is_that_of_the_table() -> None:
    """After a change: dev/tables."""
    assert settings_page.PAGE.read_text("utf-8") == settings_page.page()


def test_the_schema_is_that_of_the_table() -> None:
    """After a change: dev/tables."""
    assert json.loads(yaml_schema.SCHEMA.read_text("utf-8")) == yaml_schema.schema()
