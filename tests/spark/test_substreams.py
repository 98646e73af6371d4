"""One policy instance for each substream, and what happens when one is slow, silent or new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from eventtide.testing._values import moment
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import EVENTS, at, counts, stock

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

NO_LAG = WatermarkPolicies.with_fixed_lag("0s")


@pytest.mark.smoke
def test_a_fast_substream_does_not_make_a_slow_one_late() -> None:
    """Stock Spark drops what the slow one brings; per substream nothing is lost."""
    batches = [
        [(at(1), "fast"), (at(45), "fast"), (at(2), "slow")],
        [(at(3), "slow"), (at(60), "fast")],
        [(at(61), "slow")],
    ]
    with Script(stock("0 seconds"), EVENTS) as script:
        for batch in batches:
            script.rows(batch)
        script.expect([(0, 2), (40, 1)], late=1)
    with Script(counts(NO_LAG, substream="key"), EVENTS) as script:
        for batch in batches:
            script.rows(batch)
        script.expect([(0, 3), (40, 1)], late=0, watermark=at(60))


def test_without_a_named_substream_a_source_is_one() -> None:
    """A finished file would otherwise hold the minimum for ever."""
    with Script(counts(NO_LAG), EVENTS) as script:
        script.rows([(at(1), "a"), (at(25), "b")]).expect([(0, 1)], watermark=at(25))


def test_several_columns_make_one_substream() -> None:
    """The minimum goes over the pairs that were seen."""
    with Script(counts(NO_LAG, substream=["key", F.second("ts") > 30]), EVENTS) as script:
        script.rows([(at(5), "a"), (at(50), "a"), (at(20), "b")]).expect(watermark=at(5))


@pytest.mark.parametrize("expected", [2, ["a", "b"]])
def test_expected_substreams_hold_back_until_they_are_seen(expected: int | list[str]) -> None:
    """By number or by name."""
    with Script(counts(NO_LAG, substream="key", expected=expected), EVENTS) as script:
        script.rows([(at(25), "a")]).expect([], watermark="1970-01-01")
        script.rows([(at(12), "b")]).expect([], watermark=at(12))
        script.rows([(at(31), "b")]).expect([(10, 1)], watermark=at(25))


def test_without_expectations_a_substream_begins_with_its_first_row() -> None:
    """It holds back from then on, and lowers nothing."""
    with Script(counts(NO_LAG, substream="key"), EVENTS) as script:
        script.rows([(at(25), "a")]).expect(watermark=at(25))
        script.rows([(at(7), "b"), (at(40), "a")]).expect(late=1, watermark=at(25))
        script.rows([(at(33), "b")]).expect(watermark=at(33))


@pytest.mark.smoke
def test_a_silent_substream_is_left_out_after_its_idle_timeout() -> None:
    """The clock alone closes what it held open; when it speaks again it lowers nothing."""
    with Script(counts(NO_LAG, substream="key", substream_idle_timeout="1m"), EVENTS) as script:
        script.rows([(at(1), "a"), (at(45), "b")]).expect([], watermark=at(1))
        script.clock("+30s").rows([(at(46), "b")]).expect([], watermark=at(1))
        script.clock("+29s").expect([], watermark=at(1))
        script.clock("+1s").expect([(0, 1)], watermark=at(46))
        script.rows([(at(44), "a")]).expect([], late=0, watermark=at(46))  # its window is open
        script.rows([(at(70), "a"), (at(71), "b")]).expect([(40, 3)], watermark=at(70))


def test_when_all_are_silent_the_highest_watermark_is_released() -> None:
    """Then the whole is idle, and nothing moves until a row comes."""
    with Script(counts(NO_LAG, substream="key", substream_idle_timeout="1m"), EVENTS) as script:
        script.rows([(at(1), "a"), (at(45), "b")]).clock("+2m").expect([(0, 1)], watermark=at(45))
        batch = script.last_batch
        script.clock("+1h")
        assert script.last_batch == batch
        script.rows([(at(50), "a")]).expect(watermark=at(50))


@pytest.mark.parametrize("name", [r"C:\logs", "a/b", r"\\server"])
def test_expected_names_may_have_separators(name: str) -> None:
    """They are what progress shows: a backslash is doubled at the beginning only."""
    seen = name.removeprefix("\\")
    with Script(counts(NO_LAG, substream="key", expected=[name, "b"]), EVENTS) as script:
        script.rows([(at(25), seen), (at(12), "b")]).expect(watermark=at(12))


def test_the_limit_holds_after_a_restart_with_a_lower_one(tmp_path: Path) -> None:
    """It may change from run to run, also to less than there are."""
    rows = [[(at(i), f"key {i}") for i in range(4)], [(at(9), "one more")]]
    checkpoint = str(tmp_path)
    with Script(counts(NO_LAG, substream="key"), EVENTS, checkpoint=checkpoint) as script:
        script.rows(rows[0])
    query = counts(NO_LAG, substream="key", max_substreams=2)
    with (
        Script(query, EVENTS, checkpoint=checkpoint) as script,
        pytest.raises(et.errors.RefusedDataError, match="more than 2"),
    ):
        script.rows(*rows)


@pytest.mark.parametrize(
    ("substream", "reason"),
    [("explode(split(key, ','))", "over one row"), ("rand()", "not deterministic")],
)
def test_a_substream_is_an_expression_over_one_row(substream: str, reason: str) -> None:
    """One that makes rows of its own would multiply the user's; each row would be a substream."""
    with pytest.raises(et.errors.UnknownColumnError, match=reason):
        Script(counts(NO_LAG, substream=F.expr(substream)), EVENTS)


def test_thousands_of_substreams() -> None:
    """Two thousand of them, one far behind the others."""
    rows = [(at(30 + i % 30), f"device {i}") for i in range(2000)] + [(at(21), "slow")]
    with Script(counts(NO_LAG, substream="key"), EVENTS) as script:
        script.rows(rows, partitions=2).rows([(at(59), "device 7")]).expect(watermark=at(21))
        assert "'slow'" in et.blame(script.streaming_query)


def test_more_substreams_than_allowed_fail_the_query() -> None:
    """The message says the limit and what to do."""
    query = counts(NO_LAG, substream="key", max_substreams=3)
    with (
        Script(query, EVENTS) as script,
        pytest.raises(et.errors.RefusedDataError, match="max_substreams"),
    ):
        script.rows([(at(i), f"key {i}") for i in range(4)])


def test_storm_waits_for_every_declared_stream() -> None:
    """Storm's rule: the minimum over the declared streams, nothing before all were seen."""
    policy = WatermarkPolicies.storm("5s")
    with Script(counts(policy, substream="key", expected=["s1", "s2"]), EVENTS) as script:
        script.rows([(at(40), "s1")]).expect(watermark="1970-01-01")
        script.rows([(at(30), "s2")]).expect(watermark=at(25))


def test_null_substreams_are_one_of_their_own() -> None:
    """A null is told apart from any text."""

    def query(events: DataFrame) -> DataFrame:
        return counts(NO_LAG, substream=F.expr("nullif(key, 'none')"))(events)

    with Script(query, EVENTS) as script:
        script.rows([(at(5), "none"), (at(20), "null")]).expect(watermark=at(5))


@pytest.mark.parametrize("generated", ["true", "false"])
def test_substreams_of_every_type_have_the_text_that_spark_gives_them(
    spark: SparkSession, generated: str
) -> None:
    """Also where Spark does not generate code, as for rows of more than a hundred columns."""
    keys = {
        "CAST(key AS tinyint)": "7",
        "CAST(key AS smallint)": "7",
        "CAST(key AS int)": "7",
        "CAST(key AS bigint)": "7",
        "CAST(key AS decimal(9, 2))": "7.00",
        "CAST(key AS double)": "7.0",
        "key = '7'": "true",
        "concat(key, '/', key)": "7/7",
        "make_date(2024, 1, CAST(key AS int))": "2024-01-07",
        "timestamp_seconds(CAST(key AS int))": "1970-01-01 00:00:07",
        "to_timestamp_ntz(concat('2024-01-0', key))": "2024-01-07 00:00:00",
        "named_struct('a', key, 'b', 1)": "{7, 1}",
    }
    spark.conf.set("spark.sql.codegen.wholeStage", generated)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # names must not depend on it
    for expression, name in keys.items():
        query = counts(NO_LAG, substream=F.expr(f"IF(key = '', NULL, {expression})"))
        with Script(query, EVENTS) as script:
            script.rows([(at(5), "7"), (at(20), ""), (at(9), "7"), (at(21), "")])
            lines = et.progress(script.streaming_query).inputs[0].substreams
            seen = {line.name: (line.rows_total, line.top) for line in lines}
        wanted = {name: (2, moment(at(9))), "\\null": (2, moment(at(21)))}
        assert (expression, seen) == (expression, wanted)


def test_several_columns_are_joined_and_their_separators_escaped() -> None:
    """No two pairs share a name."""
    columns = [F.split("key", ",")[0], F.split("key", ",")[1]]
    with Script(counts(NO_LAG, substream=columns), EVENTS) as script:
        script.rows([(at(5), "a/b,c"), (at(6), "a,b/c"), (at(7), "a,b"), (at(8), "a,b")])
        lines = et.progress(script.streaming_query).inputs[0].substreams
    assert {line.name: line.rows_total for line in lines} == {"a\\/b/c": 1, "a/b\\/c": 1, "a/b": 2}


@pytest.mark.smoke
def test_the_watermark_takes_part_in_code_generation(capsys: pytest.CaptureFixture[str]) -> None:
    """One stage from the source to the partial aggregation, so that no row is copied between."""
    with Script(counts(NO_LAG, substream="key"), EVENTS) as script:
        script.rows([(at(5), "a")]).streaming_query.explain()
    plan = capsys.readouterr().out.splitlines()
    watermark = next(line for line in plan if "PolicyWatermark" in line)
    assert watermark.lstrip(" +-:").startswith("*(1) ")
