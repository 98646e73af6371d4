"""What docs/voltsp.md shows is what queries do, and what VoltSP's own page says."""

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


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> dict[str, Table]:
    """Return the tables as queries make them now."""
    return tables(spark)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_what_a_query_does(name: str, made: dict[str, Table]) -> None:
    """Cell by cell."""
    shown = tables_of(PAGE.read_text("utf-8"))
    assert by_name({name: shown[name]}) == by_name({name: made[name]}), "run: dev/tables"


def test_the_page_is_fresh(made: dict[str, Table]) -> None:
    """Every mark has the table of its name, and that of the cells that differ."""
    page = PAGE.read_text("utf-8")
    assert set(tables_of(page)) == {*NAMES, "deviations"}
    assert page == with_tables(page, made), "run: dev/tables"


BLOCKS = {
    "Processing time": "scenario-0",
    "Event time": "scenario-1",
    "Delay": "scenario-2",
    "Minimum or maximum": "scenario-3-max-delay",
    "Silent keys": "scenario-4-wall",
    "Late rows": "strict",
    "What a key costs": "forgotten",
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


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_the_published_one(name: str, made: dict[str, Table]) -> None:
    """But for the cells that are listed, each of which does differ."""
    theirs = {cell: text for cell, text in published().items() if cell.startswith(f"{name}/")}
    ours = by_name(made)
    differing = {cell for cell, text in theirs.items() if ours[cell] != text}
    assert differing == {cell for cell in listed() if cell.startswith(f"{name}/")}


def test_what_is_published_is_of_a_table() -> None:
    """A cell under another name would be compared with nothing."""
    assert {cell.partition("/")[0] for cell in published()} <= set(NAMES)
    assert listed().keys() <= published().keys()
    assert all(listed().values())
