"""The jar by its Maven coordinate: packages.py REPOSITORY VERSION, as --packages takes it.

A session of PySpark fetches the jar from a local repository, and runs a window of Eventtide by it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import eventtide as et
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812


def main() -> None:
    """Resolve, start, and close a window."""
    repository, version = Path(sys.argv[1]).resolve(), sys.argv[2]
    minor = ".".join(pyspark.__version__.split(".")[:2])
    coordinate = f"io.eventtide:eventtide-spark-{minor}_2.13:{version}"
    with TemporaryDirectory(ignore_cleanup_errors=True) as ivy:
        builder = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.jars.ivy", ivy)
            .config("spark.jars.repositories", repository.as_uri())
            .config("spark.jars.packages", coordinate)
        )
        spark = et.configure(builder).getOrCreate()
        jars = [Path(jar).name for jar in str(spark.conf.get("spark.jars", "")).split(",") if jar]
        jars += [Path(str(jar)).name for jar in (Path(ivy) / "jars").glob("*.jar")]
        fetched = f"io.eventtide_eventtide-spark-{minor}_2.13-{version}.jar"
        if jars.count(fetched) < 1 or et.jar_path().name in jars:
            sys.exit(f"Spark has the jars {jars}, but must have {fetched}, and only that.")
        rows = spark.sql("SELECT timestamp'2024-01-01 12:00:07' AS ts, 'north' AS device")
        window = et.window(rows).event_time("ts", et.WatermarkPolicies.with_fixed_lag("5s"))
        counts = window.key_by("device").tumbling("1m").agg(F.count("*").alias("n"))
        found = [(row["device"], row["n"]) for row in counts.results.collect()]
        spark.stop()
    if found != [("north", 1)]:
        sys.exit(f"A window of the fetched jar gave {found} instead of one row.")
    print(f"{coordinate} is resolved, and runs a window.")  # noqa: T201


if __name__ == "__main__":
    main()
