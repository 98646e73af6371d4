"""What is refused of Storm's configuration: the key, its value, what is allowed, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.storm import StormWindow

from tests.unit.refusals import assert_refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide import EventtideError

    Case = tuple[Callable[[], object], type[EventtideError], str, str, str]


def config(**values: Any) -> StormWindow:
    """Read a configuration whose keys have underscores for dots."""
    return StormWindow.from_config({key.replace("_", "."): value for key, value in values.items()})


TEXT: Any = "x"
T, A = ArgumentTypeError, InvalidArgumentError
LENGTH = "topology_bolts_window_length_duration_ms"

# How, the error, how its message begins, what it says is allowed, what it tries.
CASES: list[Case] = [
    (lambda: StormWindow.from_config(TEXT), T, "config='x' has type str", "a mapping", "from_co"),
    (
        lambda: config(topology_bolts_window_length_duration=20),
        A,
        "config='topology.bolts.window.length.duration' is not a key of windowed bolts",
        "topology.bolts.window.length.count",
        "topology.bolts.window.length.duration.ms",
    ),
    (
        lambda: config(topology_bolts_message_id_field_name="id"),
        A,
        "config='topology.bolts.message.id.field.name' is for replays",
        "topology.bolts.window.length.count",
        "remove topology.bolts.message.id.field.name",
    ),
    (
        lambda: config(**{LENGTH: "20s"}),
        T,
        "topology.bolts.window.length.duration.ms='20s' has type str",
        "a whole number of milliseconds, 1 or more",
        "1000",
    ),
    (
        lambda: config(**{LENGTH: 0}),
        A,
        "topology.bolts.window.length.duration.ms=0 is out of range",
        "1 or more",
        "1000",
    ),
    (
        lambda: config(topology_bolts_tuple_timestamp_max_lag_ms=-1),
        A,
        "topology.bolts.tuple.timestamp.max.lag.ms=-1 is out of range",
        "0 or more",
        "1000",
    ),
    (
        lambda: config(topology_bolts_tuple_timestamp_max_lag_ms=10**30),
        A,
        f"topology.bolts.tuple.timestamp.max.lag.ms={10**30} is out of range",
        "up to 9223372036854775",
        "1000",
    ),
    (
        lambda: config(topology_bolts_window_length_count=True),
        T,
        "topology.bolts.window.length.count=True has type bool",
        "a whole number of rows",
        "1000",
    ),
    (
        lambda: config(**{LENGTH: 20, "topology_bolts_window_length_count": 3}),
        A,
        "topology.bolts.window.length.duration.ms=20 says the length again",
        "one of the two",
        "remove topology.bolts.window.length.duration.ms",
    ),
    (
        lambda: config(topology_bolts_late_tuple_stream=7),
        T,
        "topology.bolts.late.tuple.stream=7 has type int",
        "a name",
        "topology.bolts.late.tuple.stream",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "problem", "allowed", "fix"), CASES, ids=[case[2] for case in CASES]
)
def test_a_wrong_configuration_is_refused(
    call: Callable[[], object], error: type[EventtideError], problem: str, allowed: str, fix: str
) -> None:
    """What is wrong, the value, what is allowed, and what to try."""
    assert_refused(call, error, problem, allowed, fix)


def test_a_right_configuration_passes() -> None:
    """Else every one would be refused."""
    assert config(**{LENGTH: 20})
