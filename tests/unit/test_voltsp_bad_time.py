"""What VoltSP's builder refuses of time: the argument, its value, what is allowed, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from eventtide import EventtideError, WatermarkPolicies
from eventtide.errors import ArgumentTypeError, InvalidArgumentError, InvalidDurationError
from eventtide.voltsp import TimeConfig

from tests.unit.refusals import assert_refused
from tests.unit.voltsp_samples import FRAME, counted, hourly, session

if TYPE_CHECKING:
    from collections.abc import Callable

    Case = tuple[Callable[[], object], type[EventtideError], str, str, str]

pytestmark = pytest.mark.usefixtures("columns")

T, D, A = ArgumentTypeError, InvalidDurationError, InvalidArgumentError

# How, the error, how its message begins, what it says is allowed, what it tries.
BUILDER: list[Case] = [
    (lambda: TimeConfig(5), T, "event_time_extractor=5 has type", "a column name", "user_id"),  # type: ignore[arg-type]
    (lambda: TimeConfig(""), A, "event_time_extractor='' is empty", "a column name", "user_id"),
    (
        lambda: TimeConfig("org.acme.Event::timestamp"),
        A,
        "event_time_extractor='org.acme.Event::timestamp' is a Java method",
        "SQL text",
        "event_time_extractor='timestamp'",
    ),
    (
        lambda: TimeConfig("ts", "AVG_EVENT_TIME"),
        A,
        "watermark_strategy='AVG_EVENT_TIME' is unknown",
        "'MIN_EVENT_TIME', 'MAX_EVENT_TIME'",
        "WatermarkStrategy.MIN_EVENT_TIME",
    ),
    (
        lambda: TimeConfig().with_idle_timeout_clock("SUN"),
        A,
        "idle_timeout_clock='SUN' is unknown",
        "'EVENT_TIME', 'PROCESSING_TIME'",
        "TimeSource.EVENT_TIME",
    ),
    (
        lambda: TimeConfig().with_delay_window_close("-1s"),
        D,
        "delay_window_close='-1s' is negative",
        "zero or more",
        "'1s'",
    ),
    (lambda: TimeConfig(idle_timeout=300), D, "idle_timeout=300 is a number", "text", "'300s'"),  # type: ignore[arg-type]
    (lambda: TimeConfig(idle_timeout="0s"), D, "idle_timeout='0s' is zero", "more than", "'1s'"),
    (lambda: TimeConfig(heartbeat="1ms"), D, "heartbeat='1ms' is too short", "100ms", "'1m'"),
    (lambda: TimeConfig(late_rule="never"), A, "late_rule='never' is unk", "'frame_closed'", "be"),  # type: ignore[arg-type]
    (lambda: TimeConfig(scope=[]), A, "scope=[] is empty", "'key', 'global'", "scope='key'"),
    (lambda: TimeConfig(policy="min"), T, "policy='min' has type str", "a WatermarkPolicy", "lag"),  # type: ignore[arg-type]
    (
        lambda: hourly().with_time_config("5m"),  # type: ignore[arg-type]
        T,
        "time_config='5m' has type str",
        "a TimeConfig",
        "TimeConfig(event_time_extractor='ts')",
    ),
    (
        lambda: hourly().with_time_config_builder(TimeConfig()),  # type: ignore[arg-type]
        T,
        "time_config_builder=TimeConfig() has type TimeConfig, which cannot be called",
        "a function that receives an empty TimeConfig",
        "lambda builder: builder.",
    ),
    (
        lambda: hourly().with_time_config_builder(lambda _: None),  # type: ignore[arg-type, return-value]
        T,
        "time_config_builder=<function <lambda>",
        "a function that receives an empty TimeConfig and returns one",
        "lambda builder: builder.",
    ),
    (
        lambda: session().over(FRAME),
        A,
        "idle_timeout is missing: it is the gap of a session_window",
        "1ms or more",
        ".with_time_config_builder(lambda b: b.with_idle_timeout('5m'))",
    ),
    (
        lambda: (
            hourly().with_time_config(TimeConfig("ts", idle_timeout_clock="EVENT_TIME")).over(FRAME)
        ),
        A,
        "idle_timeout_clock='EVENT_TIME' has no effect without an idle_timeout",
        "both, or none",
        "with_idle_timeout('5m')",
    ),
    *(
        (
            lambda name=name, value=value: (
                hourly()
                .with_time_config(TimeConfig(idle_timeout="5m", **{name: value}))
                .over(FRAME)
            ),
            A,
            f"{name}={value!r} needs an event_time_extractor",
            f"{name} with an event_time_extractor",
            "with_event_time_extractor('ts')",
        )
        for name, value in {
            "delay_window_close": "5s",
            "watermark_strategy": "MIN_EVENT_TIME",
            "idle_timeout_clock": "EVENT_TIME",
            "late_rule": "frame_closed",
            "scope": "key",
            "policy": WatermarkPolicies.min_event_time(),
        }.items()
    ),
    (
        lambda: hourly().with_time_config(TimeConfig()).with_late("count").over(FRAME),
        A,
        "late='count' needs an event_time_extractor",
        "late with an event_time_extractor",
        "with_event_time_extractor('ts')",
    ),
    (
        lambda: counted().with_time_config(TimeConfig("ts", delay_window_close="5s")).over(FRAME),
        A,
        "delay_window_close='5s' applies to time, and a sliding_count_window ends with a row",
        "delay_window_close of a time window",
        "remove delay_window_close",
    ),
    (
        lambda: counted().with_time_config(TimeConfig("ts", late_rule="frame_closed")).over(FRAME),
        A,
        "late_rule='frame_closed' applies to time",
        "late_rule of a time window",
        "remove late_rule",
    ),
    (
        lambda: (
            hourly()
            .with_time_config(
                TimeConfig("ts", "MIN_EVENT_TIME", policy=WatermarkPolicies.max_event_time())
            )
            .over(FRAME)
        ),
        A,
        "policy=WatermarkPolicies.max_event_time() cannot be combined with watermark_strategy=",
        "one of the two",
        "remove watermark_strategy",
    ),
    (
        lambda: session(event_time_extractor="ts", idle_timeout="5m", scope=["ts"]).over(FRAME),
        A,
        "scope=['ts'] requires keys, and there is no key extractor",
        "'key', 'global', or a key extractor",
        ".with_key_extractor('user_id')",
    ),
    (
        lambda: hourly().with_time_config(TimeConfig(heartbeat="1s")).over(FRAME),
        A,
        "heartbeat='1s' looks for idle keys, but no clock makes a key idle",
        "heartbeat with an idle_timeout",
        "with_idle_timeout('5m')",
    ),
    (
        lambda: hourly().with_time_config(TimeConfig(key_ttl="1h")).over(FRAME),
        A,
        "key_ttl='1h' forgets idle keys, but no clock makes a key idle",
        "key_ttl with an idle_timeout",
        "with_idle_timeout('5m')",
    ),
    (
        lambda: (
            hourly()
            .with_time_config(TimeConfig("ts", scope="global", max_rows_per_batch=1))
            .over(FRAME)
        ),
        A,
        "max_rows_per_batch=1 requires a watermark for each key",
        "max_rows_per_batch with scope='key'",
        "with_scope('key')",
    ),
    (
        lambda: TimeConfig(max_rows_per_batch=0),
        A,
        "max_rows_per_batch=0 is out of range",
        "1 to 2147483647",
        "max_rows_per_batch=1",
    ),
]


@pytest.mark.parametrize(("go", "error", "begins", "allowed", "fix"), BUILDER)
def test_a_wrong_time_is_refused(
    go: Callable[[], object], error: type[EventtideError], begins: str, allowed: str, fix: str
) -> None:
    """In the words of the builder."""
    assert_refused(go, error, begins, allowed, fix)
