"""Python and SQL give the same rows in classic sessions and in Spark Connect.

`SameResultsSuite` does it in Scala, and connect/test_pipeline_results.py in a pipeline.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest

from tests.apis import cases, queries
from tests.thorough import smoked

if TYPE_CHECKING:
    from eventtide import LateContext
    from pyspark.sql import DataFrame, SparkSession

SQL = cases.sql()


@pytest.fixture(scope="module")
def events(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Return the stream of all queries, a file in each batch."""
    folder = tmp_path_factory.mktemp("rows") / "in"
    cases.write_rows(folder)
    reader = spark.readStream.schema(cases.SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.json(str(folder))


def written(results: DataFrame, folder: Path) -> Any:
    """Return a writer that reads all rows and ends."""
    writer = results.writeStream.format("parquet").option("path", f"{folder}/out")
    return writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)


def check(name: str, results: DataFrame, folder: Path) -> None:
    """Compare the results and the late rows of a query."""
    written(results, folder).start().awaitTermination()
    spark, expected = results.sparkSession, cases.RESULTS[name]
    assert cases.texts(spark.read.parquet(f"{folder}/out")) == expected["results"]
    if "late" in expected:
        late = et.read_late(f"{folder}/checkpoint", spark=spark)
        assert cases.texts(late) == expected["late"]


@pytest.mark.smoke
@pytest.mark.parametrize("name", queries.NAMES)
def test_python(name: str, events: DataFrame, tmp_path: Path) -> None:
    """By its builders."""
    check(name, queries.results(name, events), tmp_path)


@pytest.mark.parametrize("name", smoked(queries.NAMES, of=["join", "sliding", "row_gap", "panes"]))
def test_sql(name: str, events: DataFrame, tmp_path: Path) -> None:
    """By table functions."""
    events.createOrReplaceTempView("events")
    check(name, events.sparkSession.sql(SQL[name]), tmp_path)


@pytest.mark.smoke
def test_a_function_of_a_bolt(events: DataFrame, tmp_path: Path) -> None:
    """In Python, over the rows of each window."""
    check("function", queries.results("function", events), tmp_path)


@pytest.mark.smoke
def test_a_handler_gets_the_late_rows(events: DataFrame, tmp_path: Path) -> None:
    """Each once, batch by batch."""
    path = str(tmp_path / "handled")

    def handle(late: DataFrame, _: LateContext) -> None:
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in cases.texts(late))

    window = queries.WINDOWS["tumbling"](events).on_late(handle)
    et.start(window, written(window.results, tmp_path)).awaitTermination()
    handled = Path(path).read_text(encoding="utf-8").splitlines()
    assert sorted(handled) == cases.RESULTS["tumbling"]["late"]


def test_every_query_is_in_each_list() -> None:
    """In SQL and in the results."""
    assert set(SQL) == set(queries.NAMES)
    assert set(cases.RESULTS) == {*queries.NAMES, "function"}
