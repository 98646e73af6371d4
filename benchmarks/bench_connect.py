"""One query, started by a classic session and by a client of Spark Connect, in one JVM."""

from __future__ import annotations

import io
import re
import socket
import statistics
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from figures import Figure
from pyspark.sql import SparkSession
from turns import SKIPPED, rates, session, wait
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings

BASELINE = "the same query in a classic session"
PLUGIN = "io.eventtide.spark.connect.EventtideRelationPlugin"
WARM_UP = 100  # batches of each

# What differs from one run of a query to the next: ids of expressions and queries, paths, batches.
OF_A_RUN = re.compile(r"#\d+L?|epoch: \d+|[0-9a-f]{8}-[0-9a-f-]{27}|@[0-9a-f]+|file:\S+|\d{4,}")


@dataclass(frozen=True)
class Case:
    """Windows over a thousand keys, in batches of a number of rows."""

    rows: int
    turns: int
    batches: int

    def turn(self, url: str | None, batches: int) -> tuple[list[float], str]:
        """Return the milliseconds of batches, and the physical plan of the last of them."""
        builder = SparkSession.builder
        spark = builder.getOrCreate() if url is None else builder.remote(url).create()
        numbers = events(rates(spark, self.rows), even(1_000), rate=500_000)
        query = Windows(60, 1).ours(numbers).writeStream.format("noop").start()
        try:
            wait(query, SKIPPED + batches, pause=1)  # a question is more work for a client
            with redirect_stdout(io.StringIO()) as plan:
                query.explain()
        finally:
            query.stop()
        counted = [each for each in query.recentProgress if each.batchId >= SKIPPED]
        if url is not None:
            spark.stop()
        millis = [float(each.durationMs["triggerExecution"]) for each in counted[:batches]]
        return millis, OF_A_RUN.sub("", plan.getvalue())


CASES = (Case(500_000, turns=6, batches=25), Case(1_000, turns=6, batches=50))


def run(*, quick: bool) -> Iterator[Figure]:
    """Take turns in the JVM of a classic session, which is the server, too."""
    with closing(socket.socket()) as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    # A server reads its settings when Spark begins, before a session has any.
    server = f"-Dspark.connect.extensions.relation.classes={PLUGIN}"
    with session(java=f"{server} -Dspark.connect.grpc.binding.port={port}") as spark:
        _serve(spark.sparkContext)
        for case in CASES[:1] if quick else CASES:
            yield _compare(case, f"sc://localhost:{port}", 2 if quick else case.turns)


def _serve(context: Any) -> None:  # noqa: ANN401 - its JVM is private
    connect = context._jvm.org.apache.spark.sql.connect.service  # noqa: SLF001 - py4j's
    connect.SparkConnectService.start(context._jsc.sc())  # noqa: SLF001 - Scala's context


def _compare(case: Case, url: str, turns: int) -> Figure:
    print(f"connect: {case}", flush=True)
    ours: list[float] = []
    theirs: list[float] = []
    # A process has one kind of session.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as client:
        case.turn(None, WARM_UP)
        client.submit(case.turn, url, WARM_UP).result()
        for _ in range(turns):
            millis, plan = client.submit(case.turn, url, case.batches).result()
            others, other_plan = case.turn(None, case.batches)
            if plan != other_plan:
                raise AssertionError(f"The plans differ:\n{plan}\n{other_plan}")
            ours += millis
            theirs += others
    settings: Settings = {
        "windows": "60 s / 1 s",
        "keys": 1_000,
        "rows_per_batch": case.rows,
        "batches": len(ours),
        "plans": "equal",
    }
    medians = statistics.median(ours), statistics.median(theirs)
    return Figure(
        "connect", settings, "ms/batch", medians[0], BASELINE, medians[1], less_is_better=True
    )
