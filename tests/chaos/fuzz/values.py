"""Odd values; and data, texts and bytes that are valid except for a few odd parts.

A path in a value is a mark, which stands for a folder of the run; see `Canaries`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Place = tuple[Any, Any]
"""A mapping or a list, and the key of one of its values."""

NAMED = "@named@"
"""The mark of the folder of canaries that a value may name."""

LATE_FILE = "2-0-0123456789ab.snappy.parquet"
"""The name of a late file, as an index may have it."""

PATHS = (
    NAMED,
    f"{NAMED}/secret.txt",
    f"{NAMED}/checkpoint",
    f"file:{NAMED}/late",
    *(f"{'../' * steps}named/checkpoint" for steps in range(1, 6)),
    *(f"{'../' * steps}named/late/{LATE_FILE}" for steps in range(1, 6)),
    ".",
    "..",
    "/",
    "nowhere://named/late",
    "file://named:late",
)
NAMES = ("name", "lag", "policy", "5", "", "a.b", "é", "a\0b", "__class__", "-1", "0", "key", "ts")
TEXTS = (
    *PATHS,
    *NAMES,
    *(" ", "\n", "\0", "\u202e", "\U0001f4a5", "\ufeff", "\x85", "`", "'", '"', "--", "$", "\\"),
    *("5s", "0s", "-5s", "1ms", "1us", "PT5S", "P1D", "1 month", "never", "1e9 days", "NaN", "inf"),
    *("9223372036854775807us", "106751992d", "P9999999999D", "PT-9223372036854775808S", "1y"),
    *("9223372036854775808", "-9223372036854775809", "1" * 400, "2147483648", "0x10", "1_0", "٣"),
    *("2024-01-01T00:00:00Z", "-999999999-01-01", "+300000-01-01T00:00:00Z", "UTC", "Mars/Base"),
    *("true", "null", "[]", "{}", "count(*)", "n > 1", "*", "sum(", "é" * 300, "x" * 70_000),
    *("[" * 20_000, '{"a":' * 20_000),
)
NUMBERS = (
    *(0, 1, -1, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), 10**30, 10**400),
    *(0.5, -0.0, 1e308, float("inf"), float("nan")),
)


def nested(depth: int, inner: Any, key: str | None) -> Any:
    """Return a value inside `depth` lists, or inside mappings if there is a key."""
    for _ in range(depth):
        inner = [inner] if key is None else {key: inner}
    return inner


DEEP = st.builds(
    nested,
    st.sampled_from([1, 3, 30, 100]),
    st.sampled_from([0, "5s"]),
    st.sampled_from([None, "of", "a"]),
)
# Copies, as what is drawn is changed again, and Hypothesis hands out the same list each time.
ODD: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(PATHS),
    st.sampled_from(NUMBERS),
    st.sampled_from([None, True, False, [], {}, [None], {"": None}]),
    st.text(max_size=20),
    st.integers(),
    st.floats(),
    DEEP,
).map(deepcopy)


@st.composite
def mostly(draw: st.DrawFn, usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> Any:
    """Return what is usual, and in a fifth of the cases the other; `one_of` would halve them."""
    return draw(usual if draw(st.integers(0, 4)) else other)


def places(data: Any) -> Iterator[Place]:
    """Yield the place of each value in plain data, as deep as it is worth to change."""
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], (dict, list)) and len(waiting) < 100:
                waiting.append(holder[key])


@st.composite
def changed(draw: st.DrawFn, data: Any, odd: st.SearchStrategy[Any] = ODD) -> Any:
    """Return plain data in which up to three places are others."""
    whole = {"": deepcopy(data)}
    for _ in range(draw(st.integers(1, 3))):
        if not (found := list(places(whole))):
            break
        holder, key = found[draw(st.integers(0, len(found) - 1))]
        if holder is whole and not draw(st.booleans()):
            continue  # the whole of it is rarely another
        draw(st.sampled_from(CHANGES))(draw, holder, key, odd)
    return whole.get("")


def _put(draw: st.DrawFn, holder: Any, key: Any, odd: st.SearchStrategy[Any]) -> None:
    holder[key] = draw(odd)


def _drop(_: st.DrawFn, holder: Any, key: Any, __: st.SearchStrategy[Any]) -> None:
    del holder[key]


def _rename(draw: st.DrawFn, holder: Any, key: Any, odd: st.SearchStrategy[Any]) -> None:
    if isinstance(holder, dict):
        holder[draw(st.sampled_from(NAMES))] = holder.pop(key)
    else:
        holder.insert(key, draw(odd))


def _repeat(draw: st.DrawFn, holder: Any, key: Any, _: st.SearchStrategy[Any]) -> None:
    if isinstance(holder, dict):
        holder[draw(st.sampled_from([*holder, *NAMES]))] = deepcopy(holder[key])
    else:
        holder.extend([holder[key]] * draw(st.sampled_from([1, 2, 20])))


def _wrap(draw: st.DrawFn, holder: Any, key: Any, _: st.SearchStrategy[Any]) -> None:
    name = draw(st.sampled_from([None, "of", "name"]))
    holder[key] = nested(draw(st.sampled_from([1, 2, 30])), holder[key], name)


CHANGES: Sequence[Callable[[st.DrawFn, Any, Any, st.SearchStrategy[Any]], None]] = (
    *(_put, _put, _put),
    *(_drop, _rename, _repeat, _wrap),
)


@st.composite
def damaged(draw: st.DrawFn, whole: Any, pieces: st.SearchStrategy[Any]) -> Any:
    """Return a text, or bytes, with up to three parts cut off, repeated, or replaced by pieces."""
    for _ in range(draw(st.integers(1, 3))):
        ends = st.integers(0, len(whole))
        first, last = sorted([draw(ends), draw(ends)])
        near = min(last, first + draw(st.sampled_from([0, 1, 4, 8, len(whole)])))
        put = draw(st.one_of(pieces, st.just(whole[first:last]), st.just(whole[:0])))
        whole = whole[:first] + put + whole[near:]
    return whole
