"""A window query in a process of its own, which may be killed at any moment and started again.

``python -m tests.spark.chaos_query FOLDER SEED [--trouble KIND]... [--cluster] [--table FORMAT]``
reads the same batches each time, goes on where the checkpoint in the folder says, and ends when all
are read. Streams with odd seeds have lists, which Spark aggregates before the shuffle; those with
even seeds have numbers, which eventtide does, in generated code. In every third stream keys have
time of their own, with an even seed those of a site have it together, and late rows go to a handler
too. Of six streams one has windows that count; of twelve one has sessions, one windows of Spark's
own under a watermark of ours, one hands the rows of its windows to a function, one has Storm's
windows by count, and one a policy in Python. The results go through Spark's file sink, or
into a table of another format. Spark's file source would not do: killed between its own log and the
query's, it gives two batches as one.
"""

from __future__ import annotations

import argparse
import json
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.storm import StormWindow, TupleWindow
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark import tables
from tests.spark.conftest import QUICK_FILES
from tests.spark.events import Disorder, cut
from tests.spark.troubles import SETTINGS as TROUBLED
from tests.spark.troubles import TROUBLES, troubled
from tests.spark.two_hosts import two_hosts
from tests.spark.window_runs import WITHOUT_CODE, scripted, settings
from tests.unit.own_policies import Trimmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from tests.spark.tables import Table

BATCHES, EVENTS = 10, 288
LAG = WatermarkPolicies.with_fixed_lag("3s")  # which goes by rows alone, as often as they are read
OWN = Trimmed(timedelta(seconds=3), timedelta(days=1))  # the same by a policy in Python
HANDLED = "handled"
OF_SPARK = 10  # of twelve
IN_PYTHON = 7

# However often executors are killed.
PATIENT = {
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.task.maxFailures": "100",
    "spark.stage.maxConsecutiveAttempts": "100",
}

WITH_CODE = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}

SETTINGS = {
    **QUICK_FILES,
    **TROUBLED,
    **PATIENT,
    "spark.sql.shuffle.partitions": "3",  # in the tests' own session there are two
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def run(
    spark: SparkSession,
    folder: Path,
    seed: int,
    troubles: Sequence[str] = (),
    table: Table = "parquet",
) -> None:
    """Read what is left of a stream, to its end."""
    stream = Disorder(seed, late_by=40, gap=0.5).events(EVENTS)
    numbers = seed % 2 == 0
    with (
        settings(spark, WITH_CODE if numbers else WITHOUT_CODE),
        scripted(spark, cut(stream, seed, BATCHES)) as events,
    ):
        rows = troubled(events, "id", folder, troubles)

        def writer(results: DataFrame) -> DataStreamWriter:
            into = tables.writer(troubled(results, "n", folder, troubles), table, folder)
            into = into.option("checkpointLocation", str(folder / "checkpoint"))
            return into.trigger(availableNow=True)

        if is_sparks_own(seed):
            writer(of_spark(rows)).start().awaitTermination()
        else:
            window = windowed(rows, seed, numbers=numbers)
            if seed % 3 == 0:
                window = window.on_late(lambda late, of: keep(folder, late, of.batch_id))
            et.start(window, writer(window.results)).awaitTermination()


def is_sparks_own(seed: int) -> bool:
    """Tell whether a stream goes into windows of Spark's own, which have no late log."""
    return seed % 12 == OF_SPARK


def of_spark(events: DataFrame) -> DataFrame:
    """Count in windows of Spark's own, under a watermark over users."""
    timed = et.with_watermark(events, "ts", LAG, substream="user")
    window = F.window("ts", "12 seconds", "4 seconds")
    return timed.groupBy(window, "user", "site").agg(*aggregates(numbers=True))


def aggregates(*, numbers: bool) -> tuple[Column, ...]:
    """Return what windows give, of a fixed length or not."""
    ids = F.max("id") if numbers else F.sort_array(F.collect_list("id"))
    return F.count("*").alias("n"), ids.alias("ids"), F.sum("amount").alias("total")


def windowed(events: DataFrame, seed: int, *, numbers: bool) -> WindowBuilder:
    """Return the window of a stream."""
    if seed % 12 == 1:
        return for_a_function(events)
    if seed % 3 == 0:
        window = by_key(events, "site" if seed % 4 < 2 else "key")
    elif seed % 12 == 2:
        return of_storm(events).agg(*aggregates(numbers=numbers)).event_time("ts", LAG)
    else:
        window = {4: in_sessions, 5: by_count}.get(seed % 6, counted)(events)
        if seed % 12 == IN_PYTHON:
            window = window.event_time("ts", OWN)
    return window.agg(*aggregates(numbers=numbers))


def for_a_function(events: DataFrame) -> WindowBuilder:
    """Return windows of rows that are handed out, in the time of the query."""
    bolt = StormWindow().with_window("12s", "4s").with_timestamp_field("ts")
    bolt = bolt.with_max_events_in_memory(5).group_by("user", "site").over(events)
    window = bolt.execute(ids_of, "user string, site int, end timestamp, n int, ids array<long>")
    return window.event_time("ts", LAG)


def ids_of(window: TupleWindow[Any]) -> dict[str, Any]:
    """Tell which rows a window has, and how many are new."""
    ids = [int(number) for number in window.get()["id"].dropna()]
    return {**window.key, "end": window.end_timestamp, "n": len(window.get_new()), "ids": ids}


def of_storm(events: DataFrame) -> StormWindow:
    """Return windows of time whenever so many rows have been counted."""
    bolt = StormWindow().with_window("12s", et.storm.Count(3)).with_timestamp_field("ts")
    return bolt.group_by("user", "site").over(events)


def counted(events: DataFrame) -> WindowBuilder:
    """Return a window in the time of the query."""
    return et.window(events).event_time("ts", LAG).key_by("user", "site").sliding("12s", every="4s")


def by_key(events: DataFrame, scope: str) -> WindowBuilder:
    """Return a window in the time of its keys, which closes silent ones and tells updates."""
    return (
        et.window(events)
        .event_time("ts", WatermarkPolicies.max_event_time())
        .key_by("user", "site")
        .watermark_scope(scope)
        .sliding("12s", every="4s")
        .delay("3s")
        .key_idle_timeout("30s", clock="event_time")
        .emit("at_window_end", et.WindowTrigger.every_rows(5))
    )


def in_sessions(events: DataFrame) -> WindowBuilder:
    """Return sessions in the time of their keys, which end with silence too."""
    return (
        et.window(events)
        .event_time("ts", WatermarkPolicies.with_fixed_lag("5s"))
        .key_by("user", "site")
        .watermark_scope("key")
        .session("4s", maximum_duration="20s")
        .key_idle_timeout("30s", clock="event_time")
    )


def by_count(events: DataFrame) -> WindowBuilder:
    """Return windows of so many rows, also of those that a silent key has left."""
    return (
        et.window(events)
        .event_time("ts", WatermarkPolicies.max_event_time())
        .key_by("user", "site")
        .by_count(5, every=2)
        .key_idle_timeout("30s", clock="event_time")
    )


def keep(folder: Path, late: DataFrame, batch: int) -> None:
    """Write down which rows of a batch are late, in one step and as often as one likes."""
    ids = sorted(row["id"] for row in late.select("id").collect())
    (folder / HANDLED).mkdir(exist_ok=True)
    part = folder / "part"
    part.write_text(json.dumps(ids), encoding="utf-8")
    part.rename(folder / HANDLED / str(batch))


def session(address: str, table: Table = "parquet") -> SparkSession:
    """Return a session for short runs which write such a table."""
    builder = SparkSession.builder.master(address)
    for key, value in (SETTINGS if table == "parquet" else SETTINGS | tables.FORMATS).items():
        builder = builder.config(key, value)
    spark = et.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def master(troubles: Sequence[str], folder: Path, *, cluster: bool) -> Iterator[str]:
    """Yield the address of a Spark in which the troubles can happen and do not end the query."""
    if "slow" in troubles:
        with two_hosts(folder) as address:
            yield address
    else:
        yield "local-cluster[2,1,1024]" if troubles or cluster else "local[2]"


def main() -> None:
    """Run the query that the command line asks for."""
    parser = argparse.ArgumentParser("chaos_query", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("--trouble", choices=TROUBLES, action="append", default=[])
    parser.add_argument("--cluster", action="store_true", help="with executors of their own")
    parser.add_argument("--table", choices=tables.TABLES, default="parquet")
    options = parser.parse_args()
    with master(options.trouble, options.folder, cluster=options.cluster) as address:
        spark = session(address, options.table)
        run(spark, options.folder, options.seed, options.trouble, options.table)
        spark.stop()


if __name__ == "__main__":
    main()
