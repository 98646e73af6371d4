"""Checks of combinations of time settings of a window and its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide.errors import refused
from eventtide.windows._unframed import Session

if TYPE_CHECKING:
    from eventtide.windows._settings import Settings

__all__ = ["check_time"]

_OF_EVENT_TIME = (
    "delay",
    "allowed_lateness",
    "late_rule",
    "late",
    "late_to",
    "late_retention",
    "on_late",
)


def check_time(settings: Settings) -> None:
    """Reject conflicting clocks, watermarks by key without keys, and unused idle settings."""
    if settings.processing_time:
        _check_processing_time(settings)
    _check_scope(settings)
    _check_silence(settings)
    _check_rows_at_once(settings)


def _check_processing_time(settings: Settings) -> None:
    time, scope, idle = settings.event_time, settings.watermark_scope, settings.key_idle_timeout
    if time is not None:
        problem, allowed = "cannot be combined with processing_time()", "one of the two"
        fix = "remove processing_time()"
        raise refused("event_time", time.column, problem, allowed=allowed, fix=fix)
    for name in _OF_EVENT_TIME:
        if (value := getattr(settings, name)) is not None:
            problem = "is about late rows, and with processing_time() no row is late"
            allowed, fix = f"{name} with an event time", ".event_time('ts') in its place"
            shown = getattr(value, "handler", value)
            raise refused(name, shown, problem, allowed=allowed, fix=fix)
    if scope is not None and settings.is_by_key:
        problem = "requires several watermarks, and with processing_time() there is one clock"
        allowed, fix = "'key' or columns with an event time", "remove watermark_scope"
        raise refused("watermark_scope", scope.written, problem, allowed=allowed, fix=fix)
    if idle is not None and idle.clock == "event_time":
        problem = "needs an event time, and with processing_time() rows have none"
        allowed, fix = "clock='processing_time'", "clock='processing_time'"
        raise refused("clock", idle.clock, problem, allowed=allowed, fix=fix)


def _check_scope(settings: Settings) -> None:
    scope = settings.watermark_scope
    if scope is None or not settings.is_by_key:
        return
    if scope.name == "group" and not settings.key_by:
        problem = "requires keys, and there are none"
        allowed, fix = "'key', 'global', or keys by key_by(...)", "watermark_scope('key')"
        raise refused("watermark_scope", scope.written, problem, allowed=allowed, fix=fix)
    if isinstance(settings.shape, Session) and settings.key_idle_timeout is None:
        problem = (
            f"is missing: with watermark_scope={scope.written!r} the last session of a key would"
            " stay open until its next row"
        )
        allowed, fix = "a duration of at least the gap", ".key_idle_timeout('5m')"
        raise refused("key_idle_timeout", None, problem, allowed=allowed, fix=fix)


def _check_rows_at_once(settings: Settings) -> None:
    scope, rows = settings.watermark_scope, settings.max_rows_per_batch
    if rows is not None and (scope is None or scope.name != "key"):
        problem = "requires a watermark for each key, and the keys share one"
        allowed, fix = "max_rows_per_batch with watermark_scope('key')", ".watermark_scope('key')"
        raise refused("max_rows_per_batch", rows, problem, allowed=allowed, fix=fix)


def _check_silence(settings: Settings) -> None:
    if settings.key_idle_timeout is not None or settings.is_by_key:
        return
    if settings.shape is not None and settings.shape.remembers:
        return  # keys without open windows have state, such as their number of rows
    for name in ("key_ttl", "heartbeat"):
        if (value := getattr(settings, name)) is not None:
            problem = "applies only to keys that can become idle"
            allowed = f"{name} with key_idle_timeout(...), or with a watermark_scope by key"
            raise refused(name, value, problem, allowed=allowed, fix=".key_idle_timeout('5m')")
