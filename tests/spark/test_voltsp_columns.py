"""Extractors and aggregates of VoltSP's over real rows: what they give, and where one is wrong."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WindowTrigger
from eventtide.errors import ColumnTypeError, InvalidArgumentError
from eventtide.testing import Script
from eventtide.voltsp import TimeConfig, VoltSPWindow, Windows
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

ROWS = "said string, device string, site string, amount int"
TIME = "to_timestamp(concat('2024-01-01 00:', said))"
PAGE = """\
emitter:
  tumbling-time-window:
    windowSpan: 10s
    keyExtractor: ["upper(device)", site]
    timeConfig: {eventTimeExtractor: "to_timestamp(concat('2024-01-01 00:', said))"}
    aggregateDefinition:
      builder:
      - {type: sum, column: amount * 2, as: double}
      - {type: avg, column: amount, as: mean}
      - {type: expression, expression: count_if(amount > 1), as: many}
"""


def by_builder(rows: DataFrame) -> WindowBuilder:
    """Return the window of the page by the builder, with a Column among its keys."""
    return (
        Windows.tumbling_time_window()
        .with_window_span("10s")
        .with_key_extractor(F.upper("device"), "site")
        .with_time_config(TimeConfig(TIME))
        .with_aggregate_definition(
            lambda a: (
                a.sum("double", "amount * 2")
                .avg("mean", "amount")
                .expression("many", "count_if(amount > 1)")
            )
        )
        .over(rows)
    )


@pytest.mark.parametrize("by", ["builder", "YAML"])
def test_expressions_tell_times_keys_and_values(spark: SparkSession, by: str) -> None:
    """As SQL text and as columns, in the same places."""

    def query(rows: DataFrame) -> DataFrame:
        window = by_builder(rows) if by == "builder" else et.voltsp.from_yaml(PAGE).over(rows)
        start = F.date_format("window.start", "mm:ss")
        return window.results.select("upper(device)", "site", start, "double", "mean", "many")

    with Script(query, ROWS, session=spark) as script:
        script.rows([("00:01", "a", "x", 1), ("00:02", "A", "x", 4), ("00:03", "a", "y", 9)])
        script.rows([("00:12", "a", "x", 5)])
        script.expect(results=[("A", "x", "00:00", 10, 2.5, 1)])


def by_device(config: TimeConfig) -> VoltSPWindow:
    """Begin a window by device."""
    tens = Windows.tumbling_time_window().with_window_span("10s").with_key_extractor("device")
    return tens.with_time_config(config)


def test_a_condition_goes_with_aggregates_that_use_a_key(spark: SparkSession) -> None:
    """And may itself use any of them."""
    window = by_device(TimeConfig(TIME)).with_aggregate_definition(
        lambda a: a.expression("label", "concat(device, ':', count(1))").count("n")
    )
    told = window.emit(WindowTrigger.when("n > 3 AND label != ''"))
    assert told.over(spark.createDataFrame([], ROWS)).results.columns[2:4] == ["label", "n"]


@pytest.mark.parametrize("scope", ["`device`", "DEVICE", ["rows.device"], "device", None])
def test_a_group_may_be_told_in_any_way_that_spark_knows(
    spark: SparkSession, scope: str | list[str] | None
) -> None:
    """Whether it is a key is seen by what it means; at the end there is a Column."""
    window = by_device(TimeConfig(TIME, scope=F.col("device") if scope is None else scope))
    window = window.with_aggregate_definition(lambda a: a.count())
    assert window.over(spark.createDataFrame([], ROWS).alias("rows")).results.isStreaming is False


def test_without_keys_rows_that_wait_are_judged_batch_by_batch(spark: SparkSession) -> None:
    """As if they had not waited."""
    window = Windows.tumbling_time_window().with_window_span("10s")
    window = window.with_time_config(TimeConfig(TIME, "MAX_EVENT_TIME"))
    window = window.with_aggregate_definition(lambda a: a.count())

    with Script(window.over, ROWS, session=spark) as script:
        script.rows([("00:25", "a", "x", 1)], [("00:03", "b", "x", 1)], [("00:31", "a", "x", 1)])
        assert [row["count"] for row in script.results()] == [1]
        late = et.read_late(script.checkpoint).collect()
        assert [row["said"] for row in late] == ["00:03"]


def test_three_ways_make_one_plan(spark: SparkSession) -> None:
    """The builder, YAML and `et.window`: as Spark has it, but for its numbers of columns."""
    rows = spark.createDataFrame([], ROWS)
    window = (
        et.window(rows.withColumn("_extracted_event_time", F.expr(TIME)))
        .event_time("_extracted_event_time", WatermarkPolicies.min_event_time())
        .key_by(F.upper("device"), "site")
        .watermark_scope("key")
        .profile("voltsp")
        .tumbling("10s")
        .agg(
            F.sum(F.expr("amount * 2")).alias("double"),
            F.avg("amount").alias("mean"),
            F.expr("count_if(amount > 1)").alias("many"),
        )
    )
    assert plan(by_builder(rows)) == plan(et.voltsp.from_yaml(PAGE).over(rows)) == plan(window)


def plan(window: WindowBuilder) -> str:
    """Return the optimized plan of the results, without what is new each time."""
    with redirect_stdout(StringIO()) as said:
        window.results.explain(mode="extended")
    text = said.getvalue().partition("== Optimized")[2].partition("== Physical")[0]
    return re.sub(
        r"#\d+L?|(?<=_common_expr_)\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "#", text
    )


def test_aggregates_may_use_all_that_a_row_has(spark: SparkSession) -> None:
    """Its keys, and the time that it got by an extractor or by the clock."""
    rows = spark.createDataFrame([], ROWS)

    def columns(config: TimeConfig, latest: str) -> list[str]:
        built = Windows.tumbling_time_window().with_window_span("10s").with_key_extractor("device")
        built = built.with_time_config(config).with_aggregate_definition(
            lambda a: a.expression("label", "concat(device, '/', count(*))").max("latest", latest)
        )
        return built.over(rows).results.columns

    assert columns(TimeConfig(TIME), "_extracted_event_time")[2:] == ["label", "latest"]
    assert columns(TimeConfig(), "_processing_time")[2:] == ["label", "latest"]


Wrong = tuple[int, str, str, type[et.EventtideError], str]

# A line of the page and what stands there instead; the error of the builder, and in YAML.
WRONG: dict[str, Wrong] = {
    "a time that is a number": (
        5,
        "    timeConfig: {eventTimeExtractor: amount}",
        "event_time_extractor='amount'",
        ColumnTypeError,
        "line 5, timeConfig.eventTimeExtractor: 'amount' has type INT",
    ),
    "an expression that is text": (
        5,
        "    timeConfig: {eventTimeExtractor: upper(said)}",
        "event_time_extractor='upper(said)'",
        ColumnTypeError,
        r"line 5, timeConfig.eventTimeExtractor: 'upper\(said\)' has type STRING",
    ),
    "a time of an unknown column": (
        5,
        "    timeConfig: {eventTimeExtractor: to_timestamp(sad)}",
        "event_time_extractor='to_timestamp(sad)'",
        InvalidArgumentError,
        r"line 5, timeConfig.eventTimeExtractor: 'to_timestamp\(sad\)' .*`sad` cannot be resolved",
    ),
    "a time that is no SQL": (
        5,
        "    timeConfig: {eventTimeExtractor: to_timestamp(}",
        "event_time_extractor='to_timestamp('",
        InvalidArgumentError,
        r"line 5, timeConfig.eventTimeExtractor: 'to_timestamp\(' .*PARSE_SYNTAX_ERROR",
    ),
    "a key of an unknown column": (
        4,
        '    keyExtractor: ["upper(devise)", site]',
        "key_extractor='upper(devise)'",
        InvalidArgumentError,
        r"line 4, keyExtractor: 'upper\(devise\)' .*`devise` cannot be resolved",
    ),
    "a sum of an unknown column": (
        8,
        "      - {type: sum, column: amounts * 2, as: double}",
        "aggregate_definition=",
        InvalidArgumentError,
        r"line 8, aggregateDefinition.builder\[0\]: .*`amounts` cannot be resolved",
    ),
    "an aggregate that is no SQL": (
        10,
        "      - {type: expression, expression: count_if(amount >), as: many}",
        "aggregate_definition=",
        InvalidArgumentError,
        r"line 10, aggregateDefinition.builder\[2\]: .*PARSE_SYNTAX_ERROR",
    ),
    "a condition over an unknown result": (
        11,
        "    triggers: [{trigger: atWindowEnd}, {trigger: {when: doubled > 3}}]",
        "when='doubled > 3'",
        InvalidArgumentError,
        r"line 11, triggers\[1\].trigger.when: 'doubled > 3' .*`doubled` cannot be resolved",
    ),
    "a condition that is a number": (
        11,
        "    triggers:\n    - trigger: {when: double}",
        "when='double'",
        ColumnTypeError,
        r"line 12, triggers\[0\].trigger.when: 'double' has type BIGINT",
    ),
    "a condition that is no SQL": (
        11,
        "    triggers:\n    - trigger: {when: nope >}",
        "when='nope >'",
        InvalidArgumentError,
        r"line 12, triggers\[0\].trigger.when: 'nope >' .*PARSE_SYNTAX_ERROR",
    ),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_with_its_place(spark: SparkSession, case: Wrong) -> None:
    """In YAML by its line and key, in the builder by its argument; before a query starts."""
    line, text, argument, kind, message = case
    rows = spark.createDataFrame([], ROWS)
    lines = [*PAGE.splitlines(), ""]
    lines[line - 1] = text
    wrong = "\n".join(lines)
    with pytest.raises(kind, match=message) as placed:
        et.voltsp.from_yaml(wrong).over(rows)
    with pytest.raises(kind) as named:
        VoltSPWindow.over(et.voltsp.from_yaml(wrong), rows)  # as if it were built in Python
    assert str(named.value).startswith(argument)
    for error in (placed, named):
        assert " Allowed: " in str(error.value)
        assert " Try: " in str(error.value)
