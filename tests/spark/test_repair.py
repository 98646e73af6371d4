"""`et.repair`: late rows correct what a query has written, and nothing else."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeAlias

import eventtide as et
import pytest
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import ROOT, blocks
from tests.spark.queries import at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

Row: TypeAlias = tuple[float | None, str | None, float]

# Second, user, amount. A null user is a user.
ACCEPTED = [(1, "a", 1.0), (2, "a", 3.0), (12, "a", 5.0), (13, "b", 7.0), (3, None, 2.0)]
LATE = [(4, "a", 8.0), (5, None, 2.0), (14, "b", 7.0), (15, "c", 9.0), (None, "a", 4.0)]


def rows(spark: SparkSession, *parts: Iterable[Row]) -> DataFrame:
    """Return a batch of these rows."""
    told = [(None if s is None else at(s), *rest) for part in parts for s, *rest in part]
    texts = spark.createDataFrame(told, "ts string, user string, amount double")
    return texts.withColumn("ts", F.to_timestamp("ts"))


def averages(events: DataFrame) -> WindowBuilder:
    """Return a window whose results cannot be repaired from their values."""
    return (
        et.window(events)
        .event_time("ts", et.WatermarkPolicies.with_fixed_lag("5s"))
        .key_by("user")
        .tumbling("10s")
        .emit(et.WindowTrigger.every_rows(1))
        .late_to("/data/late")
        .agg(F.avg("amount").alias("mean.amount"), F.count("*").alias("n"))
    )


def told(answer: DataFrame) -> set[tuple[Any, ...]]:
    """Return rows as (start in seconds, and the rest)."""
    return {(row[0].start.second, *row[1:]) for row in answer.collect()}


def written(events: DataFrame) -> DataFrame:
    """Return what the query wrote: the windows of the accepted rows, without panes."""
    return (
        et.window(events)
        .event_time("ts")
        .key_by("user")
        .tumbling("10s")
        .agg(F.avg("amount").alias("mean.amount"), F.count("*").alias("n"))
        .results
    )


def test_touched_windows_are_computed_again(spark: SparkSession) -> None:
    """Corrected, new, and unchanged; a null key is a key, a row without a time is in no window."""
    accepted, late = rows(spark, ACCEPTED), rows(spark, LATE)
    every = rows(spark, ACCEPTED, LATE)
    repaired = et.repair(written(accepted), late, averages(accepted), source=every)
    assert repaired.columns == ["window", "user", "mean.amount", "n", "changed"]
    assert told(repaired) == {
        (0, "a", 4.0, 3, "corrected"),
        (0, None, 2.0, 2, "corrected"),
        (10, "a", 5.0, 1, "unchanged"),
        (10, "b", 7.0, 2, "corrected"),
        (10, "c", 9.0, 1, "new"),
    }
    assert told(repaired.drop("changed")) == told(written(every))


def test_only_touched_windows_are_computed_again(spark: SparkSession) -> None:
    """So `source` needs the rows of no other, and a window that it lacks is kept."""
    accepted, late = rows(spark, ACCEPTED), rows(spark, [(4, "a", 8.0), (14, "b", 7.0)])
    source = rows(spark, [(1, "a", 1.0), (2, "a", 3.0), (4, "a", 8.0)])
    repaired = et.repair(written(accepted), late, averages(accepted), source=source)
    assert told(repaired.where("changed <> 'unchanged'")) == {(0, "a", 4.0, 3, "corrected")}
    assert told(repaired.where("changed = 'unchanged'").drop("changed")) == {
        (0, None, 2.0, 1),
        (10, "a", 5.0, 1),
        (10, "b", 7.0, 1),
    }


def test_a_value_that_stays_the_same_is_unchanged(spark: SparkSession) -> None:
    """A late row does not raise a maximum by being below it."""
    accepted = rows(spark, ACCEPTED)
    window = (
        et.window(accepted)
        .event_time("ts")
        .sliding("10s", every="5s")
        .late_rule("frame_closed")
        .agg(F.max("amount").alias("top"))
    )
    late = rows(spark, [(3, "a", 0.5)])
    every = rows(spark, ACCEPTED, [(3, "a", 0.5)])
    repaired = et.repair(window.results, late, window, source=every)
    assert {row["changed"] for row in repaired.collect()} == {"unchanged"}
    assert told(repaired.drop("changed")) == told(window.results)


def test_without_late_rows_nothing_changes(spark: SparkSession) -> None:
    """And without results, all that is touched is new."""
    accepted, none = rows(spark, ACCEPTED), rows(spark, [])
    same = et.repair(written(accepted), none, averages(accepted), source=accepted)
    assert told(same.drop("changed")) == told(written(accepted))
    new = et.repair(written(none), accepted, averages(accepted), source=accepted)
    assert told(new) == {(*row, "new") for row in told(written(accepted))}


def test_columns_come_in_the_order_of_the_results(spark: SparkSession) -> None:
    """However a table has them; values stay in their columns."""
    accepted, late, every = (
        rows(spark, *parts) for parts in ([ACCEPTED], [LATE], [ACCEPTED, LATE])
    )
    order = ["n", "`mean.amount`", "user", "window"]
    turned = written(accepted).select(*order)
    repaired = et.repair(turned, late, averages(accepted), source=every)
    assert repaired.columns == ["n", "mean.amount", "user", "window", "changed"]
    assert told(repaired.select("window", "user", "`mean.amount`", "n")) == told(written(every))


def sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions of each user, with all of their amounts."""
    values = F.sort_array(F.collect_list("amount")).alias("amounts")
    return et.window(events).event_time("ts").key_by("user").session("5s").agg(values)


def test_late_rows_make_sessions_anew(spark: SparkSession) -> None:
    """One joins two sessions, one makes one longer, one begins one earlier, one is alone."""
    accepted = rows(
        spark, [(10, "a", 1.0), (18, "a", 2.0), (10, "b", 3.0), (10, "c", 4.0), (50, "a", 5.0)]
    )
    more: list[Row] = [(14, "a", 7.0), (13, "b", 8.0), (8, "c", 9.0), (30, "d", 1.0)]
    late = rows(spark, more)
    every = accepted.union(late)
    repaired = et.repair(sessions(accepted).results, late, sessions(accepted), source=every)
    assert told(repaired.select("window", "user", F.size("amounts"), "changed")) == {
        (10, "a", 3, "corrected"),
        (10, "b", 2, "corrected"),
        (8, "c", 2, "corrected"),
        (30, "d", 1, "new"),
        (50, "a", 1, "unchanged"),
    }
    assert sorted(repaired.drop("changed").collect()) == sorted(sessions(every).results.collect())


def test_a_session_that_a_row_joined_to_a_closed_one_is_repaired(spark: SparkSession) -> None:
    """The row was not late, since the other session was open, and the first had come out."""
    closed, opened = rows(spark, [(10, "a", 1.0)]), rows(spark, [(14, "a", 2.0), (18, "a", 3.0)])
    results = sessions(closed).results.union(sessions(opened).results)
    every = closed.union(opened)
    repaired = et.repair(results, rows(spark, []), sessions(closed), source=every)
    assert [(row.amounts, row.changed) for row in repaired.collect()] == [([1, 2, 3], "corrected")]


UNORDERED = {
    "map": "map('n', count(*), 'm', sum(amount))",
    "variant": "parse_json(to_json(named_struct('n', count(*))))",
    "interval": "make_interval(0, 0, 0, cast(count(*) as int))",
    "deep": "array(named_struct('a', map(count(*), parse_json('[]')), 'b', cast(null as void)))",
}


def with_maps(events: DataFrame) -> WindowBuilder:
    """Return a window with a key and values of types that have no order."""
    values = (F.expr(text).alias(name) for name, text in UNORDERED.items())
    key = F.expr("map('user', user, 'is', 'one')").alias("who")
    return et.window(events).event_time("ts").key_by(key, "user").tumbling("10s").agg(*values)


def test_types_without_an_order_are_repaired(spark: SparkSession) -> None:
    """As keys and as values, within arrays and structs too; equal ones are unchanged."""
    accepted = rows(spark, [(1, "a", 1.0), (2, "b", 1.0), (11, "a", 2.0), (12, None, 3.0)])
    late = rows(spark, [(3, "b", 1.0), (13, None, 1.0), (14, "c", 1.0)])
    every = accepted.union(late)
    window = with_maps(accepted)
    repaired = et.repair(window.results, late, window, source=every)
    assert told(repaired.select("window", "user", "map.n", "changed")) == {
        (0, "a", 1, "unchanged"),
        (0, "b", 2, "corrected"),
        (10, "a", 1, "unchanged"),
        (10, None, 2, "corrected"),
        (10, "c", 1, "new"),
    }
    assert texts(repaired.drop("changed")) == texts(with_maps(every).results)
    same = et.repair(window.results, accepted, window, source=accepted)
    assert {row.changed for row in same.select("changed").collect()} == {"unchanged"}


def texts(answer: DataFrame) -> set[str]:
    """Return rows as text, since Python has no intervals."""
    return {str(row) for row in answer.select(*map(as_text, answer.columns)).collect()}


def as_text(column: str) -> Column:
    """Return a column as text."""
    return F.col(column).cast("string")


def test_results_must_be_the_final_rows(spark: SparkSession) -> None:
    """With the window's columns and no other, none of them named as the answer's own."""
    accepted = rows(spark, ACCEPTED)
    panes = written(accepted).withColumn("is_last", F.lit(True))  # noqa: FBT003 - a value
    with pytest.raises(et.errors.InvalidArgumentError, match=r"^results=.*Allowed: the final rows"):
        et.repair(panes, accepted, averages(accepted), source=accepted)
    named = averages(accepted).agg(F.count("*").alias("changed"))
    with pytest.raises(
        et.errors.InvalidArgumentError, match=r"^alias='changed' is already a column"
    ):
        et.repair(panes, accepted, named, source=accepted)


def test_the_job_of_the_page_repairs_sliding_windows_that_have_closed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Block settled.py of the how-to: it equals a batch query, and open windows are left alone."""
    (tmp_path / "archive").mkdir()
    archive = spark.read.schema("ts timestamp, user string")
    batches = [["01:10", "03:10", "06:10"], ["05:30", "04:30", "09:10"], ["07:30", "14:10"]]
    for number, times in enumerate(batches):
        lines = [json.dumps({"ts": f"2024-01-01T{time}:00Z", "user": "a"}) for time in times]
        (tmp_path / "archive" / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")
        stream = spark.readStream.schema("ts timestamp, user string")
        counts = four_hours(stream.json(f"{tmp_path}/archive"))
        writer = counts.results.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("path", f"{tmp_path}/results")
        counts.start(writer.option("checkpointLocation", f"{tmp_path}/tides")).awaitTermination()
    page = blocks(ROOT / "docs/how-to/repair-nightly.md")
    [block] = [one for one in page if one.code.startswith("# settled.py")]
    results = spark.read.parquet(f"{tmp_path}/results")
    rows = archive.json(f"{tmp_path}/archive")
    names: dict[str, Any] = {"et": et, "F": F, "timedelta": timedelta, "window": four_hours}
    names |= {"results": results, "archive": rows}
    exec(block.code.replace("/data/", f"{tmp_path}/"), names)  # noqa: S102 - our own page
    corrections = names["nightly"](spark, datetime(2024, 1, 1, tzinfo=timezone.utc))
    repaired = counted(results) | counted(corrections)
    batch = counted(four_hours(rows).results)
    assert repaired != counted(results)
    assert repaired == {start: n for start, n in batch.items() if start in repaired}
    assert max(repaired) < max(batch)


def four_hours(events: DataFrame) -> WindowBuilder:
    """Return windows that slide, whose late rows are in all of them or in the log."""
    lag = et.WatermarkPolicies.with_fixed_lag("5s")
    window = et.window(events).event_time("ts", lag).key_by("user").sliding("4h", every="1h")
    return window.late_rule("frame_closed").agg(F.count("*").alias("n"))


def counted(answer: DataFrame) -> dict[Any, int]:
    """Return the number of rows of each window by its start."""
    return {row.window.start: row.n for row in answer.collect()}
