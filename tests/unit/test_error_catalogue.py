"""Every error is raised once, and its message says what is wrong and what to do."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from eventtide import EventtideError, WatermarkPolicies, explain, with_watermark
from eventtide.errors import (
    BY_NAME,
    ArgumentTypeError,
    InvalidArgumentError,
    InvalidDurationError,
    SetupError,
    UnknownColumnError,
    UnsupportedSparkError,
)
from pyspark import SparkContext

from tests.error_page import CATALOGUE
from tests.unit.fakes import ours, raised

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.fakes import FakeDoor, FakeFrame

LAG = WatermarkPolicies.with_fixed_lag("5s")

# Raised here, each with: how, the value in the message, what is allowed, what to try.
RAISED_IN_PYTHON: dict[type[EventtideError], tuple[Callable[[FakeFrame], object], str, str, str]]
RAISED_IN_PYTHON = {
    InvalidArgumentError: (
        lambda _: LAG.guard_future("1h", on="drop"),  # type: ignore[arg-type]
        "on='drop'",
        "'clamp', 'late', 'fail'",
        "on='clamp'",
    ),
    ArgumentTypeError: (
        lambda df: with_watermark(df, "ts", "5s"),  # type: ignore[arg-type]
        "policy='5s'",
        "a WatermarkPolicy",
        "policy=WatermarkPolicies.with_fixed_lag('5s')",
    ),
    InvalidDurationError: (
        lambda _: WatermarkPolicies.with_fixed_lag(5),  # type: ignore[arg-type]
        "lag=5",
        "text with a unit, w, d, h, m, s, ms or us",
        "lag='5s'",
    ),
    UnknownColumnError: (
        lambda df: with_watermark(df, "tz", LAG),
        "event_time='tz'",
        "one of ts, device, site, Amount",
        "event_time='ts'",
    ),
}

# Raised by the JVM half alone, which has a catalogue of its own; here only the class is checked.
RAISED_IN_THE_JVM = {
    "ColumnTypeError",
    "UnsupportedPlanError",
    "DuplicateWatermarkError",
    "CheckpointError",
    "ClockError",
    "PolicyError",
    "RefusedDataError",
}
# Arguments and methods of Python, in messages that users of Scala and SQL read, too.
OF_PYTHON = re.compile(
    r"(?<![\w.<])[a-z]\w*=|\bet\.(?!configure)|\bTrue\b|withColumn|\.alias\(|\bcol\(|\(\)"
)
RAISED_BY_A_HANDLER = {"LateHandlerError"}  # in tests/spark/late_handler/test_failures.py


def test_the_catalogue_is_complete() -> None:
    """Every class but the base is raised by some test here."""
    here = {error.__name__ for error in RAISED_IN_PYTHON} | {"SetupError", "UnsupportedSparkError"}
    assert here | RAISED_IN_THE_JVM | RAISED_BY_A_HANDLER | {"EventtideError"} == set(BY_NAME)


def test_the_messages_of_the_jvm_are_right_in_each_language() -> None:
    """They name options and SQL expressions, which all APIs have."""
    texts = json.loads(CATALOGUE.read_text("utf-8"))
    parts = [entry[part] for entry in texts.values() for part in ("problem", "fix")]
    assert [text for text in parts if OF_PYTHON.search(text)] == []


@pytest.mark.parametrize("error", RAISED_IN_PYTHON)
def test_an_error_about_an_argument_has_value_allowed_and_fix(
    error: type[EventtideError], door: FakeDoor, frame: FakeFrame
) -> None:
    """In this order, so that messages read alike."""
    go, value, allowed, fix = RAISED_IN_PYTHON[error]
    with pytest.raises(error) as caught:
        go(frame)
    assert type(caught.value) is error
    message = str(caught.value)
    assert message.startswith(f"{value} ")
    assert message.index(f"Allowed: {allowed}") < message.index(f"Try: {fix}")
    assert door.calls == []


@pytest.mark.parametrize("name", sorted(RAISED_IN_THE_JVM))
def test_an_error_of_the_jvm_arrives_as_its_class(
    name: str, door: FakeDoor, frame: FakeFrame
) -> None:
    """With the JVM's message."""
    door.fails_with = raised(ours(name))
    with pytest.raises(BY_NAME[name], match="negative"):
        explain(frame)


@pytest.mark.parametrize(
    ("session", "error", "fix"),
    [
        (None, SetupError, "et.configure(SparkSession.builder).getOrCreate()"),
        (SimpleNamespace(version="3.5.7"), UnsupportedSparkError, "pip install 'pyspark==4.3.*'"),
    ],
)
def test_an_error_about_the_session_has_a_fix_to_paste(
    session: object,
    error: type[EventtideError],
    fix: str,
    frame: FakeFrame,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`test_jvm` has the other cases."""
    monkeypatch.setattr(SparkContext, "_active_spark_context", session)
    with pytest.raises(error) as caught:
        explain(frame)
    assert type(caught.value) is error
    assert fix in str(caught.value.fix)
    assert str(caught.value) == f"{caught.value.problem} {caught.value.fix}"
