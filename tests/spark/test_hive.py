"""Sessions with Hive's catalog, whose analyzer is another class of Spark's."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

JOB = """
import warnings
warnings.simplefilter("ignore")
import eventtide as et
from pyspark.sql import SparkSession, functions as F
builder = SparkSession.builder.master("local[1]").enableHiveSupport()
builder = builder.config("spark.ui.enabled", "false")
spark = et.configure(builder.config("spark.sql.shuffle.partitions", "1")).getOrCreate()
counts = spark.sql('''
    SELECT n FROM eventtide_window(
      TABLE(SELECT timestamp_seconds(id) AS ts FROM range(25)), ts, with_fixed_lag('5s'),
      size => '10s', agg => 'count(*) AS n')
''')
print(sorted(row["n"] for row in counts.collect()))
events = spark.readStream.format("rate").load()
window = et.window(events).event_time("timestamp", et.WatermarkPolicies.with_fixed_lag("5s"))
results = window.tumbling("10s").agg(F.count("*").alias("n")).results
try:
    with et.named_errors():
        results.union(results).writeStream.format("noop").start()
except et.EventtideError as error:
    print(error.condition)
"""


@pytest.mark.smoke
def test_sql_and_the_checks_of_a_start_work(tmp_path: Path) -> None:
    """Before Spark 4.3 its analyzer does not have the hint rules of extensions."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", JOB], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-2:] == ["[5, 10, 10]", "WINDOW_TWICE"], done.stderr[-3000:]
