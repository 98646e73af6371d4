"""The translation of a Storm bolt to a window of `et.window`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eventtide.errors import refused
from eventtide.policies import WatermarkPolicies
from eventtide.storm._extents import StormShape, shape_of
from eventtide.storm._streams import check_free, timed
from eventtide.windows import WindowBuilder
from eventtide.windows._event_time import PROCESSING_TIME
from eventtide.windows._extractors import extracted
from eventtide.windows._shapes import Framed

if TYPE_CHECKING:
    from eventtide.storm._model import Bolt, Streams
    from eventtide.windows._execution import Execution
    from eventtide.windows._profiles import Profile
    from eventtide.windows._shapes import Shape

__all__ = ["bound"]

_INTERVAL = "1s"  # Storm's default
_OF_TIME = ("lag", "watermark_interval", "late_tuple_stream", "late", "late_to")
_KEPT = (None, "log")


def bound(bolt: Bolt, execution: Execution | None = None) -> WindowBuilder:
    """Return the bolt as a window over its rows, without its aggregates, after its checks."""
    shape = _shape(bolt, execution)
    builder = _timed(bolt)
    keys = [extracted("group_by", key, builder.df) for key in bolt.keys]
    builder = builder.key_by(*keys) if keys else builder
    for name in ("late", "late_to"):
        if (value := getattr(bolt, name)) is not None:
            builder = getattr(builder, name)(value)
    profile: Profile | None = "storm" if isinstance(shape, Framed) else None
    ttl = None if isinstance(shape, Framed) else bolt.key_ttl
    told = replace(builder.settings, shape=shape, profile=profile, key_ttl=ttl, execution=execution)
    return replace(builder, settings=told)


def _shape(bolt: Bolt, execution: Execution | None) -> Shape:
    if bolt.length is None or bolt.slide is None:
        allowed, fix = "a Count or a duration", ".with_window('20s', '10s')"
        raise refused("length", None, "is missing", allowed=allowed, fix=fix)
    if execution is None:
        return shape_of(bolt.length, bolt.slide, bolt.max_events_in_memory)
    return StormShape(bolt.length, bolt.slide, bolt.max_events_in_memory)


def _timed(bolt: Bolt) -> WindowBuilder:
    if bolt.streams is None:
        allowed, fix = "a DataFrame, or several by name", ".over(events)"
        raise refused("over", None, "is missing", allowed=allowed, fix=fix)
    if bolt.late_tuple_stream is not None and bolt.late not in _KEPT:
        problem = f"is a stream of late rows, but late={bolt.late!r} writes none"
        allowed, fix = "late_tuple_stream with late='log'", ".with_late('log')"
        raise refused(
            "late_tuple_stream", bolt.late_tuple_stream, problem, allowed=allowed, fix=fix
        )
    rows = timed(bolt)
    if rows.column is None:
        _check_without_time(bolt, bolt.streams)
        for frame in bolt.streams.frames.values():
            check_free("over", frame, (PROCESSING_TIME,), ".over(events)")
        return WindowBuilder(rows.df).processing_time()
    interval = _INTERVAL if bolt.watermark_interval is None else bolt.watermark_interval
    policy = WatermarkPolicies.storm("0s" if bolt.lag is None else bolt.lag).emit_every(interval)
    streams = bolt.streams
    return WindowBuilder(rows.df).event_time(
        rows.column, policy, substream=streams.substream, expected=streams.declared
    )


def _check_without_time(bolt: Bolt, streams: Streams) -> None:
    """Reject settings that require event time."""
    told = {name: getattr(bolt, name) for name in _OF_TIME}
    for name, value in {**told, "stream": streams.column}.items():
        if value is not None:
            problem = "is about event time, and no timestamp is set"
            allowed = f"{name} with a timestamp field or extractor"
            fix = ".with_timestamp_field('ts')"
            raise refused(name, value, problem, allowed=allowed, fix=fix)
