"""Checks of combinations of settings for results and late rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventtide._text.durations import micros
from eventtide.errors import refused

if TYPE_CHECKING:
    from eventtide.windows._settings import Settings

__all__ = ["check_results"]


def check_results(settings: Settings) -> None:
    """Reject panes that cannot differ, and late-log settings without a late log."""
    _check_panes(settings)
    _check_late_rows(settings)


def _check_panes(settings: Settings) -> None:
    lateness = settings.allowed_lateness
    if settings.late_updates and (lateness is None or micros("allowed_lateness", lateness) == 0):
        problem = "has nothing to update: no row may come after a window's result"
        allowed, fix = "late_updates with an allowed lateness", ".allowed_lateness('1m')"
        raise refused("late_updates", settings.late_updates, problem, allowed=allowed, fix=fix)
    early = any(trigger.name != "at_window_end" for trigger in settings.emit)
    if settings.discarding and not (early or settings.late_updates):
        problem = "has nothing to discard: a window has one result"
        allowed = "discarding with a trigger before the end, or with late_updates"
        fix = ".emit(WindowTrigger.every('10s'), discarding=True)"
        raise refused("discarding", settings.discarding, problem, allowed=allowed, fix=fix)


def _check_late_rows(settings: Settings) -> None:
    if settings.late in {None, "log"}:
        return
    if settings.late_to is not None:
        problem = f"is a folder for late rows, but late={settings.late!r} writes none"
        allowed = "late_to with late='log'"
        raise refused("late_to", settings.late_to, problem, allowed=allowed, fix=".late('log')")
    if settings.late_retention is not None:
        problem = f"is a retention of late rows, but late={settings.late!r} writes none"
        allowed, fix = "late_retention with late='log'", ".late('log')"
        raise refused("late_retention", settings.late_retention, problem, allowed=allowed, fix=fix)
    if settings.on_late is not None:
        problem = f"reads late rows from the log, but late={settings.late!r} writes none"
        allowed, fix = "on_late with late='log'", ".late('log')"
        raise refused("on_late", settings.on_late.handler, problem, allowed=allowed, fix=fix)
