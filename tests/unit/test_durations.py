"""Durations: what is read, what is refused, and that nothing is rounded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from eventtide._text.durations import in_words, micros, to_iso
from eventtide.errors import InvalidDurationError
from hypothesis import given
from hypothesis import strategies as st

LARGEST = 2**63 - 1
SECOND = 1_000_000

lengths = st.integers(0, LARGEST)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0s", 0),
        ("5s", 5 * SECOND),
        (" 5 s ", 5 * SECOND),
        ("5 seconds", 5 * SECOND),
        ("5 Minutes", 300 * SECOND),
        ("1h30m", 5_400 * SECOND),
        ("1h 30 minutes", 5_400 * SECOND),
        ("1w 1d", 8 * 86_400 * SECOND),
        ("250ms", 250_000),
        ("1us", 1),
        ("1µs", 1),
        ("1μs", 1),
        ("0.000001s", 1),
        ("1.5h", 5_400 * SECOND),
        ("PT5S", 5 * SECOND),
        ("pt5s", 5 * SECOND),
        ("PT1H30M", 5_400 * SECOND),
        ("PT0.25S", 250_000),
        ("P1D", 86_400 * SECOND),
        ("P1W", 7 * 86_400 * SECOND),
        ("P1DT1M", 86_460 * SECOND),
        (timedelta(0), 0),
        (timedelta(days=1, microseconds=1), 86_400 * SECOND + 1),
        ("9223372036854775807us", LARGEST),
        ("interval 5 seconds", 5 * SECOND),
        (" INTERVAL  1 day 2 hours", 26 * 3_600 * SECOND),
    ],
)
def test_a_duration_is_read_exactly(written: str | timedelta, expected: int) -> None:
    """Text with units, ISO 8601 and timedelta, to the microsecond."""
    assert micros("lag", written) == expected


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (5, "a number without a unit"),
        (0.5, "a number without a unit"),
        (True, "has type bool"),
        (None, "has type NoneType"),
        (b"5s", "has type bytes"),
        ("", "cannot be read"),
        ("   ", "cannot be read"),
        ("5", "cannot be read"),
        ("s", "cannot be read"),
        ("P", "cannot be read"),
        ("PT", "cannot be read"),
        ("P1DT", "cannot be read"),
        ("5s!", "cannot be read"),
        ("--5s", "cannot be read"),
        ("1,500ms", "cannot be read"),
        ("1e3s", "the unknown unit 'e'"),
        ("\u0665s", "cannot be read"),  # an Arabic five
        ("5 fortnights", "the unknown unit 'fortnights'"),
        ("5M", "the unknown unit 'M'"),
        ("5ns", "the unit 'ns', which is too fine"),
        ("interval", "cannot be read"),
        ("interval5s", "cannot be read"),
        ("30m 1h", "units in the wrong order"),
        ("1s 1s", "units in the wrong order"),
        ("1 month", "the unit 'month', whose length varies"),
        ("2y", "the unit 'y', whose length varies"),
        ("P1M", "the unit 'months', whose length varies"),
        ("P1Y2D", "the unit 'years', whose length varies"),
        ("0.5us", "not a whole number of microseconds"),
        ("-5s", "negative"),
        ("-PT5S", "negative"),
        ("interval -5 seconds", "negative"),
        (timedelta(seconds=-5), "negative"),
        ("9223372036854775808us", "longer than the JVM can count"),
        (timedelta.max, "longer than the JVM can count"),
    ],
)
def test_what_is_no_duration_is_refused(written: Any, problem: str) -> None:
    """The message has the argument, the value, what is wrong, what is allowed and what to try."""
    with pytest.raises(InvalidDurationError) as error:
        micros("max_lull", written)
    message = str(error.value)
    assert message.startswith(f"max_lull={written!r} ")
    assert problem in message
    assert (error.value.allowed == "zero or more") == (problem == "negative")
    assert f"Allowed: {error.value.allowed}. Try: max_lull='" in message
    assert len(str(error.value.allowed)) < 110
    assert micros("max_lull", str(error.value.fix).partition("=")[2].strip("'")) >= 0


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        (5, "5s"),
        ("10 sekonds", "10 seconds"),
        ("5M", "5m"),
        ("2 Hrs", "2 hr"),
        ("1h 30minuts", "1h 30minutes"),
        ("interval 5 secondes", "interval 5 seconds"),
        ("5 fortnights", "5 s"),
        ("1e3s", "1s"),  # 1s3s is no duration
        ("-5 sekonds", "5seconds"),
        ("1 month", "30d"),
        ("interval 2 months", "60d"),
        ("1.5 years", "548d"),
        ("0.001 months", "1d"),
        ("99999999999 years", "106751991d"),
        ("-30s", "30s"),
        ("5s 1m", "1m 5s"),
        ("1s 1s", "2s"),
        ("5 nanoseconds", "1us"),
        ("0.1us", "1us"),
        ("-9223372036854775809us", "106751991d 4h 54s 775ms 807us"),
    ],
)
def test_the_duration_that_is_offered_keeps_the_number(written: Any, fix: str) -> None:
    """With the nearest unit, or in days; it can be read."""
    with pytest.raises(InvalidDurationError) as error:
        micros("lag", written)
    assert error.value.fix == f"lag={fix!r}"
    assert micros("lag", fix) > 0


@pytest.mark.parametrize("written", ["0s", "PT0S", "-0s", timedelta(0)])
def test_zero_is_refused_only_where_it_must_be_positive(written: str | timedelta) -> None:
    """A lag may be zero, a frame may not."""
    assert micros("lag", written) == 0
    with pytest.raises(InvalidDurationError, match=r"is zero\. Allowed: more than zero"):
        micros("size", written, positive=True)


def test_a_pandas_timedelta_is_not_rounded() -> None:
    """Pandas counts nanoseconds; they are refused instead of dropped."""

    class Timedelta(timedelta):
        nanoseconds = 1

    with pytest.raises(InvalidDurationError, match="not a whole number of microseconds"):
        micros("lag", Timedelta(seconds=1))


@given(lengths)
def test_text_in_words_is_read_back(length: int) -> None:
    """What `explain` and errors print can be pasted as a duration."""
    assert micros("lag", in_words(length)) == length


@given(lengths)
def test_iso_text_is_read_back(length: int) -> None:
    """What crosses to the JVM is a duration here, too."""
    iso = to_iso("lag", in_words(length))
    assert micros("lag", iso) == length
    assert to_iso("lag", iso) == iso


@given(st.timedeltas(timedelta(0), timedelta(days=100_000_000)))
def test_a_timedelta_is_read_exactly(length: timedelta) -> None:
    """No step goes through a float."""
    assert timedelta(microseconds=micros("lag", length)) == length


@given(st.text() | st.from_regex(r"P?T?[-0-9.]*[a-zA-Z ]*", fullmatch=True))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises another error, takes for ever or gives a length out of range."""
    try:
        length = micros("lag", text)
    except InvalidDurationError as error:
        assert str(error).startswith("lag=")  # noqa: PT017 - either outcome is right
    else:
        assert 0 <= length <= LARGEST
