"""Windows over what nobody expects: a named error before anything starts, or the right result."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.any_kind import OfAnyKind
from tests.spark.queries import at
from tests.spark.window_runs import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, Row, SparkSession

LAG = WatermarkPolicies.with_fixed_lag("2s")
WIDE = 2_000  # 10 000 work as well, in a minute


@pytest.fixture
def rate(spark: SparkSession) -> DataFrame:
    """Return a stream of ts, id and text."""
    rate = spark.readStream.format("rate").load().toDF("ts", "id")
    return rate.withColumn("text", F.col("id").cast("string"))


def n() -> Column:
    """Return the number of rows."""
    return F.count("*").alias("n")


def ids() -> Column:
    """Return which rows they are."""
    return F.sort_array(F.collect_list("id")).alias("ids")


def tens(events: DataFrame) -> WindowBuilder:
    """Begin windows of ten seconds, whose late rows are of no interest."""
    return OfAnyKind(events).event_time("ts", LAG).tumbling("10s").late("count")


@pytest.mark.parametrize("of", ["stream", "batch"])
@pytest.mark.parametrize(
    ("aggregate", "condition"),
    [
        (lambda: F.col("nothing"), "WINDOW_COLUMN_UNKNOWN"),
        (lambda: F.sum("nothing"), "WINDOW_COLUMN_UNKNOWN"),
        (lambda: F.col("id"), r"NOT_AN_AGGREGATE\] The column 'id' .*max\(id\)"),
        (lambda: F.sum("id") + F.col("id"), r"NOT_AN_AGGREGATE\] The column 'id' "),
        (lambda: F.sum(F.max("id")), "WINDOW_UNRESOLVED"),
        (lambda: F.sum(F.array("id")), "WINDOW_UNRESOLVED"),
        (lambda: F.explode(F.collect_list("id")), "WINDOW_UNRESOLVED"),
        (lambda: F.lit(1), "NOT_AN_AGGREGATE"),
        (lambda: F.col("text").alias("copy"), "NOT_AN_AGGREGATE"),
        (lambda: F.count_distinct("id"), "DISTINCT_AGGREGATE"),
        (lambda: F.sum_distinct("id") + 1, "DISTINCT_AGGREGATE"),
        (lambda: F.sum("id") + F.rand(), "RESULT_NOT_DETERMINISTIC"),
        (
            lambda: F.expr("slice(shuffle(collect_list(id)), 1, 10)"),
            "RESULT_NOT_DETERMINISTIC",
        ),
        (lambda: F.sum("id") + F.spark_partition_id(), "RESULT_NOT_DETERMINISTIC"),
        (lambda: F.expr("concat(max(id), uuid())"), "RESULT_NOT_DETERMINISTIC"),
        (lambda: F.expr("count(*) * uniform(0, 1)"), "RESULT_NOT_DETERMINISTIC"),
    ],
)
def test_what_is_no_aggregate_of_a_window_is_refused(
    rate: DataFrame, spark: SparkSession, of: str, aggregate: Callable[[], Column], condition: str
) -> None:
    """Before a query starts; each by its reason."""
    rows = rate if of == "stream" else spark.createDataFrame([], rate.schema)
    with pytest.raises(et.errors.InvalidArgumentError, match=condition):
        _ = tens(rows).key_by("text").agg(n(), aggregate()).results


@pytest.mark.filterwarnings("ignore:.*(pandas|type hints)")
@pytest.mark.parametrize("kind", ["pandas_udf", "arrow_udf"])
def test_a_python_function_of_a_group_is_refused_with_the_way_around(
    rate: DataFrame, kind: str
) -> None:
    """It wants all values at once."""
    grouped = 202 if kind == "pandas_udf" else 252  # PythonEvalType: no hints have to be read
    mean = getattr(F, kind)(lambda values: values.mean(), "double", grouped)
    with pytest.raises(et.errors.InvalidArgumentError, match="collect_list"):
        _ = tens(rate).agg(mean("id")).results


@pytest.mark.filterwarnings("ignore:.*pandas")
def test_a_python_function_of_aggregates_belongs_to_the_results(rate: DataFrame) -> None:
    """Of rows it may be."""
    function = F.udf(lambda value: value, "long")
    with pytest.raises(et.errors.InvalidArgumentError, match="PYTHON_OVER_AGGREGATE"):
        _ = tens(rate).agg(function(F.sum("id")).alias("n")).results
    assert tens(rate).agg(F.sum(function("id")).alias("n")).results.columns == ["window", "n"]


def test_an_aggregate_may_depend_on_the_order_of_rows(rate: DataFrame) -> None:
    """As in Spark."""
    aggregates = F.first("id").alias("a"), F.expr("slice(collect_list(id), 1, 10)").alias("b")
    assert tens(rate).agg(*aggregates).results.columns == ["window", "a", "b"]


def test_a_condition_has_the_same_value_each_time(rate: DataFrame) -> None:
    """The same rows meet it when a batch is run again."""
    when = et.WindowTrigger.when("n > 10 and rand() < 0.1")
    window = tens(rate).agg(F.count("*").alias("n")).emit("at_window_end", when)
    with pytest.raises(et.errors.InvalidArgumentError, match="RESULT_NOT_DETERMINISTIC"):
        _ = window.results


@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        (lambda: "nothing", et.errors.UnknownColumnError, "key_by='nothing' is not a column"),
        (lambda: F.col("nothing"), et.errors.UnknownColumnError, "WINDOW_COLUMN_UNKNOWN"),
        (lambda: F.sum("id"), et.errors.InvalidArgumentError, "WINDOW_UNRESOLVED"),
        (
            lambda: F.explode(F.array("id")).alias("one"),
            et.errors.InvalidArgumentError,
            "WINDOW_UNRESOLVED",
        ),
        (
            lambda: F.rand(seed=1).alias("dice"),
            et.errors.InvalidArgumentError,
            "KEY_NOT_DETERMINISTIC.*'dice'",
        ),
        (
            lambda: F.expr("parse_json(text)"),
            et.errors.InvalidArgumentError,
            "WINDOW_UNRESOLVED.*VARIANT",
        ),
        (
            lambda: F.struct(F.expr("collate(text, 'UTF8_LCASE')")).alias("name"),
            et.errors.ColumnTypeError,
            "'name' has",
        ),
    ],
)
def test_what_is_no_key_is_refused(
    rate: DataFrame, key: Callable[[], Any], error: type[Exception], match: str
) -> None:
    """Rows of one key must come to the same state, each time."""
    with pytest.raises(error, match=match):
        _ = tens(rate).key_by(key()).agg(n()).results


def test_panes_of_a_collated_key_are_refused(rate: DataFrame) -> None:
    """Its spelling could be another one in each pane."""
    key = F.expr("collate(text, 'UTF8_LCASE')").alias("name")
    with pytest.raises(
        et.errors.InvalidArgumentError, match=r"COLLATED_KEY_WITH_PANES.*'collate\(text"
    ):
        _ = tens(rate).key_by(key).emit(et.WindowTrigger.every_rows(2)).agg(n()).results


def test_metadata_of_the_source_has_to_be_a_column_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A window does not hand it through."""
    files = spark.readStream.schema("ts timestamp").json(str(tmp_path))
    with pytest.raises(et.errors.InvalidArgumentError, match="AS file"):
        _ = tens(files).key_by("_metadata.file_name").agg(n()).results
    named = files.withColumn("file", F.col("_metadata.file_name"))
    assert tens(named).key_by("file").agg(n()).results.columns == ["window", "file", "n"]


@pytest.mark.parametrize(
    ("key", "aggregate"),
    [("window", "n"), ("id", "Window"), ("id", "ID")],
)
def test_a_name_that_the_result_has_already_is_refused(
    rate: DataFrame, key: str, aggregate: str
) -> None:
    """Nobody could write it, and `select` would not know which one is meant."""
    with pytest.raises(et.errors.InvalidArgumentError, match="RESULT_COLUMN_TWICE"):
        _ = tens(rate).key_by(F.col("id").alias(key)).agg(n().alias(aggregate)).results


def test_names_of_our_own_are_free(spark: SparkSession) -> None:
    """Columns of the rows may have them, and the results too."""
    rows = spark.sql("select timestamp '2024-01-01 00:00:01' ts, 1 _eventtide_frame, 2 start")
    window = tens(rows).key_by("start", "_eventtide_frame").agg(F.max("start").alias("end"))
    assert [tuple(row)[1:] for row in window.results.collect()] == [(2, 1, 2)]


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (lambda events: tens(events).sliding("10s", every="3s"), "every='2s' or every='5s'"),
        (lambda events: tens(events).cumulate("10s", step="3s"), "step='2s' or step='5s'"),
        (lambda events: tens(events).tumbling("-10s"), "size='-10s'"),
        (lambda events: tens(events).sliding("10s", every="-1s"), "every='-1s'"),
        (lambda events: tens(events).tumbling("0s"), "size='0s'"),
        (lambda events: tens(events).tumbling("1us"), "size='1us'"),
        (lambda events: tens(events).sliding("20m", every="1ms"), "up to 1000000 frames"),
        (lambda events: tens(events).tumbling(10), "size=10"),  # type: ignore[arg-type]
        (lambda events: tens(events).delay("-1s"), "delay='-1s'"),
    ],
)
def test_a_size_that_cannot_be_is_refused(
    rate: DataFrame, window: Callable[[DataFrame], WindowBuilder], message: str
) -> None:
    """With the value, and what would do."""
    with pytest.raises(et.errors.InvalidArgumentError, match=message):
        _ = window(rate).agg(n()).results


@pytest.mark.parametrize("mode", ["complete", "update"])
def test_only_rows_are_appended(rate: DataFrame, mode: str) -> None:
    """Each result comes once."""
    window = tens(rate).agg(n())
    writer = window.results.writeStream.format("noop").outputMode(mode)
    with pytest.raises(et.errors.UnsupportedPlanError, match=f"'{mode}'"):
        et.start(window, writer)


def test_a_store_without_order_is_refused(rate: DataFrame, spark: SparkSession) -> None:
    """With the setting that corrects it, and by name: `et.start` has started the query."""
    provider = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    window = tens(rate).agg(n())
    with settings(spark, {"spark.sql.streaming.stateStore.providerClass": provider}):
        query = et.start(window, window.results.writeStream.format("noop"))
        with pytest.raises(et.errors.SetupError, match="RocksDBStateStoreProvider"):
            query.processAllAvailable()
        with pytest.raises(et.errors.SetupError, match="RocksDBStateStoreProvider"):
            query.awaitTermination()


@pytest.mark.parametrize("condition", ["false", "text > 'z'"])
def test_a_batch_without_rows_has_no_results(spark: SparkSession, condition: str) -> None:
    """Whether Spark sees so before it runs or while it does."""
    some = spark.sql("select timestamp '2024-01-01 00:00:01' ts, 'a' text").repartition("text")
    assert tens(some.where(condition)).key_by("text").agg(n()).results.collect() == []


def test_a_batch_of_one_time_is_one_window(spark: SparkSession) -> None:
    """Spark computes the frame once, but must not take it for a constant of the query."""
    time = F.lit(at(1)).cast("timestamp")
    rows = spark.range(6).withColumn("ts", time).withColumn("odd", F.col("id") % 2)
    results = tens(rows).key_by("odd").agg(n()).results
    assert sorted((row["odd"], row["n"]) for row in results.collect()) == [(0, 3), (1, 3)]


def play(
    query: Callable[[DataFrame], WindowBuilder], schema: str, *batches: Sequence[Any]
) -> list[Row]:
    """Return the results of a window over these batches."""
    with Script(lambda events: query(events).results, schema) as script:
        return script.rows(*batches).results()


KEYS: dict[str, tuple[str, list[Any]]] = {
    "struct": ("struct<a: int, b: string>", [(1, "x"), (1, None), (2, "x"), None]),
    "array": ("array<string>", [["a"], ["a", None], [], None]),
    "map": ("map<string, int>", [{"a": 1, "b": 2}, {"a": 1}, {}, None]),
    "decimal": ("decimal(38, 18)", [Decimal(1), Decimal("1.5"), Decimal(-1), None]),
    "binary": ("binary", [b"", b"a", b"a\0", None]),
    "interval": ("interval day to second", [timedelta(0), timedelta(1), None]),
    "timestamp": ("timestamp", [at(1), at(2), None]),
    "collated": ("string collate UTF8_BINARY", ["a", "A", "", None]),
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_of_any_type_keeps_its_rows_together(kind: str) -> None:
    """Over two batches, so that state has to find it again; a null is a key."""
    of_type, values = KEYS[kind]
    rows = [(number, at(number + 1), value) for number, value in enumerate(values)]
    again = [(number + 10, time, value) for number, time, value in rows]
    results = play(
        lambda events: tens(events).key_by("key").agg(ids()),
        f"id long, ts timestamp, key {of_type}",
        rows,
        again,
        [(99, at(30), None)],
    )
    assert sorted(row["ids"] for row in results) == [[n, n + 10] for n, _ in enumerate(values)]


def test_texts_that_a_collation_takes_for_equal_are_one_key(spark: SparkSession) -> None:
    """Over two batches and in a batch query; shown is the lowest, also inside other columns."""
    rows = [(1, at(1), "b"), (2, at(2), "a"), (3, at(3), None)]
    again = [(11, at(1), "B"), (12, at(2), "a"), (13, at(3), None)]
    schema = "id long, ts timestamp, key string collate UTF8_LCASE"

    def query(events: DataFrame) -> WindowBuilder:
        twice = F.concat("key", F.lit("/"), "key", F.count("*").cast("string"))
        return tens(events).key_by("key").agg(ids(), twice.alias("twice"))

    results = play(query, schema, rows, again, [(99, at(30), None)])
    found = {(row["key"], tuple(row["ids"]), row["twice"]) for row in results}
    assert found == {("B", (1, 11), "B/B2"), ("a", (2, 12), "a/a2"), (None, (3, 13), None)}
    events = spark.createDataFrame([], schema)
    assert query(events).results.schema["key"].dataType == events.schema["key"].dataType


def test_zero_and_nan_are_one_key_each() -> None:
    """As in Spark, also inside an array."""
    values = [0.0, -0.0, float("nan"), -float("nan")]
    rows = [(number, at(number + 1), value) for number, value in enumerate(values)]
    for name in "key", "in_array":
        results = play(
            lambda events, name=name: (  # type: ignore[misc]
                tens(events.withColumn("in_array", F.array("key"))).key_by(name).agg(ids())
            ),
            "id long, ts timestamp, key double",
            rows,
            [(99, at(30), None)],
        )
        assert sorted(row["ids"] for row in results) == [[0, 1], [2, 3]]


def test_an_aggregate_may_be_of_the_event_time() -> None:
    """It keeps its type, and the window its own."""
    rows = [(at(1),), (at(3),)]
    [row] = play(
        lambda events: tens(events).agg(F.max("ts").alias("last"), F.min("ts").alias("first")),
        "ts timestamp",
        rows,
        [(at(30),)],
    )
    assert row["last"] - row["first"] == timedelta(seconds=2)


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_any_year_that_spark_can_show_is_in_a_window(kind: str) -> None:
    """Nothing is walked on the way from one to the next; a zone is not asked for."""
    years = ["0001-01-02", "1677-09-21", "1969-12-31", "2262-04-12", "9999-12-30"]
    with Script(
        lambda events: tens(events).sliding("1h", every="1s").agg(n()).results, f"ts {kind}"
    ) as script:
        for year in years:
            script.rows([(f"{year} 12:00:00",)])
        results = script.rows([("9999-12-31 23:59:59.999999",)]).results()
    assert {row["n"] for row in results} == {1}
    starts = {row["window"]["start"] for row in results}
    assert len(results) == len(starts) == len(years) * 3600
    assert {start.year for start in starts} == {1, 1677, 1969, 2262, 9999}


def test_an_overflow_is_as_in_spark() -> None:
    """An error under ANSI; of `try_sum` a null, in the windows that have one and in no others."""
    half = 2**62
    rows = [(half, at(1)), (half, at(11)), (1, at(21)), (1, at(31))]

    def sliding(events: DataFrame) -> WindowBuilder:
        window = tens(events).sliding("20s", every="10s")
        return window.agg(F.try_sum("id").alias("sum"), F.count("*").alias("n"))

    results = play(sliding, "id long, ts timestamp", rows, [(0, at(99))])
    sums = [row["sum"] for row in sorted(results, key=lambda row: row["window"])]
    assert sums == [half, None, half + 1, 2, 1]
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        play(
            lambda events: sliding(events).agg(F.sum("id")),
            "id long, ts timestamp",
            rows,
            [(0, at(99))],
        )


def test_one_key_may_have_nearly_all_rows(spark: SparkSession) -> None:
    """They are aggregated by frame before they are sent to it."""
    hot = spark.range(300_000).select(
        F.timestamp_seconds(F.lit(1_704_067_200) + F.col("id") / 1000).alias("ts"),
        F.when(F.col("id") % 100 > 0, "hot").otherwise("cold").alias("key"),
    )
    results = tens(hot).key_by("key").sliding("10s", every="1s").agg(n()).results
    totals = results.groupBy("key").agg(F.sum("n").alias("n")).collect()
    assert {row["key"]: row["n"] for row in totals} == {"hot": 2_970_000, "cold": 30_000}


def test_a_row_may_have_thousands_of_columns() -> None:
    """All of them are in the late log, and hundreds in the results."""
    names = [f"c{number}" for number in range(WIDE)]
    schema = "ts timestamp, " + ", ".join(f"{name} int" for name in names)
    some = names[::10]

    def query(events: DataFrame) -> DataFrame:
        sums = (F.sum(name).alias(name) for name in some)
        return tens(events).late("log").agg(*sums).results

    with Script(query, schema) as script:
        numbers = list(range(WIDE))
        script.rows([(at(1), *numbers)], [(at(99), *numbers)]).rows([(at(2), *numbers)])
        [row] = script.results()
        assert list(row)[1:] == numbers[::10]
        [late] = et.read_late(script.checkpoint).select(names).collect()
        assert list(late) == numbers
