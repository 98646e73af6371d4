"""Flows of a pipeline give the rows that the same queries give elsewhere: tests/apis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et

from tests.apis import cases, queries
from tests.spark.pipelines import Project

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.spark.server import Server

FLOWS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from tests.apis import cases, queries

spark = SparkSession.getActiveSession()


@dp.temporary_view
def events():
    reader = spark.readStream.schema(cases.SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.json("{source}")


def add(name):
    @dp.table(name="python_" + name)
    def flow():
        return queries.results(name, spark.readStream.table("events"))


for name in queries.NAMES:
    add(name)
"""


def test_flows_have_the_results_of_other_apis(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    """In Python and in SQL: results and late rows."""
    cases.write_rows(tmp_path / "in")
    statements = [
        f"CREATE STREAMING TABLE sql_{name} AS\n{text};" for name, text in cases.sql().items()
    ]
    project = Project(
        tmp_path / "tide",
        "tide_results",
        flows_py=FLOWS.format(source=tmp_path / "in"),
        q_sql="\n\n".join(statements),
    )
    spark.sql("CREATE DATABASE IF NOT EXISTS tide_results")
    project.run(server)
    for name in queries.NAMES:
        expected = cases.RESULTS[name]
        for table in f"python_{name}", f"sql_{name}":
            assert cases.texts(spark.table(f"tide_results.{table}")) == expected["results"], table
            if "late" in expected:
                late = et.read_late(project.checkpoint(table), spark=spark)
                assert cases.texts(late) == expected["late"], table
