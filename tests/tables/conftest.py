"""A Spark session with Delta and Iceberg, in processes of these tests' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spark.conftest import new_session
from tests.spark.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

each_table = pytest.mark.parametrize(  # in a process each
    "table",
    [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("delta", "iceberg")],
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Return the session of all tests."""
    session = new_session(FORMATS)
    yield session
    session.stop()
