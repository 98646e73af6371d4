"""What docs/reference/voltsp.md shows is what queries do, and what VoltSP's own page says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages import blocks
from tests.spark.test_docs import run
from tests.spark.volt_page import PAGE, by_name, listed, published, tables_of, with_tables
from tests.spark.volt_scenarios import SCENARIOS
from tests.spark.volt_tables import tables

if TYPE_CHECKING:
    import eventtide as et
    from pyspark.sql import SparkSession

    from tests.spark.volt_cells import Table

NAMES = [scenario.name for scenario in SCENARIOS]
BATCHES = range(1, 5)


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> dict[str, Table]:
    """Return the tables as queries make them now."""
    return tables(spark)


def test_the_tables_are_what_queries_do(made: dict[str, Table]) -> None:
    """Every mark has the table of its name, cell by cell, and that of the cells that differ."""
    page = PAGE.read_text("utf-8")
    shown = tables_of(page)
    assert set(shown) == {*NAMES, "deviations"}
    for name in NAMES:
        assert by_name({name: shown[name]}) == by_name({name: made[name]}), "run: dev/tables"
    assert page == with_tables(page, made), "run: dev/tables"


def test_the_tables_are_the_published_ones(made: dict[str, Table]) -> None:
    """But for the cells that are listed, each of which does differ."""
    ours = by_name(made)
    assert {cell for cell, text in published().items() if ours[cell] != text} == set(listed())


BLOCKS = {
    "Processing time": "scenario-0",
    "Event time": "scenario-1",
    "Delay": "scenario-2",
    "Minimum or maximum": "scenario-3-max-delay",
    "Idle keys": "scenario-4-wall",
    "Late rows": "strict",
    "Costs of a key": "forgotten",
}
"""Which table the first block under a heading makes."""


@pytest.mark.parametrize(("heading", "name"), BLOCKS.items(), ids=BLOCKS)
def test_a_block_is_what_made_the_table(spark: SparkSession, heading: str, name: str) -> None:
    """But for what it counts, and the name of the key."""
    block = next(one for one in blocks(PAGE) if one.heading == heading)
    shown = run(block.code, spark.createDataFrame([], "ts timestamp, device string"))["counts"]
    scenario = next(one for one in SCENARIOS if one.name == name)
    made = scenario.over(spark.createDataFrame([], "ts timestamp, key string, id string"))
    assert said(shown) == said(made)


def said(window: et.WindowBuilder) -> list[str]:
    """Return the calls that say how time goes."""
    calls = window.settings.calls()
    return sorted(call for call in calls if not call.startswith(("agg", "key_by", "late(")))


def test_the_published_tables_are_whole() -> None:
    """All six, with every cell of their four batches."""
    whole = {"scenario-0", "scenario-1", "scenario-3-max", "scenario-3-min"}
    delayed = {"scenario-2", "scenario-3-max-delay"}
    columns = ["Processed", "Is emitted", "Watermark"]
    cells = {
        f"{name}/{n}/{column}" for name in whole | delayed for n in BATCHES for column in columns
    }
    cells |= {f"{name}/{n}/Effective" for name in delayed for n in BATCHES}
    assert cells == {cell for cell in published() if cell.startswith("scenario-")}


def test_what_is_published_is_of_a_table() -> None:
    """A cell under another name would be compared with nothing."""
    assert {cell.partition("/")[0] for cell in published()} <= set(NAMES)
    assert listed().keys() <= published().keys()
    assert all(listed().values())
