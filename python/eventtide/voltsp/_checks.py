"""Checks that a VoltSP window is complete and has no settings that do not apply to it.

`eventtide.windows._checks` makes the remaining checks when `results` is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from eventtide._text.durations import frame_micros
from eventtide.errors import InvalidDurationError, refused
from eventtide.voltsp._choices import TimeSource, member
from eventtide.voltsp._kinds import OF
from eventtide.windows._key_time import Scope
from eventtide.windows._shapes import check_sizes
from eventtide.windows._sizes import read_size
from eventtide.windows._unframed import check_maximum, check_rows

if TYPE_CHECKING:
    from eventtide.voltsp._definition import WindowDefinition
    from eventtide.voltsp._time_config import TimeConfig
    from eventtide.windows._sizes import Size

__all__ = ["check"]

_BUILDER = ".with_time_config_builder(lambda b: b.{})"
_OF_EVENT_TIME = ("watermark_strategy", "policy", "delay_window_close", "late_rule", "scope")
_NOT_OF_COUNTS = ("delay_window_close", "late_rule", "scope", "max_rows_per_batch")


def check(window: WindowDefinition) -> None:
    """Reject a window that lacks a setting, or whose settings contradict each other.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        The first invalid setting, with a suggested fix.
    """
    _check_lengths(window)
    _check_aggregates(window)
    _check_idle(window)
    _check_clock(window)
    _check_counted(window)
    _check_policy(window)
    _check_scope(window)
    _check_late_rows(window)


def _check_lengths(window: WindowDefinition) -> None:
    counted = "count" in window.kind
    for name in ("window_span", "slide"):
        if window.kind in OF[name] and getattr(window, name) is None:
            allowed = "a whole number of rows" if counted else "a duration of 1ms or more"
            fix = f".with_{name}({10 if counted else '1m'!r})"
            problem = f"is missing: a {window.kind} needs it"
            raise refused(name, None, problem, allowed=allowed, fix=fix)
    spans = {"window_span": window.window_span, "slide": window.slide}
    if counted:
        check_rows(*spans.items())
    elif window.window_span is not None:
        given = {name: cast("Size", span) for name, span in spans.items() if span is not None}
        for name, span in given.items():
            _check_calendar(name, span)
        check_sizes(given)


def _check_calendar(name: str, span: Size) -> None:
    if read_size(name, span).unit == "month":
        problem = "is a calendar size, and there is no time zone here"
        allowed, fix = "a duration", f"et.window(df).tumbling({span!r}).time_zone('Europe/Berlin')"
        raise refused(name, span, problem, allowed=allowed, fix=fix, error=InvalidDurationError)


def _check_aggregates(window: WindowDefinition) -> None:
    if not window.aggregate_definition.aggregates:
        allowed, fix = "one aggregate or more", ".with_aggregate_definition(lambda a: a.count())"
        raise refused("aggregate_definition", None, "is missing", allowed=allowed, fix=fix)


def _check_idle(window: WindowDefinition) -> None:
    timeout, clock = window.time_config.idle_timeout, window.time_config.idle_timeout_clock
    fix = _BUILDER.format("with_idle_timeout('5m')")
    if window.kind == "session_window":
        if timeout is None:
            problem, allowed = "is missing: it is the gap of a session_window", "1ms or more"
            raise refused("idle_timeout", None, problem, allowed=allowed, fix=fix)
        frame_micros("idle_timeout", timeout)
        if window.maximum_duration is not None:
            check_maximum(window.maximum_duration, "idle_timeout", timeout)
    if clock is not None and timeout is None:
        problem, allowed = "has no effect without an idle_timeout", "both, or none of them"
        raise refused("idle_timeout_clock", clock, problem, allowed=allowed, fix=fix)


def _check_clock(window: WindowDefinition) -> None:
    """Reject event-time settings in processing time, where there is one clock and no late row."""
    config = window.time_config
    if config.event_time_extractor is not None:
        return
    values = {name: getattr(config, name) for name in _OF_EVENT_TIME}
    clock = config.idle_timeout_clock
    if clock and member(TimeSource, "idle_timeout_clock", clock) is TimeSource.EVENT_TIME:
        values["idle_timeout_clock"] = clock
    for name, value in {**values, "late": window.late, "late_to": window.late_to}.items():
        if value is not None:
            problem = "needs an event_time_extractor"
            allowed = f"{name} with an event_time_extractor"
            fix = _BUILDER.format("with_event_time_extractor('ts')")
            raise refused(name, value, problem, allowed=allowed, fix=fix)


def _check_counted(window: WindowDefinition) -> None:
    for name in _NOT_OF_COUNTS if "count" in window.kind else ():
        if (value := getattr(window.time_config, name)) is not None:
            problem = f"applies to time, and a {window.kind} ends with a row, regardless of time"
            allowed, fix = f"{name} of a time window", f"remove {name}"
            raise refused(name, value, problem, allowed=allowed, fix=fix)


def _check_policy(window: WindowDefinition) -> None:
    policy, strategy = window.time_config.policy, window.time_config.watermark_strategy
    if policy is not None and strategy is not None:
        problem, allowed = (
            f"cannot be combined with watermark_strategy={strategy!r}",
            "one of the two",
        )
        fix = "remove watermark_strategy"
        raise refused("policy", policy, problem, allowed=allowed, fix=fix)


def _check_scope(window: WindowDefinition) -> None:
    config = window.time_config
    scope = Scope("key" if config.scope is None else config.scope).name
    if scope == "group" and not window.key_extractor:
        problem = "requires keys, and there is no key extractor"
        allowed, fix = "'key', 'global', or a key extractor", ".with_key_extractor('user_id')"
        raise refused("scope", config.scope, problem, allowed=allowed, fix=fix)
    _check_groups(window)
    has_own = scope != "global" and config.event_time_extractor is not None
    if config.idle_timeout is None and not has_own and "count" not in window.kind:
        _refuse_silence(config)
    if config.max_rows_per_batch is not None and not (has_own and scope == "key"):
        problem = "requires a watermark for each key, and the keys share one"
        allowed, fix = "max_rows_per_batch with scope='key'", _BUILDER.format("with_scope('key')")
        value = config.max_rows_per_batch
        raise refused("max_rows_per_batch", value, problem, allowed=allowed, fix=fix)


def _check_groups(window: WindowDefinition) -> None:
    """Reject scope columns that are not keys; only names are compared, Spark checks the rest."""
    scope, keys = window.time_config.scope, window.key_extractor
    columns = [] if scope is None else Scope(scope).columns
    if all(isinstance(one, str) and one.isidentifier() for one in (*columns, *keys)):
        for column in columns:
            if str(column).lower() not in {str(key).lower() for key in keys}:
                allowed = f"'key', 'global', or some of {', '.join(map(repr, keys))}"
                raise refused("scope", column, "is not a key", allowed=allowed, fix="scope='key'")


def _refuse_silence(config: TimeConfig) -> None:
    meanings = {"heartbeat": "looks for", "key_ttl": "forgets"}
    for name, verb in meanings.items():
        if (value := getattr(config, name)) is not None:
            problem = f"{verb} idle keys, but no clock makes a key idle"
            allowed = f"{name} with an idle_timeout, or with a watermark for each key"
            fix = _BUILDER.format("with_idle_timeout('5m')")
            raise refused(name, value, problem, allowed=allowed, fix=fix)


def _check_late_rows(window: WindowDefinition) -> None:
    if window.late in {None, "log"}:
        return
    handler = window.exception_handler
    takers = {"late_to": window.late_to, "exception_handler": handler and handler.handler}
    for name, value in takers.items():
        if value is not None:
            problem = f"reads late rows from the log, but late={window.late!r} writes none"
            allowed, fix = f"{name} with late='log'", ".with_late('log')"
            raise refused(name, value, problem, allowed=allowed, fix=fix)
