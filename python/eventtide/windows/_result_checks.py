"""Checks of combinations of settings for results and late rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.durations import micros
from eventtide.errors import refused
from eventtide.windows._unframed import Counted, Session

if TYPE_CHECKING:
    from eventtide.windows._settings import Settings

__all__ = ["check_results"]


def check_results(settings: Settings) -> None:
    """Reject panes that cannot differ, and late-log settings without a late log."""
    _check_emit(settings)
    _check_panes(settings)
    _check_by_row(settings)
    _check_late_rows(settings)


def _check_emit(settings: Settings) -> None:
    """Reject `early` or `updates` together with `emit`, which replaces both."""
    for name in ("early", "updates"):
        if settings.emit and (value := getattr(settings, name)):
            problem = "says when there are results, which emit(...) says already"
            allowed, fix = f"{name}(...) or emit(...), one of the two", f"remove {name}"
            raise refused(name, value, problem, allowed=allowed, fix=fix)


def _check_panes(settings: Settings) -> None:
    lateness = settings.allowed_lateness
    if settings.updates and (lateness is None or micros("allowed_lateness", lateness) == 0):
        problem = "has nothing to update: no row may come after a window's result"
        allowed, fix = "updates() with an allowed lateness", ".allowed_lateness('1m')"
        raise refused("updates", settings.updates, problem, allowed=allowed, fix=fix)
    if settings.discarding and settings.early is None and not settings.updates:
        problem = "has nothing to discard: a window has one result"
        allowed, fix = "discarding() with early(...) or updates()", ".early(every='10s')"
        raise refused("discarding", settings.discarding, problem, allowed=allowed, fix=fix)


def _check_by_row(settings: Settings) -> None:
    """Reject updates of windows that process rows one by one, which drop emitted results."""
    if (reason := _taken_by_row(settings)) is None:
        return
    for name in ("updates", "discarding"):
        if value := getattr(settings, name):
            problem = f"cannot be combined with {reason}"
            allowed = f"{name}() with tumbling, sliding or cumulate and one watermark for all keys"
            raise refused(name, value, problem, allowed=allowed, fix=f"remove {name}()")


def _taken_by_row(settings: Settings) -> str | None:
    """Return the setting that makes the window process rows one by one, None without one."""
    scope = settings.watermark_scope
    if isinstance(settings.shape, (Session, Counted)):
        return repr(settings.shape)
    if scope is not None and scope.name != "global":
        return repr(scope)
    if settings.idle_timeout is not None:
        return repr(settings.idle_timeout)
    return "emit(...)" if settings.emit else None


def _check_late_rows(settings: Settings) -> None:
    if settings.late in {None, "log"}:
        return
    if settings.late_to is not None:
        problem = f"is a place for late rows, and late={settings.late!r} keeps none"
        allowed = "late_to with late='log'"
        raise refused("late_to", settings.late_to, problem, allowed=allowed, fix=".late('log')")
    if settings.late_retention is not None:
        problem = f"is how long late rows are kept, and late={settings.late!r} keeps none"
        allowed, fix = "late_retention with late='log'", ".late('log')"
        raise refused("late_retention", settings.late_retention, problem, allowed=allowed, fix=fix)
    if settings.on_late is not None:
        problem = f"takes late rows from the log, and late={settings.late!r} keeps none"
        allowed, fix = "on_late with late='log'", ".late('log')"
        raise refused("on_late", settings.on_late.handler, problem, allowed=allowed, fix=fix)
