"""The session's defaults of a window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from eventtide._text.arguments import choice
from eventtide._text.durations import to_iso
from eventtide._text.names import camel
from eventtide.windows._profiles import LateRule, Profile
from eventtide.windows._shapes import Framed
from eventtide.windows._unframed import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from eventtide.windows._settings import Settings

__all__ = ["with_session_defaults"]

_CHOICES = {"profile": get_args(Profile), "late_rule": get_args(LateRule)}


def with_session_defaults(settings: Settings, session: SparkSession) -> Settings:
    """Return the settings, completed by the session's defaults for this window.

    Raises
    ------
    InvalidArgumentError, InvalidDurationError
        A default is not valid; the argument in the error is its key.
    """
    found: dict[str, str] = {}
    for name in _applicable(settings):
        key = f"spark.eventtide.{camel(name)}"
        value = session.conf.get(key, None)
        if getattr(settings, name) is None and value is not None:
            found[name] = _checked(key, value, name)
    return replace(settings, **found)  # type: ignore[arg-type] # as they are checked


def _applicable(settings: Settings) -> Iterator[str]:
    """Yield the settings of the window that have a default in the session."""
    if isinstance(settings.shape, (Framed, Session)):
        yield "profile"
        if not settings.processing_time:
            yield from ("delay", "allowed_lateness")
            yield from ("late_rule",) if settings.profile is None else ()
    if not settings.processing_time and settings.late in {None, "log"}:
        yield "late_retention"
    remembers = settings.shape is not None and settings.shape.remembers
    if settings.key_idle_timeout is not None or settings.is_by_key or remembers:
        yield "heartbeat"
        yield from ("key_ttl",) if settings.key_by else ()


def _checked(key: str, value: str, name: str) -> str:
    if name in _CHOICES:
        return choice(key, value, _CHOICES[name])
    return to_iso(key, value)
