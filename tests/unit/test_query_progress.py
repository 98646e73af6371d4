"""Reading the progress that the JVM writes, and asking who holds a watermark back."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import blame, progress
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.observe._progress import parse_progress
from pyspark.errors import StreamingQueryException

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.unit.fakes import FakeDoor

MINUTE = 60_000_000
NOON = 1_767_268_800_000_000  # 2026-01-01 12:00:00 UTC, in microseconds


def substream(name: str, top: int | None, state: str = "active", **changes: Any) -> dict[str, Any]:
    """Return a substream's JSON; its watermark is a minute behind its top."""
    reasons = {"active": "rows", "idle": "timeout", "expected": "never seen"}
    return {
        "name": name,
        "top": top,
        "watermark": None if top is None else top - MINUTE,
        "state": state,
        "reason": reasons[state],
        "since": NOON,
        "rows": 1,
        "rowsTotal": 10,
        **changes,
    }


def source(*substreams: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return an input's JSON, with the minimum over its substreams that count as its ideal."""
    counting = [one["watermark"] for one in substreams if one["state"] != "idle"]
    ideal = None if not counting or None in counting else min(counting)
    return {
        "position": 0,
        "name": None,
        "policy": "with_fixed_lag(lag=PT60S)",
        "ideal": ideal,
        "emitted": ideal,
        "state": "active" if counting else "idle",
        "substreamCount": len(substreams),
        "maxSubstreams": 100_000,
        "limitReachedIn": None,
        "substreams": list(substreams),
        **changes,
    }


def answer(*inputs: dict[str, Any], **changes: Any) -> str:
    """Return a whole answer of the JVM."""
    known = [one["ideal"] for one in inputs if one["ideal"] is not None]
    ideal = min(known) if inputs and len(known) == len(inputs) else None
    tree = {
        "batchId": 7,
        "clock": NOON,
        "ideal": ideal,
        "emitted": ideal,
        "holding": False,
        "badTime": 2,
        "future": 3,
        "onTime": 40,
        "clockSteps": 1,
        "clockCorrectedBy": 2_000_000,
        "late": {},
        "inputs": list(inputs),
        **changes,
    }
    return json.dumps(tree)


def test_progress_is_typed_and_in_utc(door: FakeDoor, query: StreamingQuery) -> None:
    """Every number of the JSON, and how far each substream is behind the leader."""
    door.answer = answer(source(substream("a", NOON), substream("b", NOON - MINUTE)))
    watermark = progress(query)
    assert (watermark.batch_id, watermark.bad_time, watermark.future) == (7, 2, 3)
    assert watermark.clock == datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    assert watermark.ideal == watermark.emitted == watermark.clock - timedelta(minutes=2)
    [first] = watermark.inputs
    assert [one.lag_behind_leader for one in first.substreams] == [
        timedelta(0),
        timedelta(minutes=1),
    ]
    assert first.substreams[0].rows_total == 10
    assert door.calls == [("progressJson", "the java session", "0f6a")]


def test_unknown_stays_unknown() -> None:
    """Nothing yet is None, not the beginning of time."""
    watermark = parse_progress(answer(source(substream("a", None, "expected"))))
    assert watermark.ideal is None
    assert watermark.inputs[0].substreams[0].top is None
    assert watermark.inputs[0].substreams[0].lag_behind_leader is None


@pytest.mark.parametrize(
    ("micros", "year"), [(2**63 - 1, 9999), (-(2**63), 1), (253_402_300_799_999_999, 9999)]
)
def test_a_time_that_python_cannot_hold_is_the_nearest_that_it_can(micros: int, year: int) -> None:
    """Spark's range of timestamps is wider; one absurd row must not break the report."""
    watermark = parse_progress(answer(source(substream("a", micros, watermark=None))))
    top = watermark.inputs[0].substreams[0].top
    assert top is not None
    assert top.year == year


def test_keys_of_a_newer_jar_are_ignored() -> None:
    """The JVM may say more than this version reads."""
    assert parse_progress(answer(tide="high")).batch_id == 7


def test_a_query_without_our_watermark_is_refused(door: FakeDoor, query: StreamingQuery) -> None:
    """The message has the query's id and what to write."""
    door.answer = None
    with pytest.raises(
        InvalidArgumentError, match=r"^query='0f6a' has no.*Try: query = et\.with_watermark\("
    ):
        blame(query)


def test_progress_wants_a_query(door: FakeDoor) -> None:
    """A DataFrame, or a query's name, is no query."""
    with pytest.raises(ArgumentTypeError, match=r"^query='events' has type str"):
        progress("events")  # type: ignore[arg-type]
    assert door.calls == []


def test_blame_is_what_the_jvm_says(door: FakeDoor, query: StreamingQuery) -> None:
    """Of a query that runs, as it is."""
    door.answer = "'a' holds the watermark."
    assert blame(query) == "'a' holds the watermark."
    assert door.calls == [("blame", "the java session", "0f6a")]


@pytest.mark.parametrize(
    ("error", "how"), [(None, "stopped"), (StreamingQueryException("too many"), "failed")]
)
def test_a_query_that_has_ended_says_so(
    door: FakeDoor,
    query: StreamingQuery,
    monkeypatch: pytest.MonkeyPatch,
    error: StreamingQueryException | None,
    how: str,
) -> None:
    """What it reported last may be long ago."""
    door.answer = "'a' holds the watermark."
    monkeypatch.setattr(type(query), "isActive", False)
    monkeypatch.setattr(query, "exception", lambda: error)
    assert blame(query).startswith(f"The query has {how}; by its last batch: 'a' holds")
