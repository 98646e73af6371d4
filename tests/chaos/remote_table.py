"""A client that makes a database of a pipeline, or keeps what its table has.

``python -m tests.chaos.remote_table URL DATABASE [FOLDER]``; a client changes the process it is in.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.results import keep

TABLE = "windows"


def main(url: str, database: str, folder: str = "") -> None:
    """Make the database, or keep the rows as the results of a batch."""
    spark = SparkSession.builder.remote(url).getOrCreate()
    if folder:
        rows = spark.table(f"{database}.{TABLE}").select(F.to_json(F.struct("*")))
        keep(Path(folder), "table", 0, [row[0] for row in rows.collect()])
    else:
        spark.sql(f"CREATE DATABASE {database}")


if __name__ == "__main__":
    main(*sys.argv[1:])
