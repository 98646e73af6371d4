"""Functions of windows over batches of every kind of column, key and timestamp."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from eventtide.errors import ColumnTypeError, InvalidArgumentError
from eventtide.storm import StormWindow, TupleWindow
from pyspark.errors import PythonException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

BOLT = StormWindow().with_tumbling_window("10s")
TIMED = BOLT.with_timestamp_field("ts")


def frame(spark: SparkSession, *rows: tuple[int | None, str, int], kind: str = "") -> DataFrame:
    """Return rows whose time is their number of seconds, as a TIMESTAMP or by SQL text."""
    made = spark.createDataFrame(list(rows), "id int, user string, second int")
    return made.selectExpr("id", "user", f"{kind or 'timestamp_seconds(second)'} AS ts")


def seconds(window: TupleWindow[Any]) -> dict[str, Any]:
    """Return the bounds of a window and the rows in it."""
    bounds = {"start": window.start_timestamp, "end": window.end_timestamp}
    return {**bounds, "ids": window.get()["id"].tolist()}


@pytest.mark.parametrize(
    ("bolt", "kind"),
    [
        (BOLT.with_timestamp_field("ts"), "timestamp_seconds(second)"),
        (BOLT.with_timestamp_field("ts"), "second * 1000L"),
        (BOLT.with_timestamp_extractor("ts * 1000"), "CAST(second AS BIGINT)"),
        (BOLT.with_timestamp_extractor("timestamp_seconds(ts)"), "second"),
        (lambda: BOLT.with_timestamp_extractor(F.timestamp_seconds("ts")), "second"),
        (BOLT.with_timestamp_field({"one": "ts"}), "timestamp_seconds(second)"),
    ],
    ids=["field", "millis", "SQL of millis", "SQL", "Column", "by stream"],
)
def test_the_time_of_a_row_is_a_column_or_computed(
    spark: SparkSession, bolt: StormWindow | Callable[[], StormWindow], kind: str
) -> None:
    """Windows are the same."""
    bolt = bolt if isinstance(bolt, StormWindow) else bolt()
    rows = frame(spark, (1, "a", 3), (2, "a", 10), (3, "a", 11), kind=kind)
    on = bolt.over({"one": rows} if isinstance(bolt.timestamp_field, dict) else rows)
    results = on.execute(seconds, "start timestamp, end timestamp, ids array<int>").results
    found = [(*map(utc, row[:2]), row.ids) for row in results.collect()]
    assert found == [(0, 10, [1, 2]), (10, 20, [3])]


def utc(time: datetime) -> int:
    """Return a time as seconds."""
    return int(time.replace(tzinfo=timezone.utc).timestamp())


def test_times_without_a_zone_stay_so(spark: SparkSession) -> None:
    """In the window's rows, in its bounds, and in what is returned."""
    rows = frame(spark, (1, "a", 3), kind="CAST(timestamp_seconds(second) AS timestamp_ntz)")
    of = TIMED.over(rows).execute(seconds, "start timestamp_ntz, end timestamp_ntz, ids array<int>")
    (row,) = of.results.collect()
    assert (row.start, row.end) == (datetime(1970, 1, 1), datetime(1970, 1, 1, 0, 0, 10))  # noqa: DTZ001


def test_keys_may_have_other_names_or_be_one_value(spark: SparkSession) -> None:
    """A window knows them as they were named."""
    rows = frame(spark, (1, "a", 3), (2, "b", 4), (3, "A", 5))
    bolt = TIMED.group_by(F.upper("user").alias("user"), F.lit("x").alias("of"), F.lit(1))
    counts = bolt.over(rows).execute(
        lambda window: {"key": list(map(str, window.key.values())), "n": len(window.get())},
        "key array<string>, n int",
    )
    found = sorted((row.key, row.n) for row in counts.results.collect())
    assert found == [(["A", "x", "1"], 2), (["B", "x", "1"], 1)]
    with pytest.raises(match="user"):
        TIMED.group_by("user", F.upper("user").alias("user")).over(rows).agg(F.count("*")).results  # noqa: B018


def test_nulls_stay_nulls_and_numbers_whole(spark: SparkSession) -> None:
    """In pandas too, whose numbers would become floating."""

    def checked(window: TupleWindow[Any]) -> dict[str, Any]:
        ids = window.get()["id"]
        return {"type": str(ids.dtype), "none": int(ids.isna().sum()), "sum": int(ids.sum())}

    rows = frame(spark, (2**30 + 1, "a", 3), (None, "a", 4), (1, "a", 5))
    (row,) = TIMED.over(rows).execute(checked, "type string, none int, sum long").results.collect()
    assert row == ("Int32", 1, 2**30 + 2)


def test_a_function_may_yield_its_rows(spark: SparkSession) -> None:
    """One after the other, of any kind; or nothing."""

    def yielding(window: TupleWindow[Any]) -> Iterator[object]:
        yield {"id": 0}
        yield None
        yield window.get()[["id"]]

    rows = frame(spark, (1, "a", 3), (2, "a", 4))
    results = TIMED.over(rows).execute(yielding, "id int").results
    assert [row.id for row in results.collect()] == [0, 1, 2]


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("{'id': 'many'}", "returned rows=.* do not match the columns"),
        ("{'more': 1}", "returned columns=.* are not the columns"),
        ("3", "returned rows=3 has type int"),
        ("window.get()['id'][99]", "KeyError"),
    ],
)
def test_what_goes_wrong_in_a_worker_is_said(
    spark: SparkSession, returned: str, words: str
) -> None:
    """With our words, or those of the function's own error."""
    results = TIMED.over(frame(spark, (1, "a", 3))).execute(
        lambda window: eval(returned, {"window": window}),  # noqa: S307 - the cases above
        "id int",
    )
    with pytest.raises(PythonException, match=words):
        results.results.collect()


def test_a_window_is_good_for_its_own_call(spark: SparkSession) -> None:
    """Its rows are gone with it; to keep it would be to read others' rows."""
    kept: list[TupleWindow[Any]] = []

    def keeping(window: TupleWindow[Any]) -> dict[str, Any]:
        kept.append(window)
        return {"n": len(kept[0].get())}

    rows = frame(spark, (1, "a", 3), (2, "a", 13))
    with pytest.raises(PythonException, match="was kept beyond the call"):
        TIMED.over(rows).execute(keeping, "n int").results.collect()


@pytest.mark.parametrize("schema", ["user string n long", "string", ""])
def test_a_schema_that_is_none_is_refused(spark: SparkSession, schema: str) -> None:
    """Before anything runs."""
    with pytest.raises(InvalidArgumentError, match="schema="):
        TIMED.over(frame(spark)).execute(seconds, schema).results  # noqa: B018


def test_streams_with_two_types_of_a_column_are_refused(spark: SparkSession) -> None:
    """Spark would find a third for both; and times with and without a zone do not go together."""
    rows = frame(spark)
    other = rows.withColumn("id", F.lit("x"))
    with pytest.raises(ColumnTypeError, match="has id as string, and 'one' has it as int"):
        TIMED.over({"one": rows, "two": other})
    local = rows.selectExpr("CAST(ts AS timestamp_ntz) AS at")
    both = BOLT.with_timestamp_field({"one": "ts", "two": "at"}).over({"one": rows, "two": local})
    with pytest.raises(ColumnTypeError, match="timestamp_ntz, and that of 'one' timestamp"):
        both.agg(F.count("*")).results  # noqa: B018
