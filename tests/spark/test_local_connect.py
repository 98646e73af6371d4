"""A full PySpark as a client of Spark Connect, of a server that it starts and of another."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.spark.conftest import SERVER
from tests.spark.server import Server

if TYPE_CHECKING:
    from pathlib import Path

COUNTS = """
import sys
import warnings
warnings.simplefilter("ignore")  # settings of the server are none of the session
{first}
import eventtide as et
from eventtide.testing import Script
from pyspark.sql import SparkSession, functions as F
spark = {session}.getOrCreate()
lag = et.WatermarkPolicies.with_fixed_lag("5s")
def counts(rows):
    window = et.window(rows).event_time("ts", lag).tumbling("10s")
    return window.agg(F.count("*").alias("n"))
with Script(counts, "ts timestamp") as script:
    script.rows([("2024-01-01 00:00:01",)], [("2024-01-01 00:00:21",)])
    print([row["n"] for row in script.results()], type(spark).__module__)
"""

LOCAL = """et.configure(
    SparkSession.builder.remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
)"""


def counted(tmp_path: Path, first: str, session: str, **variables: str) -> None:
    """Run a program that counts rows, with an import before the others."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", COUNTS.format(first=first, session=session)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | variables,
    )
    assert done.stdout.splitlines()[-1:] == ["[1] pyspark.sql.connect.session"], done.stderr[-2000:]


@pytest.mark.thorough
def test_a_server_that_pyspark_starts_has_eventtide(tmp_path: Path) -> None:
    """With `et.configure` and nothing else."""
    counted(tmp_path, "", LOCAL, SPARK_TESTING="1")  # any free port


@pytest.mark.thorough
def test_a_client_needs_no_py4j(tmp_path: Path) -> None:
    """A full PySpark imports py4j by itself, except as Spark's own tests of a client run it."""
    server = Server(tmp_path / "server", SERVER)
    try:
        counted(
            tmp_path,
            'sys.modules["py4j"] = None  # so its import fails',
            f"SparkSession.builder.remote({server.url!r})",
            SPARK_SKIP_CONNECT_COMPAT_TESTS="1",
        )
    finally:
        server.kill()
