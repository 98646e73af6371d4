"""`et.repair`: what it refuses before any Spark; `tests/spark` has what it corrects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import EventtideError
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.windows._repairing import final_window

from tests.any_kind import OfAnyKind
from tests.unit.fakes import FakeFrame, column

if TYPE_CHECKING:
    from tests.unit.fakes import FakeDoor

ROWS, RESULTS = FakeFrame("ts", "device"), FakeFrame("window", "device", "n")
STREAM = FakeFrame("ts", "device", streaming=True)
WINDOW = OfAnyKind(STREAM).event_time("ts").key_by("device").tumbling("1m").agg(column("n"))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"results": "results"}, ArgumentTypeError, "^results='results' has type str"),
        ({"late": None}, ArgumentTypeError, "^late=None has type NoneType"),
        ({"source": []}, ArgumentTypeError, r"^source=\[\] has type list"),
        ({"window": ROWS}, ArgumentTypeError, "^window=.* has type FakeFrame"),
        ({"results": STREAM}, InvalidArgumentError, "^results=.* is a stream.*Try: spark.read"),
        ({"late": STREAM}, InvalidArgumentError, "^late=.* is a stream"),
        ({"source": STREAM}, InvalidArgumentError, "^source=.* is a stream"),
        (
            {"window": et.window(STREAM).tumbling("1m").agg(column("n"))},
            InvalidArgumentError,
            r"^window=.* does not name its event time.*Try: \.event_time",
        ),
        (
            {"window": et.window(STREAM).event_time("ts").agg(column("n"))},
            InvalidArgumentError,
            "^window has no kind",
        ),
        (
            {"window": WINDOW.by_count(10)},
            InvalidArgumentError,
            "^window=.* has windows that the time.*Allowed: tumbling, sliding or cumulate",
        ),
        (
            {"window": WINDOW.sliding("1m", every="10s")},
            InvalidArgumentError,
            r"^window=.* may lack rows that are in no late log.*late_rule\('frame_closed'\)",
        ),
        (
            {"window": WINDOW.sliding("1m", every="10s").profile("flink")},
            InvalidArgumentError,
            "^window=.* may lack rows",
        ),
        (
            {"source": FakeFrame("device")},
            et.errors.UnknownColumnError,
            "^event_time='ts' is not a column",
        ),
    ],
)
def test_a_wrong_argument_is_refused(
    door: FakeDoor, arguments: dict[str, Any], error: type[EventtideError], message: str
) -> None:
    """Before the JVM is asked."""
    right = {"results": RESULTS, "late": ROWS, "window": WINDOW, "source": ROWS}
    with pytest.raises(error, match=message) as caught:
        et.repair(**{**right, **arguments})
    assert type(caught.value) is error
    assert "Try: " in str(caught.value)
    assert door.calls == []


def test_settings_of_late_rows_are_not_those_of_a_repair() -> None:
    """A batch has no late rows: only what decides which rows are in a window stays."""
    told = WINDOW.late("log").late_to("/late").late_retention("7d").on_late(print).emit("on_update")
    plain = WINDOW.event_time("ts")
    assert repr(final_window(told)) == repr(plain)
