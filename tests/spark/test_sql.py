"""SQL gives what Python's builders give: results, late rows, checkpoints; errors have a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.storm import Count, StormWindow
from eventtide.testing import Script
from pyspark.errors import IllegalArgumentException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests import sql_page
from tests.spark.queries import at
from tests.thorough import pairs, sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

EVENTS = "ts timestamp, device string, v long"
LAG = WatermarkPolicies.with_fixed_lag("5s")
AGG = "agg => 'count(*) AS n, max(v) AS top'"


def window(events: DataFrame) -> WindowBuilder:
    """Return the part of a window that the cases share."""
    aggregates = [F.count("*").alias("n"), F.max("v").alias("top")]
    return et.window(events).event_time("ts", LAG).key_by("device").agg(*aggregates)


def sql(more: str) -> Callable[[DataFrame], DataFrame]:
    """Return the query of a window in SQL over its rows."""

    def query(events: DataFrame) -> DataFrame:
        head = "TABLE({events}), ts, with_fixed_lag('5s'), key_by => device"
        text = f"SELECT * FROM eventtide_window({head}, {AGG}, {more})"
        return events.sparkSession.sql(text, events=events)

    return query


KINDS: dict[str, tuple[Callable[[DataFrame], WindowBuilder], str]] = {
    "sliding": (
        lambda e: window(e).sliding("10s", every="2s").delay("1s"),
        "size => INTERVAL 10 SECONDS, slide => '2s', delay => '1 second'",
    ),
    "session": (
        lambda e: window(e).session("3s", maximum_duration="20s"),
        "gap => '3s', maximum_duration => '20s'",
    ),
    "triggers": (
        lambda e: (
            window(e)
            .tumbling("10s")
            .allowed_lateness("10s")
            .emit(
                "at_window_end",
                et.WindowTrigger.every_rows(2),
                et.WindowTrigger.when("n >= 3"),
                late_updates=True,
            )
        ),
        "triggers => (at_window_end, every_rows(2), when(n >= 3)), size => '10s', {}".format(
            "allowed_lateness => '10s', late_updates => true"
        ),
    ),
}

STEPS = [
    [(at(1), "a", 1), (at(3), "b", 5), (at(2), "a", 7)],
    [(at(12), "a", 3), (at(14), "b", 2)],
    [(at(4), "b", 9), (at(26), "a", 4), (at(9), "a", 8)],
    [(at(3), "a", 6), (at(48), "b", 1), ("2024-01-02 12:00:00", "a", 2)],
]


def play(query: Callable[[DataFrame], Any], spark: SparkSession) -> tuple[list[Any], list[Any]]:
    """Run the steps and return the results of each, and the late rows of all."""
    results: list[Any] = []
    late: list[Any] = []
    with Script(query, EVENTS, clock=at(0)) as script:
        for rows in STEPS:
            script.rows(rows).clock("+30s")
            results.append(sorted(script.results(), key=str))
        try:
            found = spark.sql(f"SELECT * FROM eventtide_late('{script.checkpoint}')")
            late += sorted(found.collect(), key=str)
        except IllegalArgumentException as error:  # it keeps none
            late += [error.getCondition()]
        return results, late


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_gives_what_pythons_builder_gives(kind: str, spark: SparkSession) -> None:
    """Batch by batch, and its late rows; test_same_results.py has all kinds at their end."""
    built, text = KINDS[kind]
    expected, late = play(built, spark)
    assert any(expected)
    assert play(sql(text), spark) == (expected, late)


OF_STORM = [
    ("10s", Count(2), "length => '10s', slide => 2"),
    (Count(3), "2s", "length => 3, slide => INTERVAL 2 SECONDS"),
    ("10s", "3s", "length => '10s', slide => '3s'"),
    (Count(3), None, "length => 3"),
    ("10s", "2s", "length => '10s', slide => '2s'"),
    ("10s", "10s", "length => INTERVAL 10 SECONDS, slide => '10s'"),
]


@pytest.mark.parametrize(("length", "slide", "text"), sampled(OF_STORM, quick=OF_STORM[:3]))
def test_a_window_of_storms_gives_what_its_bolt_gives(
    length: str | Count, slide: str | Count | None, text: str, spark: SparkSession
) -> None:
    """Each length and slide in time or in rows, with Storm's policy and interval."""

    def bolt(events: DataFrame) -> WindowBuilder:
        sized = StormWindow().with_window(length, slide).with_timestamp_field("ts").with_lag("5s")
        aggregates = [F.count("*").alias("n"), F.max("v").alias("top")]
        return sized.over(events).group_by("device").agg(*aggregates)

    def in_sql(events: DataFrame) -> DataFrame:
        one = "substream => concat('default'), expected => array('default')"
        policy = f"ts, storm('5s'), decorators => emit_every('1s'), {one}"
        rows = f"TABLE({{events}}), {policy}, key_by => device, {AGG}, {text}"
        return spark.sql(f"SELECT * FROM eventtide_window({rows})", events=events)

    expected = play(bolt, spark)
    assert any(expected[0])
    assert play(in_sql, spark) == expected


@pytest.mark.parametrize(("kind", "first"), pairs(KINDS, ["python", "sql"]))
def test_a_checkpoint_goes_on_through_the_other_api(
    kind: str, first: str, spark: SparkSession, tmp_path: Path
) -> None:
    """The plans are equal, so that the state, the ledger and the late log are."""
    built, text = KINDS[kind]
    queries: dict[str, Callable[[DataFrame], Any]] = {"python": built, "sql": sql(text)}
    other = next(name for name in queries if name != first)
    for rows, at_first in ((STEPS[:2], True), (STEPS[2:], False)):
        path = tmp_path / str(at_first)
        path.mkdir()
        for i, batch in enumerate(rows):
            spark.createDataFrame(batch, "ts string, device string, v long").coalesce(1).write.json(
                f"{path}/{i}"
            )
    source = spark.readStream.schema(EVENTS).option("recursiveFileLookup", "true")
    out, checkpoint = f"{tmp_path}/out", f"{tmp_path}/checkpoint"

    def run(name: str) -> None:
        made = queries[name](source.json(f"{tmp_path}/in"))
        results = made.results if isinstance(made, et.WindowBuilder) else made
        writer = results.writeStream.format("json").option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start(out).awaitTermination()

    (tmp_path / "True").rename(tmp_path / "in")
    run(first)
    (tmp_path / "False").rename(tmp_path / "in" / "more")
    run(other)
    open_windows = spark.sql(
        f"SELECT * FROM eventtide_open_windows(TABLE({{results}}), '{checkpoint}')",
        results=sql(text)(source.json(f"{tmp_path}/in")),
    )
    state = et.read_state(checkpoint, built(source.json(f"{tmp_path}/in")))
    assert sorted(open_windows.collect(), key=str) == sorted(state.collect(), key=str) != []
    report = et.read_checkpoint(checkpoint)
    assert report.watermark is not None
    assert report.watermark.on_time + sum(report.watermark.late.values()) >= sum(map(len, STEPS))
    results = queries[first](spark.readStream.schema(EVENTS).json(f"{tmp_path}/in"))
    assert et.read_checkpoint(checkpoint, plan=results).continues


def test_a_watermark_serves_sparks_operators() -> None:
    """A policy in SQL, and Spark's own window above it, in one statement."""

    def query(events: DataFrame) -> DataFrame:
        events.createOrReplaceTempView("rows")
        return events.sparkSession.sql(
            """
            SELECT window.start, count(*) AS n
            FROM eventtide_watermark(TABLE(rows), 'ts', 'limiting_lag_and_lull',
                                     lag => '5s', max_lull => '30s', substream => 'device')
            GROUP BY window(ts, '10 seconds')
            """
        )

    with Script(query, EVENTS, clock=at(0)) as script:
        script.rows([(at(1), "a", 1), (at(17), "b", 2)])
        script.expect([], watermark="2023-12-31 23:59:56")  # of the slower device
        script.rows([(at(17), "a", 1)]).expect([(at(0), 1)], watermark=at(12))


def test_rows_of_a_file_table_are_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """STREAM before a table, a permanent view over it, and an INSERT of its batch."""
    spark.sql(
        f"CREATE TABLE sql_events (ts TIMESTAMP, v INT) USING parquet LOCATION '{tmp_path}/t'"
    )
    try:
        spark.sql("INSERT INTO sql_events VALUES (TIMESTAMP'2024-01-01 00:00:07', 1)")
        spark.sql("INSERT INTO sql_events VALUES (TIMESTAMP'2024-01-01 00:01:07', 2)")
        counts = "size => '10s', agg => 'sum(v) AS total'"
        policy = "ts, with_fixed_lag('5s')"
        kind = "TEMPORARY VIEW" if spark.version.startswith("4.1.") else "VIEW"
        spark.sql(
            f"CREATE {kind} sql_totals AS SELECT window.start, total FROM"
            f" eventtide_window(TABLE(sql_events), {policy}, {counts})"
        )
        assert spark.table("sql_totals").count() == 2
        stream = spark.sql(
            "SELECT window.start, total FROM eventtide_window(TABLE(SELECT * FROM STREAM"
            f" sql_events), {policy}, {counts})"
        )
        assert stream.isStreaming
        query = (
            stream.writeStream.format("memory")
            .queryName("sql_results")
            .option("checkpointLocation", f"{tmp_path}/c")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        assert spark.table("sql_results").count() == 1
        progress = "SELECT emitted, rows_total FROM eventtide_progress('sql_results')"
        assert [str(row.emitted) for row in spark.sql(progress).collect()] == [
            "2024-01-01 00:01:02"
        ]
        blamed = spark.sql("SELECT * FROM eventtide_blame('sql_results')").head()
        assert blamed is not None
        assert not blamed.is_active
        assert et.blame(query).endswith(blamed.blame)
        kept = f"SELECT emitted, rows_total FROM eventtide_checkpoint('{tmp_path}/c')"
        assert spark.sql(kept).collect() == spark.sql(progress).collect()
    finally:
        spark.sql("DROP VIEW IF EXISTS sql_totals")
        spark.sql("DROP TABLE sql_events")


BATCH = "eventtide_window(TABLE(history), ts, with_fixed_lag('5s'), size => {}, agg => count(*))"
WINDOWS = BATCH.format("'10s'")


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        (f"SELECT * FROM {WINDOWS}", 6),
        (f"SELECT w.window.start FROM range(2), {WINDOWS} AS w", 12),
        (f"SELECT * FROM range(2) r, LATERAL {WINDOWS}", 12),
        (f"SELECT * FROM range(20) WHERE id IN (SELECT `count(1)` FROM {WINDOWS})", 1),
        (f"SELECT (SELECT count(*) FROM {WINDOWS}) AS n", 1),
        (f"WITH w AS (SELECT * FROM {WINDOWS}) SELECT 1 FROM w a JOIN w b ON true", 36),
        (f"FROM {WINDOWS} |> WHERE window.start > TIMESTAMP'1970-01-01 00:00:25'", 3),
        (f"BEGIN DECLARE s STRING DEFAULT '20s'; SELECT * FROM {BATCH.format('s')}; END", 3),
        (f"EXECUTE IMMEDIATE \"SELECT * FROM {BATCH.format(':s')}\" USING '20s' AS s", 3),
    ],
)
def test_a_call_stands_where_a_table_stands(statement: str, rows: int, spark: SparkSession) -> None:
    """In joins, subqueries, WITH, pipes and scripts."""
    minute = "SELECT timestamp_seconds(id) AS ts FROM range(60)"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW history AS {minute}")
    assert spark.sql(statement).count() == rows


@pytest.mark.smoke
def test_an_error_points_at_its_place_in_the_text(spark: SparkSession) -> None:
    """Its context is Spark's, and named_errors raises its class."""
    spark.range(1).selectExpr("timestamp_seconds(id) AS ts").createOrReplaceTempView("one")
    text = "SELECT *\nFROM eventtide_watermark(TABLE(one), ts, 'with_fixed_lag', lag => '5 sek')"
    with pytest.raises(IllegalArgumentException) as raised:
        spark.sql(text)
    assert raised.value.getCondition() == "INVALID_DURATION"
    (context,) = raised.value.getQueryContext()
    assert context.fragment() == "lag => '5 sek'"
    assert text[context.startIndex() : context.stopIndex() + 1] == "lag => '5 sek'"
    assert "== SQL (line 2, position 60) ==" in str(raised.value)
    assert raised.value.getMessage().startswith("[INVALID_DURATION] Option 'lag' is '5 sek'")
    with pytest.raises(et.errors.InvalidDurationError) as named, et.named_errors():
        spark.sql(text)
    assert (named.value.argument, named.value.value) == ("lag", "5 sek")


def test_a_view_that_is_used_twice_is_two_windows() -> None:
    """Each use has its own state; a DataFrame that is used twice is one window, and refused."""

    def query(events: DataFrame) -> DataFrame:
        events.createOrReplaceTempView("rows")
        session = events.sparkSession
        policy = "ts, with_fixed_lag('5s')"
        call = f"eventtide_window(TABLE(rows), {policy}, size => '10s', agg => count(*))"
        session.sql(f"CREATE OR REPLACE TEMP VIEW minutes AS SELECT window.start AS s FROM {call}")
        return session.sql("SELECT s FROM minutes UNION ALL SELECT s FROM minutes")

    with Script(query, EVENTS, clock=at(0)) as script:
        script.rows([(at(1), "a", 1), (at(17), "b", 2)])
        script.expect([(at(0),), (at(0),)])


def test_a_query_of_with_that_is_used_twice_is_one_window(spark: SparkSession) -> None:
    """Spark copies it later, and both copies would use one state; a watermark has none."""
    spark.readStream.format("rate").load().createOrReplaceTempView("rates")
    call = "eventtide_{}(TABLE(rates), timestamp, with_fixed_lag('5s'){})"
    window = call.format("window", ", size => '1s', agg => count(*)")
    for twice in ("w UNION ALL SELECT window FROM w", "w a JOIN w b USING (window)"):
        results = spark.sql(f"WITH w AS (SELECT * FROM {window}) SELECT window FROM {twice}")
        with pytest.raises(et.errors.UnsupportedPlanError, match="WINDOW_TWICE"), et.named_errors():
            results.writeStream.format("noop").start()
    marked = f"WITH w AS (SELECT * FROM {call.format('watermark', '')})"
    rows = spark.sql(f"{marked} SELECT value FROM w UNION ALL SELECT value FROM w")
    query = rows.writeStream.format("noop").start()
    try:
        query.processAllAvailable()
        assert len(et.progress(query).inputs) == 1
    finally:
        query.stop()


def test_every_setting_is_an_argument(spark: SparkSession) -> None:
    """What the page lists, the functions have, and nothing else but parameters of policies."""
    for of, function in (("watermark", "eventtide_watermark"), ("window", "eventtide_window")):
        rows = spark.sql(f"DESCRIBE FUNCTION EXTENDED {function}").collect()
        said = next(row[0] for row in rows if "Arguments:" in row[0])
        described = set(said.partition("Arguments:")[2].strip().split(", "))
        listed = {sql_page.name_of(row) for row in sql_page.arguments(of)}
        assert listed <= described
        others = described - listed - {sql_page.name_of(r) for r in sql_page.arguments("watermark")}
        of_policies = {"lag", "max_delay", "max_lull", "timestamp_lag", "wall_clock_lag", "column"}
        of_policies |= {"target", "max_lag", "start", "memory", "budget", "samples"}
        assert others == of_policies | {"data", "decorators"}
