"""Policies of users' own in Python and of a jar: values, names, laws."""

from __future__ import annotations

import json
import pickle
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import ArgumentTypeError, InvalidArgumentError, InvalidDurationError
from eventtide.policies import BatchTimes, PythonPolicy
from eventtide.policies._python import answer
from eventtide.testing import check_policy

from tests.unit.own_policies import BROKEN, Broken, Trimmed

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
            name: ClassVar[str] = "Cell"

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

    with pytest.raises(AssertionError, match="holds state of its own"):
        check_policy(Counting())


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
