"""How long after the row that closes a window its result arrives, from topic to topic of a broker.

One engine runs after the other. Broker, sender and reader are on the same cores.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from figures import Figure
from latency_engines import KAFKA, OTHERS, OURS, Topics, running
from latency_run import RATES, Effort, Run

from tests.spark.kafka import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figures import Settings
    from latency_engines import Engine
    from latency_run import Measured, Times

FULL, QUICK = Effort(30, 25, 8), Effort(15, 8, 6)

WORKLOAD = (
    "Kafka 4.1.0, one partition a topic; 100 keys in turn, event time is the time of sending; "
    "count of each key and second; lag 0"
)


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure all engines, and pair ours with each."""
    effort = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        broker = Broker(Path(folder))
        try:
            alone, ours, *others = (
                _measure(engine, broker, Path(folder), effort) for engine in (KAFKA, OURS, *OTHERS)
            )
        finally:
            broker.kill()
    for other in (*others, alone):
        for rate in RATES:
            yield _latency(rate, ours, other)
    for other in others:
        yield _highest(ours, other)


def _measure(engine: Engine, broker: Broker, folder: Path, effort: Effort) -> Measured:
    print(f"latency: {engine.name}", flush=True)
    name = engine.query.replace(":", "-") or "kafka"
    topics = Topics(broker.address, f"rows-{name}", f"results-{name}")
    for topic in (topics.input, topics.output):
        broker.create(topic, 1)
    if not engine.query:
        topics = replace(topics, output=topics.input)
    (folder / name).mkdir()
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as sender,
        running(engine, topics, folder / name) as check,
    ):
        return Run(engine, topics, sender, check).measure(effort)


def _latency(rate: int, ours: Measured, other: Measured) -> Figure:
    mine, theirs = ours.rates[rate], other.rates[rate]
    settings: Settings = {
        "rows_per_second": rate,
        **_tails(mine, theirs),
        "ours_since_end_ms": round(median(mine.end), 1),
        "theirs_since_end_ms": round(median(theirs.end), 1),
        "results": len(mine.row),
        "right_results": f"{ours.windows:,} / {other.windows:,}",
        "source": WORKLOAD,
    }
    values = mine.quantile(50), theirs.quantile(50)
    name = other.engine.name
    return Figure("latency", settings, "ms", values[0], name, values[1], less_is_better=True)


def _highest(ours: Measured, other: Measured) -> Figure:
    mine, theirs = ours.rates[ours.highest], other.rates[other.highest]
    settings: Settings = {
        "ours_p50_ms": round(mine.quantile(50), 1),
        "theirs_p50_ms": round(theirs.quantile(50), 1),
        **_tails(mine, theirs),
        "source": WORKLOAD,
    }
    rates = ours.highest, other.highest
    name = other.engine.name
    return Figure("latency", settings, "rows/s", rates[0], name, rates[1], less_is_better=False)


def _tails(ours: Times, theirs: Times) -> Settings:
    return {
        f"{side}_p{percent:g}_ms": round(times.quantile(percent), 1)
        for percent in (99, 99.9)
        for side, times in (("ours", ours), ("theirs", theirs))
    }
