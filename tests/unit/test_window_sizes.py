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
        ("interval 1 minute", "PT60S", None),
        ("INTERVAL 1 day", "PT86400S", "P1D"),
        ("interval 3 months", "P3M", "P3M"),
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
        ("-1 month", "is negative"),
        ("interval -1 month", "is negative"),
        ("1us", "is shorter than Spark's watermarks"),
        ("1 month 1 day", "mixes"),
        ("1 month 2h", "mixes"),
        ("1.5 months", "is not a whole number of months"),
        ("6 months 1 year", "units in the wrong order"),
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
            {"kind": "count", "rows": "10", "slide": "10"},
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
        ("sliding", "1m", "7s", r"^size='1m' is not a multiple of every='7s'.*Try: every='6s' or "),
        ("sliding", "1m", "7s", r" Try: every='6s' or every='10s'\.$"),
        ("sliding", "11s", "3s", r" Try: every='1s'\.$"),  # 11s is four times as long
        ("sliding", "7919s", "100s", r" Try: size='2h 11m 40s'\.$"),  # divisors are 1s and 7919s
        ("sliding", "10s 500ms", "3s", r" Try: size='12s'\.$"),  # no whole seconds divide it
        ("sliding", "2ms 4us", "1ms 1us", r" Try: every='1ms 2us'\.$"),  # 668us are too short
        ("sliding", "30s", "70s", r" Try: every='30s'\.$"),
        ("sliding", "1s", "1m", r" Try: size='1m'\.$"),
        ("sliding", "1 day", "7h", r" Try: every='6h' or every='8h'\.$"),
        ("sliding", "90h", "2 days", r" Try: size='4d'\.$"),
        ("sliding", "7 days", "2 days", r" Try: every='1 day'\.$"),
        ("sliding", "1 year", "5 months", r" Try: every='4 months' or every='6 months'\.$"),
        ("sliding", "1 month", "1 day", r"^size='1 month' is not a multiple.*Try: every='1 month'"),
        (
            "cumulate",
            "1h",
            "7m",
            r"^size='1h' is not a multiple of step='7m'.*Try: step='6m' or step='10m'\.$",
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
def test_a_size_or_a_slide_that_is_offered_fits(size: int, piece: int) -> None:
    """With few enough frames, and no other multiple is nearer; it can be pasted."""
    try:
        Framed("sliding", timedelta(microseconds=size), timedelta(microseconds=piece))
    except EventtideError as error:
        for fix in str(error.fix).split(" or "):
            name, offered = fix.split("=")
            fitting = micros(name, offered.strip("'"))
            if name == "size":
                assert abs(fitting - size) * 2 <= piece or fitting == piece
            sizes = (fitting, piece) if name == "size" else (size, fitting)
            Framed("sliding", *(timedelta(microseconds=length) for length in sizes))


@given(st.integers(1, 400), st.integers(1, 400), st.sampled_from(["s", "m", " days", " months"]))
def test_the_nearest_slides_that_divide_a_size_are_offered(
    size: int, piece: int, unit: str
) -> None:
    """Below and above, in the unit of the slide, not ten times as short or as long."""
    try:
        Framed("sliding", f"{size}{unit}", f"{piece}{unit}")
    except EventtideError as error:
        spans = [
            read_size(*fix.split("=")) for fix in str(error.fix).replace("'", "").split(" or ")
        ]
        one = read_size("every", f"1{unit}").count
        step = 60 if unit in "sm" and piece % 60 == 0 else 1  # whole minutes, whole hours
        fitting = [n for n in range(step, size + 1, step) if size % n == 0]
        near = [n for n in fitting if piece <= 10 * n <= 100 * piece]
        below = [n for n in near if n < piece][-1:]
        above = [n for n in near if piece < n < size][:1]
        assert str(error.fix).startswith("every=") == bool(below or above)  # noqa: PT017 - or it fits
        assert not (below or above) or [span.count // one for span in spans] == below + above
