"""`explain`: the JVM's explanation in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from eventtide import explain
from eventtide.errors import ArgumentTypeError

if TYPE_CHECKING:
    from tests.unit.fakes import FakeDoor, FakeFrame


def test_a_plan_is_explained_in_words(
    door: FakeDoor, frame: FakeFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """The policy's tree, the substream and why, idleness, the clock, windows, and stock Spark."""
    door.answer = json.dumps(
        {
            "watermarks": [
                {
                    "position": 0,
                    "name": None,
                    "eventTime": "ts",
                    "policy": ["throttle_by_frame(size=1s)", "+- with_fixed_lag(lag=5s)"],
                    "substreams": "topic, partition",
                    "why": "Kafka's own",
                    "idle": "after 1m without rows",
                    "clock": "quiet",
                }
            ],
            "windows": [
                {
                    "position": 0,
                    "kind": "tumbling(size=PT60S)",
                    "bounds": "[start, end)",
                    "delay": "PT5S",
                    "results": "one row a window",
                    "combining": "one buffer a window",
                    "lateRule": "window_closed",
                    "lateRows": "counted",
                }
            ],
            "notes": ["the join's other side has Spark's own watermark"],
        }
    )
    explain(frame)
    assert door.calls == [("explainJson", frame._jdf)]
    assert capsys.readouterr().out.splitlines() == [
        "watermark on ts",
        "   throttle_by_frame(size=1s)",
        "   +- with_fixed_lag(lag=5s)",
        "   substreams: topic, partition (Kafka's own)",
        "   idle: after 1m without rows",
        "   clock: quiet",
        "window tumbling(size=PT60S)",
        "   bounds: [start, end), delay: PT5S",
        "   results: one row a window",
        "   combining: one buffer a window",
        "   late rows: by window_closed, counted",
        "stock Spark: largest event time anywhere minus one fixed delay",
        "note: the join's other side has Spark's own watermark",
    ]


def test_explain_wants_a_frame(door: FakeDoor) -> None:
    """A query is no DataFrame."""
    with pytest.raises(ArgumentTypeError, match=r"^df='events' has type str"):
        explain("events")  # type: ignore[arg-type]
    assert door.calls == []
