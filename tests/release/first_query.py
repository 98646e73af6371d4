"""The first query of a user, on an installed wheel: first_query.py [README].

It runs the first example of the README that needs no files and no session given, and else a query
over a folder of rows that it writes. dev/release runs it in an environment with nothing but the
wheel and PySpark.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def example(readme: str) -> str | None:
    """Return the first Python block that stands alone."""
    blocks = FENCE.findall(readme)
    alone = (b for b in blocks if "import eventtide" in b and "builder" in b and "/data/" not in b)
    return next(alone, None)


def query(folder: Path) -> None:
    """Count the rows of two devices in windows of a minute, and print them."""
    import eventtide as et  # noqa: PLC0415 - as in a script of its own
    from pyspark.sql import SparkSession  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    rows = ['{"ts": "2024-01-01T12:00:07Z", "device": "north"}'] * 3
    rows.append('{"ts": "2024-01-01T12:02:00Z", "device": "north"}')
    (folder / "events").mkdir()
    (folder / "events" / "rows.json").write_text("\n".join(rows), encoding="utf-8")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = et.configure(builder.config("spark.sql.shuffle.partitions", 2)).getOrCreate()
    events = spark.readStream.schema("ts timestamp, device string").json(str(folder / "events"))
    counts = (
        et.window(events)
        .event_time("ts", et.WatermarkPolicies.with_fixed_lag("5s"))
        .key_by("device")
        .tumbling("1m")
        .agg(F.count("*").alias("n"))
    )
    writer = counts.results.writeStream.format("memory").queryName("counts")
    running = counts.start(writer.option("checkpointLocation", str(folder / "checkpoint")))
    running.processAllAvailable()
    found = [(row["device"], row["n"]) for row in spark.table("counts").collect()]
    running.stop()
    spark.stop()
    if found != [("north", 3)]:
        sys.exit(f"The first query gave {found} instead of three rows of one window.")


def main() -> None:
    """Run the example of the README that is named, or the query."""
    code = example(Path(sys.argv[1]).read_text(encoding="utf-8")) if sys.argv[1:] else None
    if code is None:
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            query(Path(folder))
        print("The first query runs on the installed wheel.")  # noqa: T201
    else:
        exec(compile(code, sys.argv[1], "exec"), {"__name__": "__main__"})  # noqa: S102
        print("The first example of the README runs on the installed wheel.")  # noqa: T201


if __name__ == "__main__":
    main()
