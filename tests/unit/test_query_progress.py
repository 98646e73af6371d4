"""Reading the progress that the JVM writes, and naming who holds a watermark back."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import ArgumentTypeError, InvalidArgumentError, blame, progress
from eventtide.query_progress import parse_progress
from eventtide.verdict import verdict
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
        "policy": "with_fixed_lag(lag=PT60S)",
        "ideal": ideal,
        "emitted": ideal,
        "state": "active" if counting else "idle",
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
        "late": {},
        "inputs": list(inputs),
        **changes,
    }
    return json.dumps(tree)


def said(*inputs: dict[str, Any], **changes: Any) -> str:
    """Return the verdict on an answer."""
    return verdict(parse_progress(answer(*inputs, **{"badTime": 0, "future": 0, **changes})))


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
    with pytest.raises(InvalidArgumentError, match=r"^query='0f6a' has no.*Try: et\.progress\("):
        blame(query)


def test_progress_wants_a_query(door: FakeDoor) -> None:
    """A DataFrame, or a query's name, is no query."""
    with pytest.raises(ArgumentTypeError, match=r"^query='events' has type str"):
        progress("events")  # type: ignore[arg-type]
    assert door.calls == []


def test_the_lowest_substream_is_to_blame(door: FakeDoor, query: StreamingQuery) -> None:
    """Who, where, how far behind whom, since when, and what would help."""
    door.answer = answer(source(substream("a", NOON), substream("b", NOON - 14 * MINUTE)))
    assert blame(query) == (
        "'b' holds the watermark at 2026-01-01 11:45:00 UTC, 14m behind 'a', last seen at"
        " 2026-01-01 12:00:00 UTC; marked idle, the watermark would go to 2026-01-01 11:59:00 UTC."
    )


def test_a_substream_never_seen_is_to_blame_first() -> None:
    """It is expected, so there is no watermark until it comes."""
    assert said(source(substream("a", NOON), substream("b", None, "expected"))) == (
        "'b' has not been seen since 2026-01-01 12:00:00 UTC, so there is no watermark; marked"
        " idle, the watermark would go to 2026-01-01 11:59:00 UTC."
    )


def test_a_backlog_is_a_reason_of_its_own() -> None:
    """To mark it idle would lose what is still to be read."""
    slow = substream("t/1", NOON - MINUTE, reason="backlog")
    assert said(source(substream("t/0", NOON), slow)).endswith(
        "; its partition has rows that were not read yet, so that it cannot be idle."
    )


def test_several_never_seen_share_the_blame() -> None:
    """Marking one of them idle would not help."""
    text = said(source(substream("a", None, "expected"), substream("b", None, "expected")))
    assert text.endswith("marked idle, there would still be none, since others are unknown too.")


def test_the_last_active_one_would_release_the_highest_watermark() -> None:
    """Also that of a substream which is idle already."""
    text = said(source(substream("a", NOON, "idle"), substream("b", NOON - 5 * MINUTE)))
    assert text.startswith("'b' holds the watermark at 2026-01-01 11:54:00 UTC, 5m behind 'a'")
    assert text.endswith("marked idle, the watermark would go to 2026-01-01 11:59:00 UTC.")


def test_a_single_substream_is_behind_nobody() -> None:
    """Its policy alone holds the watermark, and idleness would change nothing."""
    assert said(source(substream("a", NOON))) == (
        "'a' holds the watermark at 2026-01-01 11:59:00 UTC, last seen at"
        " 2026-01-01 12:00:00 UTC; marked idle, the watermark would stay where it is."
    )


def test_the_lowest_input_is_to_blame() -> None:
    """And the other input limits what idleness would give."""
    text = said(
        source(substream("a", NOON)),
        source(substream("x", NOON - 9 * MINUTE), substream("y", NOON + MINUTE), position=1),
    )
    assert text.startswith(
        "'x' of input 1 holds the watermark at 2026-01-01 11:50:00 UTC, 10m behind 'y'"
    )
    assert text.endswith("marked idle, the watermark would go to 2026-01-01 11:59:00 UTC.")


def test_an_input_that_falls_idle_leaves_the_watermark_to_the_others() -> None:
    """Its last active substream was to blame."""
    text = said(source(substream("a", NOON)), source(substream("x", NOON - 9 * MINUTE), position=1))
    assert text.startswith(
        "'x' of input 1 holds the watermark at 2026-01-01 11:50:00 UTC, last seen at 2026"
    )
    assert text.endswith("marked idle, the watermark would go to 2026-01-01 11:59:00 UTC.")


def test_an_idle_input_is_not_to_blame() -> None:
    """It does not count."""
    text = said(
        source(substream("a", NOON)),
        source(substream("x", NOON - 9 * MINUTE, "idle"), position=1),
        ideal=NOON - MINUTE,
    )
    assert text.startswith("'a' of input 0 holds the watermark")


def test_nobody_is_to_blame_when_all_are_idle() -> None:
    """The highest watermark was released."""
    text = said(source(substream("a", NOON, "idle")), ideal=NOON - MINUTE)
    assert text == (
        "Nobody holds the watermark back at 2026-01-01 11:59:00 UTC: every substream is idle."
    )


def test_nobody_is_to_blame_before_the_first_row() -> None:
    """There is no watermark yet, which is no fault."""
    assert (
        said(source())
        == said()
        == ("Nobody holds the watermark back: no row has been seen yet, so there is none.")
    )


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
    """What it reported last may be long ago, and nothing is held any more."""
    door.answer = answer(source(substream("a", NOON)), holding=True)
    monkeypatch.setattr(type(query), "isActive", False)
    monkeypatch.setattr(query, "exception", lambda: error)
    assert blame(query).startswith(f"The query has {how}; by its last batch: 'a' holds")


def test_rows_that_were_all_refused_are_to_blame() -> None:
    """A wrong format of the event time makes nulls of all."""
    text = said(source(substream("all", None, "expected")), badTime=5, future=1)
    assert text == (
        "There is no watermark, since no row could be used: 5 had no event time that Spark can"
        " show, 1 were too far ahead of the clock."
    )


def test_a_restart_that_holds_is_to_blame_before_any_substream() -> None:
    """The sentence names the setting."""
    assert said(source(substream("a", NOON)), holding=True, emitted=NOON - 9 * MINUTE) == (
        "The restart holds the watermark at 2026-01-01 11:51:00 UTC until the sources have caught"
        " up; with on_restart='resume' the clock would move it at once."
    )
