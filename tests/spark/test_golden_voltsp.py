"""Every golden case of VoltSP comes out of a real streaming query, a micro-batch a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.spark import golden_words
from tests.spark.volt_cases import (
    Emitted,
    Group,
    groups,
    played,
    readings,
    shared,
    unknown_words,
    waiting,
)
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from tests.spark.volt_cases import Step


@pytest.mark.parametrize("group", groups(), ids=str)
def test_a_query_does_what_the_case_says(
    spark: SparkSession, golden: Callable[[str], None], group: Group
) -> None:
    """Windows with their rows, and late rows; what is open nobody sees."""
    for case in group.cases:
        golden(case["id"])
    with settings(spark, WITHOUT_CODE):
        compare(group, played(spark, group))


@pytest.mark.parametrize("case", waiting(), ids=lambda case: str(case.get("id")))
def test_a_case_with_unknown_words_waits(
    golden: Callable[[str], None], case: dict[str, Any]
) -> None:
    """It says for what."""
    golden_words.play(golden, case, unknown_words(case))


@pytest.mark.parametrize("group", shared(), ids=str)
def test_rows_without_a_key_have_one_watermark(spark: SparkSession, group: Group) -> None:
    """Which does what that of a single key does."""
    with settings(spark, WITHOUT_CODE):
        compare(group, played(spark, group, keyed=False))


@pytest.mark.parametrize("keyed", [True, False], ids=["by key", "over all"])
@pytest.mark.parametrize("group", readings(), ids=str)
def test_another_reading_of_the_page_is_an_option(
    spark: SparkSession, group: Group, keyed: bool
) -> None:
    """Late rows may count for the lowest event time."""
    with settings(spark, WITHOUT_CODE):
        compare(group, played(spark, group, keyed=keyed))


def compare(group: Group, steps: Iterator[Step]) -> None:
    """Compare what came out of each step with what the cases say of it."""
    for number, step in enumerate(steps):
        for case in group.cases:
            for expect in (one for one in case["expect"] if one["step"] == number):
                where = (case["id"], number)
                if "emitted" in expect:
                    wanted = set(map(windows, expect["emitted"]))
                    assert (*where, step.emitted[case["id"]]) == (*where, wanted)
                if "late" in expect:
                    assert (*where, step.late[case["id"]]) == (*where, set(expect["late"]))


def test_there_are_cases() -> None:
    """A folder without any would pass."""
    assert sum(len(group.cases) for group in groups()) > 10
    assert len(shared()) > 5
    assert readings()


def windows(expected: dict[str, Any]) -> Emitted:
    """Return an expected result as a query's are shown."""
    ids = tuple(sorted(expected["ids"]))
    reason = expected.get("reason", "")
    return (
        expected["key"],
        expected["start"],
        expected["end"],
        ids,
        "idle" if reason == "idle" else "",
    )
