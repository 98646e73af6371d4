"""A Spark session with Delta and Iceberg, in processes of these tests' own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.spark.conftest import new_session
from tests.spark.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

# The formats are published for this one.
collect_ignore_glob = [] if pyspark.__version__.startswith("4.1.") else ["test_*.py"]

IN_PROCESS = {name: pytest.mark.xdist_group(name) for name in ("delta", "iceberg")}
"""The format of a table, and the process that its tests run in."""

each_table = pytest.mark.parametrize(
    "table", [pytest.param(name, marks=mark) for name, mark in IN_PROCESS.items()]
)
# for what a format does little to
some_table = pytest.mark.parametrize(
    "table",
    [
        pytest.param("delta", marks=IN_PROCESS["delta"]),
        pytest.param("iceberg", marks=[IN_PROCESS["iceberg"], pytest.mark.thorough]),
    ],
)


def iceberg_catalog(spark: SparkSession, folder: Path) -> str:
    """Return a new catalog of Iceberg: its settings are read when it is first used."""
    catalog = re.sub("[^a-z0-9]", "_", f"lake_{folder.parent.name}_{folder.name}".lower())
    name = f"spark.sql.catalog.{catalog}"
    spark.conf.set(name, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{name}.type", "hadoop")
    spark.conf.set(f"{name}.warehouse", str(folder))
    return catalog


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Return the session of all tests."""
    session = new_session(FORMATS)
    yield session
    session.stop()
