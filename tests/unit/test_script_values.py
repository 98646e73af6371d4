"""What a script takes for a row and for a time, and what it says of anything else."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from eventtide.errors import ArgumentTypeError, InvalidArgumentError
from eventtide.testing._values import moment, readable_row, storable, time_text
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

SCHEMA = StructType([StructField("ts", TimestampType()), StructField("key", StringType())])
SEVEN = datetime(2024, 1, 1, 0, 0, 7, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "value",
    [
        "2024-01-01 00:00:07",
        "2024-01-01T00:00:07Z",
        "2024-01-01T02:00:07+02:00",
        SEVEN.replace(tzinfo=None),
        SEVEN.astimezone(timezone(timedelta(hours=9))),
    ],
)
def test_a_time_without_a_zone_is_in_utc(value: str | datetime) -> None:
    """And one with a zone is the same moment."""
    assert (moment(value), time_text(value)) == (SEVEN, "2024-01-01T00:00:07Z")


@pytest.mark.parametrize(
    ("value", "error"),
    [("noon", InvalidArgumentError), (5, ArgumentTypeError), (20240101, ArgumentTypeError)],
)
def test_what_is_no_time_is_refused(value: Any, error: type[Exception]) -> None:
    """With the value and what is allowed."""
    with pytest.raises(
        error, match=r"^time=.* (is not a time|has type int)\. Allowed: ISO 8601 text or a datetime"
    ):
        moment(value)


def test_a_dict_may_leave_columns_out() -> None:
    """They are null."""
    assert storable({"key": "a"}, SCHEMA) == (None, "a")
    assert storable(("2024-01-01 00:00:07", None), SCHEMA) == (SEVEN, None)


@pytest.mark.parametrize("row", [{"kye": "a"}, ("2024-01-01",), ("a", "b", "c"), "ts", 5])
def test_a_row_with_other_columns_is_refused(row: Any) -> None:
    """The message has the row and the columns."""
    with pytest.raises(InvalidArgumentError, match="a dict or a tuple of ts, key"):
        storable(row, SCHEMA)
    with pytest.raises(InvalidArgumentError, match="a dict or a tuple of ts, key"):
        readable_row(row, SCHEMA)
