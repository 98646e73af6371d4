"""The session's defaults of a window, as the JVM applies them; `explain` shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eventtide.windows._shapes import Framed
from eventtide.windows._unframed import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from eventtide.windows._settings import Settings

__all__ = ["with_session_defaults"]

_OF_ALL = ("key_ttl", "heartbeat", "late_retention")
_OF_TIME = ("profile", "late_rule", "delay", "allowed_lateness")


def with_session_defaults(settings: Settings, df: DataFrame) -> Settings:
    """Return the settings with those of the session where a window has none of its own."""
    names = _OF_ALL + _OF_TIME if isinstance(settings.shape, (Framed, Session)) else _OF_ALL
    found: dict[str, Any] = {
        name: value
        for name in names
        if getattr(settings, name) is None
        and (value := df.sparkSession.conf.get(f"spark.eventtide.{_camel(name)}", None)) is not None
    }
    return replace(settings, **found)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
