"""Tables that a query writes exactly once: files of Spark's own sink, and on Spark 4.1 more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tests.jars import BESIDE_SPARK

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

Table: TypeAlias = Literal["parquet", "delta", "iceberg"]
TABLES: tuple[Table, ...] = get_args(Table)

# Delta reads the state of a table in 50 tasks; one is enough.
FORMATS = {
    "spark.jars": ",".join(BESIDE_SPARK),
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.extensions": (
        "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    ),
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
}


def writer(results: DataFrame, table: Table, folder: Path) -> DataStreamWriter:
    """Return a writer of results into the table of a folder."""
    if table == "iceberg":
        spark = results.sparkSession
        spark.conf.set("spark.sql.catalog.lake.warehouse", str(folder))
        columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in results.schema)
        spark.sql(f"CREATE TABLE IF NOT EXISTS lake.results ({columns}) USING iceberg")
    return results.writeStream.format(table).option("path", str(folder / "results"))


def read(spark: SparkSession, table: Table, folder: Path) -> DataFrame:
    """Return what is in the table."""
    return spark.read.format(table).load(str(folder / "results"))
