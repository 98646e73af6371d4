"""A query in real-time mode, in a process of its own, from Kafka to Kafka.

``python -m tests.chaos.realtime_victim FOLDER KIND BROKER IN OUT`` goes on where the checkpoint in
the folder says. It ends when it has committed all rows, which the file ``end`` counts, and the
batch that closes the last windows, or after a SIGTERM. On a cluster it starts a query again that
has lost an executor, as a supervisor does.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos import streams
from tests.chaos.late_log import numbers
from tests.chaos.session import CHANGELOG, session
from tests.chaos.timely import KINDS
from tests.chaos.trial import said

if TYPE_CHECKING:
    from argparse import Namespace

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

REAL_TIME, MICRO = {"realTime": "500 milliseconds"}, {"processingTime": "200 milliseconds"}
LOST = "lost.jsonl"  # what has ended a query that lost an executor
OF_LOST = re.compile(
    r"ExecutorLostFailure|ExecutorDeadException|INSUFFICIENT_SLOT|SLOTS|streaming shuffle"
)
PAUSE = 0.02  # seconds
AGAIN = 0.5  # seconds until a query is started again


def main() -> int:
    """Run until all is read."""
    options = _options()
    master = "local-cluster[2,2,1024]" if options.cluster else "local[4]"
    spark = session(master, faults=False, real_time=True)
    spark.conf.set(CHANGELOG, "true")
    stopped: list[Any] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    while not stopped:
        query = _start(spark, options)
        while query.isActive and not stopped and not has_read(options.folder, micro=options.micro):
            time.sleep(PAUSE)
        if options.micro and not stopped:
            with suppress(StreamingQueryException):
                query.processAllAvailable()
        failed = query.exception()
        query.stop()
        if failed is None:
            break
        if not options.cluster or not is_lost(said(failed)):
            sys.stderr.write(f"ENDED {said(failed)}\n")
            return 3
        with (options.folder / LOST).open("a", encoding="utf-8") as out:
            out.write(json.dumps(said(failed)) + "\n")
        time.sleep(AGAIN)
    return 0


def _options() -> Namespace:
    parser = argparse.ArgumentParser("realtime_victim", description=__doc__)
    parser.add_argument("folder", type=Path)
    for name in "kind", "broker", "source", "sink":
        parser.add_argument(name)
    parser.add_argument("--cluster", action="store_true", help="with executors of their own")
    parser.add_argument("--micro", action="store_true", help="in micro-batches")
    return parser.parse_args()


def has_read(folder: Path, *, micro: bool) -> bool:
    """Tell whether a committed batch has come to the end of the rows.

    In real-time mode it is one before the last: what rows bring the watermark of a query to, closes
    windows in the next batch.
    """
    end, reached = folder / "end", committed(folder, 0 if micro else 1)
    if not end.exists() or not reached:
        return False
    wanted: dict[str, int] = json.loads(end.read_text("utf-8"))
    return all(reached.get(partition, 0) >= count for partition, count in wanted.items())


def committed(folder: Path, later: int = 0) -> dict[str, int]:
    """Return how many rows of each partition are in committed batches; empty before the first.

    The last `later` batches do not count.
    """
    commits = numbers(folder / "checkpoint/commits")
    if len(commits) <= later:
        return {}
    last = folder / f"checkpoint/offsets/{commits[-1 - later]}"
    offsets = last.read_text("utf-8").splitlines()
    reached: dict[str, int]
    [reached] = json.loads(offsets[2]).values()
    return reached


def _start(spark: SparkSession, options: Namespace) -> StreamingQuery:
    server = {"kafka.bootstrap.servers": options.broker}
    reader = spark.readStream.format("kafka").options(**server).option("subscribe", options.source)
    lines = reader.option("startingOffsets", "earliest").load()
    row = F.from_json(F.col("value").cast("string"), streams.SCHEMA).alias("row")
    window = KINDS[options.kind].make(lines.select(row).select("row.*"))
    values = window.results.select(F.to_json(F.struct("*")).alias("value"))
    writer = values.writeStream.format("kafka").options(**server).option("topic", options.sink)
    writer = writer.option("checkpointLocation", str(options.folder / "checkpoint"))
    return et.start(window, _timed(writer, micro=options.micro))


def _timed(writer: DataStreamWriter, *, micro: bool) -> DataStreamWriter:
    if micro:
        return writer.outputMode("append").trigger(**MICRO)
    return writer.outputMode("update").trigger(**REAL_TIME)


def is_lost(text: str) -> bool:
    """Tell whether an executor is gone, and with it what it held."""
    return OF_LOST.search(text) is not None


if __name__ == "__main__":
    sys.exit(main())
