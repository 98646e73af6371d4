"""Files of recorded rows."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide._text.columns import check_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Format = Annotated[
    str | None,
    typer.Option("--format", help="The format of the files; by default by their extension."),
]

_READERS = {".parquet": "parquet", ".orc": "orc", ".json": "json", ".csv": "csv"}


def read(spark: SparkSession, files: list[str], file_format: str | None) -> DataFrame:
    """Return the rows of files or folders."""
    found = file_format or _READERS.get(PurePosixPath(files[0]).suffix, "parquet")
    reader = spark.read.format(found)
    if found == "csv":
        reader = reader.option("header", "true").option("inferSchema", "true")
    return reader.load(files)


def times(rows: DataFrame, event_time: str, arrival: str) -> DataFrame:
    """Return the arrival and the event time of rows, in microseconds."""
    for name, column in (("event_time", event_time), ("arrival", arrival)):
        check_column(name, column, rows.columns)
    named = {"arrival": arrival, "event_time": event_time}
    micros = [F.unix_micros(F.col(of).cast("timestamp")).alias(name) for name, of in named.items()]
    return rows.select(*micros).dropna()
