"""Policies of users' own in Python and of a jar: values, names, laws."""

from __future__ import annotations

import json
import pickle
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import (
    ArgumentTypeError,
    EventtideError,
    InvalidArgumentError,
    InvalidDurationError,
)
from eventtide.policies import BatchTimes, FromJar, PythonPolicy
from eventtide.policies._python import answer
from eventtide.testing import check_policy

from tests.unit.own_policies import BROKEN, Broken, Trimmed
from tests.unit.refusals import assert_refused

FIVE = timedelta(seconds=5)


def test_it_is_a_policy_like_the_others() -> None:
    """Options, equality, pickling, decorators, combinations."""
    policy = Trimmed(FIVE).throttle_by_frame("1s")
    assert policy == Trimmed(lag=FIVE, step=timedelta(hours=1)).throttle_by_frame("1s")
    assert policy != Trimmed(FIVE, timedelta(1)).throttle_by_frame("1s")
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 - our own bytes
    options = Trimmed(FIVE).to_options()
    assert options["policy"] == "python:Trimmed"
    assert json.loads(options["parameters"]) == {
        "lag": {"timedelta": 5_000_000},
        "step": {"timedelta": 3_600_000_000},
    }
    most = WatermarkPolicies.max_of(
        Trimmed(FIVE), WatermarkPolicies.limiting_real_time_lag("1m")
    ).to_options()
    assert most["of.0.policy"] == "python:Trimmed"
    assert repr(Broken("raises")) == "Broken(how='raises')"
    assert "Behind the highest time, of which" in Trimmed(FIVE).explained()


def test_its_parameters_are_those_of_its_class() -> None:
    """Also of a state that was saved before."""
    with pytest.raises(TypeError, match="lag"):
        Trimmed()  # type: ignore[call-arg]
    with pytest.raises(ArgumentTypeError, match="cannot be saved as JSON") as refused:
        Broken(object())  # type: ignore[arg-type]
    assert refused.value.argument == "how"


@pytest.mark.parametrize(
    ("value", "problem", "fix"),
    [
        (object(), "how=<object object", "a parameter of one of these types"),
        (float("inf"), "how=inf cannot be saved as JSON", "of one of these types"),
        ([timedelta(1)], "how=[datetime.timedelta(days=1)] cannot", "of one of these types"),
        ({"timedelta": "5s"}, "how={'timedelta': '5s'} cannot", "of one of these types"),
        ({"timedelta": 1e300}, "how={'timedelta': 1e+300} cannot", "of one of these types"),
        (
            {"timedelta": 5},
            "how={'timedelta': 5} comes back from JSON as datetime.timedelta(microseconds=5).",
            "how=datetime.timedelta(microseconds=5)",
        ),
        ({1: 5}, "how={1: 5} comes back from JSON as {'1': 5}.", "how={'1': 5}"),
        ((1, 2), "how=(1, 2) comes back from JSON as [1, 2].", "how=[1, 2]"),
        ({"of": [(1,)]}, "how={'of': [(1,)]} comes back from JSON", "how={'of': [[1]]}"),
    ],
)
def test_a_parameter_that_json_changes_is_refused(value: Any, problem: str, fix: str) -> None:
    """The driver would call another policy than the one that was written."""
    assert_refused(lambda: Broken(value), ArgumentTypeError, problem, "lists, dicts by text", fix)


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [1, [2]], {"a": {"b": [None]}}, FIVE])
def test_a_parameter_comes_back_as_it_was(value: Any) -> None:
    """All that JSON has, and a duration."""

    class Kept(PythonPolicy):
        value: Any

        def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
            assert self.value == value, times
            return None, self.value if value != FIVE else state

    check_policy(Kept(value), histories=2)


def named(**attributes: Any) -> Any:
    """Return a class with a name of its own."""
    attributes |= {
        "__module__": __name__,
        "advance": lambda _, times, state: (times.highest, state),
    }
    return type("Named", (PythonPolicy,), attributes)


ANNOTATED = "is annotated, which makes it a parameter"


@pytest.mark.parametrize(
    ("attributes", "error", "problem", "fix"),
    [
        ({"name": ""}, InvalidArgumentError, "name='' is empty", "name = 'Named'"),
        ({"name": 7}, ArgumentTypeError, "name=7 has type int", "name = 'Named'"),
        (
            {"name": property(lambda _: "old")},
            ArgumentTypeError,
            "name=<property object",
            "name = 'Named'",
        ),
        (
            {"name": "old", "__annotations__": {"name": str}},
            InvalidArgumentError,
            f"name='old' {ANNOTATED}",
            "name = 'old'",
        ),
        (
            {"name": "old", "__annotations__": {"name": "str", "lag": timedelta}},
            InvalidArgumentError,
            f"name='old' {ANNOTATED}",
            "name = 'old'",
        ),
        (
            {"__annotations__": {"name": str}},
            InvalidArgumentError,
            f"name='Named' {ANNOTATED}",
            "name = 'Named'",
        ),
    ],
)
def test_a_name_that_is_not_the_class_s_is_refused(
    attributes: dict[str, Any], error: type[EventtideError], problem: str, fix: str
) -> None:
    """A dataclass would take an annotated one for a parameter."""
    assert_refused(
        lambda: named(**attributes), error, problem, "text, of the class and not annotated", fix
    )


@pytest.mark.parametrize("annotations", [{}, {"name": ClassVar[str]}, {"name": "ClassVar[str]"}])
def test_a_class_has_the_name_that_it_says(annotations: dict[str, Any]) -> None:
    """Without an annotation or with that of a class; also beside parameters."""
    policy = named(name="kept", __annotations__={**annotations, "lag": timedelta})(FIVE)
    assert policy.to_options()["policy"] == "python:kept"
    assert json.loads(policy.to_options()["parameters"]) == {"lag": {"timedelta": 5_000_000}}


def test_two_classes_of_one_name_are_refused() -> None:
    """In one process a query would call the wrong one; a cell that runs again is the same class."""

    def again() -> type[PythonPolicy]:
        class Cell(PythonPolicy):
            def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
                return times.highest, state

        return Cell

    again()
    again()
    with pytest.raises(InvalidArgumentError, match=r"is the name of the policy .*again"):

        class Other(PythonPolicy):
            name = "Cell"

            def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
                return times.highest, state


def test_the_laws_hold_for_a_policy_that_follows_them() -> None:
    """With the watermarks as in a query."""
    check_policy(Trimmed(FIVE))
    check_policy(Trimmed(timedelta(0), timedelta(seconds=1)), unit="10s", seed=7)


@pytest.mark.parametrize("how", BROKEN)
def test_the_laws_find_one_that_does_not(how: str) -> None:
    """Each failure by what it is, with the batches."""
    with pytest.raises(AssertionError) as broken:
        check_policy(Broken(how))
    assert BROKEN[how] in str(broken.value)
    assert "after the batches [{'highest':" in str(broken.value)


def test_the_laws_find_state_outside_of_the_state() -> None:
    """It would be shared by substreams, and lost by a restart."""
    calls = []

    class Counting(PythonPolicy):
        def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
            calls.append(times)
            return max(one.highest for one in calls), state

    with pytest.raises(AssertionError, match="stores state in the object"):
        check_policy(Counting())


@pytest.mark.parametrize(
    ("arguments", "error", "problem", "fix"),
    [
        ({"histories": 0}, InvalidArgumentError, "histories=0 is out of range", "histories=200"),
        ({"histories": "5"}, ArgumentTypeError, "histories='5' has type str", "histories=200"),
    ],
)
def test_a_check_without_histories_is_refused(
    arguments: dict[str, Any], error: type[EventtideError], problem: str, fix: str
) -> None:
    """It would check nothing."""
    assert_refused(
        lambda: check_policy(Trimmed(FIVE), **arguments), error, problem, "from 1 to", fix
    )


def test_times_that_python_has_not_are_the_nearest() -> None:
    """Spark's timestamps go on beyond the year 9999."""
    asked = {"policy": "Trimmed", "parameters": Trimmed(FIVE).parameters()["parameters"]}
    times = {"highest": 2**62, "lowest": -(2**62), "clock": 0, "state": "null"}
    assert json.loads(json.loads(answer(json.dumps(asked | times)))["state"]).startswith(
        "9999-12-31"
    )


def test_a_class_that_is_not_defined_is_named() -> None:
    """As after a restart by other code."""
    asked = {"policy": "Gone", "parameters": "{}", "state": "null"}
    times = {"highest": 1, "lowest": 0, "clock": 2}
    assert "not defined in this Python process" in answer(json.dumps(asked | times))


def test_a_policy_of_a_jar_has_options() -> None:
    """Durations and counts, checked before a session sees them."""
    policy = WatermarkPolicies.from_jar("trimmed_lag", lag="1m", rows=3)
    assert policy.to_options() == {"policy": "trimmed_lag", "lag": "PT60S", "rows": "3"}
    assert repr(policy) == "WatermarkPolicies.from_jar('trimmed_lag', lag='1m', rows=3)"
    assert eval(repr(policy)) == policy  # noqa: S307 - our own text
    timed = policy.emit_every("1s")
    assert pickle.loads(pickle.dumps(timed)) == timed  # noqa: S301 - our own bytes
    assert policy.to_dict() == {"name": "trimmed_lag", "lag": "1m", "rows": 3, "from_jar": True}
    with pytest.raises(InvalidDurationError):
        WatermarkPolicies.from_jar("trimmed_lag", lag="soon")
    with pytest.raises(ArgumentTypeError, match=r"a duration .* or a whole number"):
        WatermarkPolicies.from_jar("trimmed_lag", lag=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "values", "error", "problem", "fix"),
    [
        ("", {}, InvalidArgumentError, "name='' is empty", "from_jar('limited_lag')"),
        (7, {}, ArgumentTypeError, "name=7 has type int", "from_jar('limited_lag')"),
        *(
            (
                "mine",
                {word: 5},
                InvalidArgumentError,
                f"{word}=5 is a reserved name",
                f"{word}_, also",
            )
            for word in ("policy", "name", "decorators", "from_jar", "of")
        ),
    ],
)
def test_a_policy_of_a_jar_keeps_to_its_own_words(
    name: Any, values: dict[str, int], error: type[EventtideError], problem: str, fix: str
) -> None:
    """Such a parameter would take the place of the policy's name in the options or in YAML."""
    allowed = "the name of a CustomPolicyKind" if not values else "parameters other than policy, n"
    make = WatermarkPolicies.from_jar
    assert_refused(lambda: make(name, **values), error, problem, allowed, fix)


def test_the_parameters_of_a_policy_of_a_jar_have_names() -> None:
    """They are a mapping."""
    call = lambda: FromJar("mine", None)  # type: ignore[arg-type] # noqa: E731
    assert_refused(call, ArgumentTypeError, "values=None has type NoneType", "names", "FromJar(")
