"""Windows and policies as YAML: what is written is what is read, and what is refused."""

from __future__ import annotations

import json
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import eventtide as et
import pytest
import yaml
from eventtide import EventtideError, WatermarkPolicies
from eventtide.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    UnknownColumnError,
)
from eventtide.policies import PythonPolicy

from tests import yaml_schema
from tests.unit.fakes import FakeFrame, column
from tests.unit.refusals import assert_refused
from tests.unit.test_border import read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.fakes import FakeDoor

PAGE = """\
event_time:
  column: ts
  policy:
    name: max_of
    of:
    - {name: with_fixed_lag, lag: 5s}
    - {name: limiting_real_time_lag, lag: 1h}
    decorators:
    - {name: throttle_by_frame, size: 10s}
  substream: device
  expected: [north, south]
key_by: [site, device]
sliding: {size: 1m, every: 10s}
emit: {triggers: [at_window_end, every: 30s], late_updates: true}
allowed_lateness: 1m
agg: {n: count(*)}
"""


def is_valid(text: str) -> bool:
    """Return whether the schema has the document."""
    jsonschema: Any = import_module("jsonschema")  # untyped
    validator = jsonschema.Draft202012Validator(yaml_schema.schema())
    return bool(validator.is_valid(yaml.safe_load(text)))


class Halved(PythonPolicy):
    """A policy in Python."""

    name: ClassVar[str] = "halved"

    def advance(self, times: Any, state: Any) -> Any:
        """Return the lowest time."""
        return times.lowest, state


@pytest.mark.parametrize("case", read("options.json"), ids=lambda case: case["written"])
def test_a_policy_is_read_as_it_was_written(case: dict[str, Any]) -> None:
    """Each policy and decorator; the schema has it."""
    policy = eval(case["written"], {"WatermarkPolicies": WatermarkPolicies})  # noqa: S307
    text = policy.to_yaml()
    assert et.policies.from_yaml(text) == policy
    assert et.policies.from_yaml(text).to_yaml() == text
    assert is_valid(json.dumps({"event_time": {"column": "ts", "policy": yaml.safe_load(text)}}))


def test_a_policy_of_a_jar_is_read_as_it_was_written() -> None:
    """It says that it is one."""
    policy = WatermarkPolicies.from_jar("trimmed_lag", lag="5s", rows=100).emit_every("1s")
    assert et.policies.from_yaml(policy.to_yaml()) == policy


def test_a_duration_of_python_is_written_as_text() -> None:
    """As an equal one."""
    policy = WatermarkPolicies.with_fixed_lag(timedelta(seconds=90))
    assert "lag: 1m 30s" in policy.to_yaml()
    assert et.policies.from_yaml(policy.to_yaml()) == policy


WINDOWS = [
    case
    for case in read("window_options.json")
    if "on_late" not in case["written"] and "column(" not in case["written"]
]


@pytest.mark.parametrize("case", WINDOWS, ids=lambda case: case["written"])
def test_a_window_is_read_as_it_was_written(case: dict[str, Any]) -> None:
    """Each setting and each of its choices; the schema has it."""
    window = eval(f"et.window().{case['written']}", {"et": et})  # noqa: S307
    text = window.to_yaml()
    assert repr(et.from_yaml(text)) == repr(window)
    assert et.from_yaml(text).settings.to_options() == case["options"]
    assert is_valid(text)


def test_the_page_is_read() -> None:
    """As the methods say it."""
    policies = (
        WatermarkPolicies.with_fixed_lag("5s"),
        WatermarkPolicies.limiting_real_time_lag("1h"),
    )
    policy = WatermarkPolicies.max_of(*policies).throttle_by_frame("10s")
    window = (
        et.window()
        .event_time("ts", policy, substream="device", expected=["north", "south"])
        .key_by("site", "device")
        .sliding("1m", every="10s")
        .allowed_lateness("1m")
        .emit("at_window_end", et.WindowTrigger.every("30s"), late_updates=True)
    )
    read = et.from_yaml(PAGE)
    assert repr(read) == f"{window!r}.agg(F.expr('count(*)').alias('n'))".replace(".emit", ".emit")
    assert et.from_yaml(read.to_yaml()).to_yaml() == read.to_yaml()
    assert is_valid(PAGE)


@pytest.mark.usefixtures("columns")
def test_a_document_makes_the_window_that_python_makes(door: FakeDoor) -> None:
    """Over the same rows, with the same aggregates."""
    frame = FakeFrame("ts", "site", "device")
    _ = et.from_yaml(PAGE).over(frame).results
    [call] = door.calls
    assert "java expr count(*) AS n" in str(call)


def test_a_document_can_be_a_file(tmp_path: Path) -> None:
    """By its path, or by a text that ends as one."""
    file = tmp_path / "window.yaml"
    file.write_text("tumbling: 1m\n", "utf-8")
    for path in (file, str(file)):
        assert repr(et.from_yaml(path)) == "et.window().tumbling('1m')"


A, T, D = InvalidArgumentError, ArgumentTypeError, InvalidDurationError
METHODS, NAMES = "event_time, key_by, tumbling", "'with_fixed_lag', 'with_late_target'"
SLIDING, AGG = "sliding: {size: 1m, every: 10s}", "agg: {n: count(*)}"
EMIT = "emit: {triggers: [at_window_end, every: 30s], late_updates: true}"
POLICY = "    - {name: with_fixed_lag, lag: 5s}"
PLACE = "event_time.policy.of[0]"
DECORATOR = "    - {name: throttle_by_frame, size: 10s}"

Case = tuple[str, type[EventtideError], str, str, str]

# By the line that is replaced: what stands there, the error, how it begins, what it says is
# allowed, and what it tries.
WRONG: dict[str, list[Case]] = {
    SLIDING: [
        ("sliding: {size: 1m}", A, "line 13, sliding.every: is missing", "size, every", "every"),
        ("sliding: 1m", A, "line 13, sliding.every: is missing", "size, every", "every"),
        ("sliding: {evry: 1m}", A, "line 13, sliding.evry: is an unknown key", "size", "every in"),
        ("slidin: 1m", A, "line 13, slidin: is an unknown key", METHODS, "sliding in its place"),
        ("tumbling: 10 sek", D, "line 13, tumbling: '10 sek' has the unknown", "w, d", "10 sec"),
        ("tumbling: 7", D, "line 13, tumbling: 7 is a number without", "text", "tumbling: '7s'"),
        ("tumbling:", A, "line 13, tumbling: is empty", "a value", "remove tumbling"),
        ("on_late: print", A, "line 13, on_late: is a function", METHODS, "in Python"),
        ("results: 1", A, "line 13, results: is an unknown key", METHODS, "remove results"),
        ("key_by: site", A, "line 13, key_by: is already set on line 12", "once", "remove"),
        (
            "sliding: {size: 1m, every: 7s}",
            D,
            "line 13, sliding.size: '1m' is not a multiple of every='7s'",
            "a multiple",
            "every: '6s' or every: '10s'",
        ),
    ],
    POLICY: [
        ("    - {name: lag}", A, f"line 6, {PLACE}.name: 'lag' is unknown", NAMES, "name: 'with"),
        ("    - {name: with_fixed_lag}", A, f"line 6, {PLACE}.lag: is missing", "lag", "lag"),
        ("    - {lag: 5s}", A, f"line 6, {PLACE}.name: is missing", "a policy", "lag: 5s"),
        ("    - storm", T, f"line 6, {PLACE}: 'storm' has type str", "a policy", "lag: 5s"),
        ("    - {name: storm, lag: 5}", D, f"line 6, {PLACE}.lag: 5 is a number", "text", "'5s'"),
        ("    - {name: storm, leg: 5s}", A, f"line 6, {PLACE}.leg: is an unknown", "lag", "lag in"),
    ],
    DECORATOR: [
        ("    - {name: x}", A, "line 9, event_time.policy.decorators[0].name", "'emit_every'", ""),
        ("    - {name: emit_every}", A, "line 9, event_time.policy.decorators[0].interval", "", ""),
    ],
    EMIT: [
        ("emit: at_end", A, "line 14, emit[0]: 'at_end' is not", "at_window_end", "every: 10s"),
        ("emit: [evry: 1s]", A, "line 14, emit[0]: {'evry': '1s'} is not a trigger", "{every", ""),
        ("emit: {late_updates: 1}", T, "line 14, emit.late_updates: 1 has", "True", ": True"),
        ("emit: {updates: true}", A, "line 14, emit.updates: is an unknown key", "triggers", ""),
    ],
    AGG: [
        ("agg: count(*)", T, "line 16, agg: 'count(*)' has type str", "names of", "count(*)"),
        ("agg: {n: 3}", T, "line 16, agg.n: 3 has type int", "SQL text", "n: sum(amount)"),
    ],
}


@pytest.mark.parametrize("case", [(line, *case) for line in WRONG for case in WRONG[line]])
def test_what_is_wrong_is_refused_with_its_line(
    case: tuple[str, str, type[EventtideError], str, str, str],
) -> None:
    """Its key, the value, what is allowed, what to try; before there are rows."""
    line, instead, error, begins, allowed, fix = case
    page = PAGE.replace(line, instead)
    assert page != PAGE
    assert_refused(lambda: et.from_yaml(page), error, begins, allowed, fix)


ONLY_READER = {"key_by: site", "tumbling: 10 sek", "sliding: {size: 1m, every: 7s}"}
"""What a schema cannot know: keys that are there twice, and the text of durations."""


@pytest.mark.parametrize("case", [(line, case[0]) for line in WRONG for case in WRONG[line]])
def test_the_schema_refuses_what_the_reader_refuses(case: tuple[str, str]) -> None:
    """Unknown keys, missing keys and other types."""
    line, instead = case
    assert is_valid(PAGE.replace(line, instead)) == (instead in ONLY_READER)


AGREED = {
    "emit: {every: 30s}": True,
    "emit: [{every: 30s}, on_update]": True,
    "emit: {triggers: every}": False,
    "tumbling: {size: 1m}": False,
    "delay: {delay: 5s}": False,
    "key_by: {columns: site}": False,
    "key_by: {site: device}": False,
    "agg: {}": False,
    "by_count: {rows: 10, every: 5}": True,
    "by_count: 10": True,
    "session: {gap: 5m, touching: merge}": True,
    "key_idle_timeout: {timeout: 5m, clock: event_time}": True,
    "event_time: {column: ts, policy: {name: min_of}}": False,
    "event_time: {column: ts, policy: {name: min_of, of: []}}": False,
    "event_time: {column: ts, policy: {name: by_substream}}": False,
    "event_time: {column: ts, policy: {name: storm, lag: 5s, decorators: {name: x}}}": False,
    "event_time: {column: ts, policy: {name: own, from_jar: 5}}": False,
    "event_time: {column: ts, policy: {name: own, from_jar: true, lag: 5s}}": True,
    "event_time: {column: ts, policy: {name: [storm], lag: 5s}}": False,
}


@pytest.mark.parametrize("text", AGREED)
def test_reader_and_schema_agree(text: str) -> None:
    """On what a document may be; what is refused is refused by name."""
    assert is_valid(text) == AGREED[text]
    if AGREED[text]:
        assert et.from_yaml(text).to_yaml()
    else:
        with pytest.raises(EventtideError, match=r"^line 1.* Allowed: .* Try: "):
            et.from_yaml(text)


def test_a_key_that_yaml_takes_for_a_flag_is_text() -> None:
    """As in YAML 1.2, which editors read."""
    text = "{name: storm, lag: 5s, decorators: [{name: guard_future, max_ahead: 5s, on: late}]}"
    policy = WatermarkPolicies.storm("5s").guard_future("5s", on="late")
    assert et.policies.from_yaml(text) == policy


@pytest.mark.parametrize("number", ["0100", "-0100", "1:30", "1_000", "1_0.5"])
def test_numbers_that_differ_between_versions_of_yaml_are_refused(number: str) -> None:
    """An octal number, one to the base of sixty, grouped digits: readers do not agree on them."""
    with pytest.raises(InvalidArgumentError, match=f"^line 2: '{number}' is another number in"):
        et.from_yaml(f"tumbling: 1m\nmax_rows_per_batch: {number}")
    assert et.from_yaml(f"tumbling: 1m\nlate_to: '{number}'").settings.late_to == number


@pytest.mark.parametrize("origin", ["2024-04-01", "2024-04-01T06:00:00Z", "2024-04-01 06:00:00"])
def test_a_time_needs_no_quotes(origin: str) -> None:
    """It is the text that stands there."""
    window = et.window().tumbling("1 day").origin(origin)
    assert repr(et.from_yaml(f"tumbling: 1 day\norigin: {origin}")) == repr(window)
    assert et.from_yaml(window.to_yaml()).settings.origin == origin


def test_text_and_numbers_of_numpy_are_written_as_plain_ones() -> None:
    """Their classes derive from those of Python, which PyYAML does not look at."""
    numpy = pytest.importorskip("numpy")
    text = et.window().key_by(numpy.str_("site")).tumbling(numpy.str_("1h")).to_yaml()
    assert text == "key_by:\n- site\ntumbling: 1h\n"
    policy = WatermarkPolicies.with_late_target(numpy.float64(0.01))
    assert policy.to_yaml() == "name: with_late_target\ntarget: 0.01\n"


def test_names_of_substreams_are_written_whatever_they_are_in() -> None:
    """A set, the keys of a dict, a generator."""
    lag = WatermarkPolicies.with_fixed_lag("5s")
    for names in ({"north"}, {"north": 1}.keys(), (name for name in ["north"])):
        window = et.window().event_time("ts", lag, substream="site", expected=names)
        assert "expected:\n  - north\n" in window.to_yaml()


def test_an_unknown_column_is_refused_when_there_are_rows() -> None:
    """By its argument, which is its key."""
    with pytest.raises(UnknownColumnError, match=r"^event_time='ts' is not a column"):
        et.from_yaml(PAGE).over(FakeFrame("time", "site", "device"))


@pytest.mark.parametrize(
    ("window", "argument"),
    [
        (et.window().on_late(print), "on_late"),
        (et.window().key_by(column("upper(site)")), "key_by"),
        (et.window().session(column("pause")), "gap"),
        (et.window().event_time("ts", Halved()), "policy"),
        (et.window().event_time("ts", WatermarkPolicies.max_of(Halved())), "policy"),
    ],
)
def test_what_has_no_text_cannot_be_written(window: et.WindowBuilder, argument: str) -> None:
    """A function, an expression, a class."""
    with pytest.raises(InvalidArgumentError, match="cannot be written as YAML") as raised:
        window.to_yaml()
    assert raised.value.argument == argument
