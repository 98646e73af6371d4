"""A Spark Connect server that PySpark itself starts, and a full PySpark as its client."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

JOB = """
import sys
import warnings
warnings.simplefilter("ignore")  # settings of the server are none of the session
import eventtide as et
from eventtide.testing import Script
from pyspark.sql import SparkSession, functions as F
builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
spark = et.configure(builder.config("spark.sql.shuffle.partitions", "1")).getOrCreate()
lag = et.WatermarkPolicies.with_fixed_lag("5s")
def counts(rows):
    window = et.window(rows).event_time("ts", lag).tumbling("10s")
    return window.agg(F.count("*").alias("n"))
with Script(counts, "ts timestamp") as script:
    script.rows([("2024-01-01 00:00:01",)], [("2024-01-01 00:00:21",)])
    print([row["n"] for row in script.results()], type(spark).__module__)
"""


@pytest.mark.thorough
def test_a_server_that_pyspark_starts_has_eventtide(tmp_path: Path) -> None:
    """With `et.configure` and nothing else."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", JOB],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"SPARK_TESTING": "1"},  # any free port
    )
    assert done.stdout.splitlines()[-1:] == ["[1] pyspark.sql.connect.session"], done.stderr[-2000:]
