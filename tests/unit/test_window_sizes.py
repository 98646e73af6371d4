"""Sizes of windows and kinds of them: what is read, what is refused, and how it crosses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from eventtide._text.durations import DAY, micros
from eventtide.errors import EventtideError, InvalidArgumentError, InvalidDurationError
from eventtide.windows._shapes import MAX_FRAMES, Framed, Shape
from eventtide.windows._sizes import Span, read_size
from eventtide.windows._unframed import Counted, Session
from hypothesis import given
from hypothesis import strategies as st

lengths = st.integers(1_000, 400 * DAY)


@pytest.mark.parametrize(
    ("written", "fixed", "calendar"),
    [
        ("1m", "PT60S", None),
        ("90 minutes", "PT5400S", None),
        ("24h", "PT86400S", None),
        (timedelta(days=1), "PT86400S", None),
        ("1d 6h", "PT108000S", None),
        ("1.5 days", "PT129600S", None),
        ("1 day", "PT86400S", "P1D"),
        ("P1D", "PT86400S", "P1D"),
        (" 1 Day ", "PT86400S", "P1D"),
        ("2 weeks", "PT1209600S", "P14D"),
        ("1w 1d", "PT691200S", "P8D"),
        ("1 month", "P1M", "P1M"),
        ("P3M", "P3M", "P3M"),
        ("1 Year", "P12M", "P12M"),
        ("1y 6 months", "P18M", "P18M"),
        ("P1Y", "P12M", "P12M"),
    ],
)
def test_a_size_is_a_length_or_a_calendar_unit(
    written: str | timedelta, fixed: str, calendar: str | None
) -> None:
    """A day is 24 hours until there is a time zone; a month never has a fixed length."""
    span = read_size("size", written)
    assert span.iso(zoned=False) == fixed
    assert (span.iso(zoned=True) if span.unit != "us" else None) == calendar


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (60, "a number without a unit"),
        (None, "has type NoneType"),
        ("soon", "cannot be read"),
        ("0s", "is zero"),
        ("0 days", "is zero"),
        ("0 months", "is zero"),
        ("-1 day", "is negative"),
        ("-1 month", "which have no fixed length"),
        ("1us", "is shorter than Spark's watermarks"),
        ("1 month 1 day", "mixes"),
        ("1 month 2h", "mixes"),
        ("1.5 months", "is not a whole number of months"),
        ("6 months 1 year", "from large units to small"),
        ("100000 years", "is longer than"),
        ("1M", "unknown unit 'M'"),
    ],
)
def test_another_size_is_refused(written: Any, problem: str) -> None:
    """With what is allowed, and a size that is."""
    with pytest.raises(InvalidDurationError, match=problem) as error:
        read_size("size", written)
    assert "Allowed: " in str(error.value)
    assert "Try: size='" in str(error.value)


@given(lengths)
def test_every_length_is_a_size(length: int) -> None:
    """To the microsecond, also beside a time zone."""
    span = read_size("size", timedelta(microseconds=length))
    assert span == Span(length, "us")
    assert micros("size", span.words) == length


@given(st.integers(1, 100_000), st.sampled_from([("day", "D"), ("month", "M")]))
def test_every_calendar_size_is_read_back(count: int, unit: tuple[str, str]) -> None:
    """From its words, as ISO 8601 periods."""
    span = read_size("size", f"{count} {unit[0]}s")
    assert read_size("size", span.words) == span
    assert span.iso(zoned=True) == f"P{count}{unit[1]}"


@pytest.mark.parametrize(
    ("shape", "options", "written"),
    [
        (
            Framed("tumbling", "1m"),
            {"kind": "tumbling", "size": "PT60S"},
            "tumbling('1m')",
        ),
        (
            Framed("sliding", "1m", "1s"),
            {"kind": "sliding", "size": "PT60S", "slide": "PT1S"},
            "sliding('1m', every='1s')",
        ),
        (
            Framed("cumulate", "1 day", "1h"),
            {"kind": "cumulate", "size": "PT86400S", "step": "PT3600S"},
            "cumulate('1 day', step='1h')",
        ),
        (Session("5m"), {"kind": "session", "gap": "PT300S"}, "session('5m')"),
        (
            Session("5m", "300s", "merge"),
            {
                "kind": "session",
                "gap": "PT300S",
                "maximum_duration": "PT300S",
                "touching": "merge",
            },
            "session('5m', maximum_duration='300s', touching='merge')",
        ),
        (Counted(1), {"kind": "count", "rows": "1"}, "by_count(1)"),
        (
            Counted(10, 10),
            {"kind": "count", "rows": "10", "every": "10"},
            "by_count(10, every=10)",
        ),
    ],
)
def test_a_shape_crosses_with_its_kind(shape: Shape, options: dict[str, str], written: str) -> None:
    """And prints itself as the call that makes it."""
    assert shape.to_options(zoned=False) == options
    assert repr(shape) == written


@pytest.mark.parametrize(
    ("kind", "size", "piece", "message"),
    [
        ("sliding", "10s", "3s", r"^size='10s' is not a multiple of every='3s'.*Try: size='9s'\.$"),
        ("sliding", "11s", "3s", r"Try: size='12s'\.$"),
        ("sliding", "1s", "1m", r"Try: size='1m'\.$"),
        ("sliding", "1 day", "7h", r"Try: size='21h'\.$"),
        ("sliding", "7 days", "2 days", r"Try: size='8 days'\.$"),
        ("sliding", "1 year", "5 months", r"Try: size='10 months'\.$"),
        ("sliding", "1 month", "1 day", r"^size='1 month' is not a multiple.*Try: every='1 month'"),
        (
            "cumulate",
            "1h",
            "7m",
            r"^size='1h' is not a multiple of step='7m'.*Try: size='1h 3m'\.$",
        ),
        ("sliding", "1h", "1ms", r"^every='1ms' makes 3600000 frames.*Try: every='3ms 600us'\.$"),
        ("cumulate", "1h", "1ms", r"^step='1ms' makes 3600000 frames"),
        ("sliding", "1h", 1, "^every=1 is a number without a unit"),
        ("tumbling", 1, None, "^size=1 is a number without a unit"),
    ],
)
def test_frames_that_do_not_fit_are_refused(kind: Any, size: Any, piece: Any, message: str) -> None:
    """With the nearest that fit."""
    with pytest.raises(InvalidArgumentError, match=message) as error:
        Framed(kind, size, piece)
    assert "Allowed: " in str(error.value)


def test_as_many_frames_as_are_allowed_pass() -> None:
    """The limit itself is allowed."""
    assert MAX_FRAMES == 1_000_000
    Framed("sliding", "1000s", "1ms")


@given(lengths, lengths)
def test_the_nearest_size_that_is_offered_fits(size: int, piece: int) -> None:
    """And no other multiple is nearer."""
    try:
        Framed("sliding", timedelta(microseconds=size), timedelta(microseconds=piece))
    except EventtideError as error:
        name, offered = str(error).rpartition("Try: ")[2].rstrip(".").split("=")
        fitting = micros(name, offered.strip("'"))
        if name == "size":
            assert fitting % piece == 0
            assert abs(fitting - size) * 2 <= piece or fitting == piece
        else:
            assert size % fitting == 0
            assert size // fitting <= MAX_FRAMES
