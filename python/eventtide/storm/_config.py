"""The translation of Storm's configuration keys to settings of the builder."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from eventtide._text.arguments import of_type
from eventtide._text.durations import in_words
from eventtide.errors import ArgumentTypeError, refused
from eventtide.storm._extents import Count

__all__ = ["KEYS", "read_config"]

_BOLTS = "topology.bolts."
_LENGTH, _SLIDE = f"{_BOLTS}window.length.", f"{_BOLTS}window.sliding.interval."
_COUNT, _DURATION = "count", "duration.ms"

KEYS: Mapping[str, str] = MappingProxyType(
    {
        f"{_LENGTH}{_COUNT}": "length",
        f"{_LENGTH}{_DURATION}": "length",
        f"{_SLIDE}{_COUNT}": "slide",
        f"{_SLIDE}{_DURATION}": "slide",
        f"{_BOLTS}tuple.timestamp.field.name": "timestamp_field",
        f"{_BOLTS}tuple.timestamp.max.lag.ms": "lag",
        f"{_BOLTS}watermark.event.interval.ms": "watermark_interval",
        f"{_BOLTS}late.tuple.stream": "late_tuple_stream",
    }
)
"""Each Storm key with its setting."""

_MOST = (2**63 - 1) // 1000  # milliseconds, as microseconds are longs in the JVM
_NOT_HERE = f"{_BOLTS}message.id.field.name"
# Bolts have other keys too, such as the size of their buffers.
_OF_WINDOWS = tuple(
    f"{_BOLTS}{name}." for name in ("window", "tuple", "watermark", "late", "message")
)
_FIX = "StormWindow.from_config({'topology.bolts.window.length.duration.ms': 20000})"


def read_config(config: Mapping[str, object]) -> dict[str, object]:
    """Return the settings of a windowed bolt in a configuration; other keys are ignored.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        A key of a windowed bolt is unknown, a value is not valid, or a length or slide is given
        twice.
    """
    allowed = "a mapping from Storm's keys to values"
    of_type("config", config, Mapping, allowed, _FIX)
    bolts = {key: value for key, value in config.items() if str(key).startswith(_OF_WINDOWS)}
    for key in bolts:
        _check_key(key)
    read: dict[str, object] = {}
    for key, name in KEYS.items():
        if bolts.get(key) is None:
            continue
        if name in read:
            problem = f"says the {name} again, in another unit"
            fix = f"remove {key}"
            raise refused(key, bolts[key], problem, allowed="one of the two", fix=fix)
        read[name] = _value(key, bolts[key])
    return read


def _check_key(key: str) -> None:
    if key in KEYS:
        return
    if key == _NOT_HERE:
        problem = "is for replays, of which Spark's checkpoint prevents duplicates"
        raise refused("config", key, problem, allowed=f"{', '.join(KEYS)}", fix=f"remove {key}")
    near = get_close_matches(key, KEYS, n=1) or [next(iter(KEYS))]
    allowed = ", ".join(KEYS)
    raise refused("config", key, "is not a key of windowed bolts", allowed=allowed, fix=near[0])


def _value(key: str, value: object) -> object:
    if key.endswith((".field.name", ".stream")):
        of_type(key, value, str, "a name", f"{{'{key}': 'ts'}}")
        return value
    number = _number(key, value)
    if key.endswith(_COUNT):
        return Count(number)
    return in_words(number * 1000)


def _number(key: str, value: object) -> int:
    unit = "rows" if key.endswith(_COUNT) else "milliseconds"
    least = 0 if key.endswith("lag.ms") else 1
    allowed = f"a whole number of {unit}, {least} or more, up to {_MOST}"
    fix = f"{{'{key}': 1000}}"
    if isinstance(value, bool) or not isinstance(value, int):
        problem = f"has type {type(value).__name__}"
        raise refused(key, value, problem, allowed=allowed, fix=fix, error=ArgumentTypeError)
    if not least <= value <= _MOST:
        raise refused(key, value, "is out of range", allowed=allowed, fix=fix)
    return value
