"""The highest rate that each engine holds for ten minutes, with many keys, and what is above it.

One engine runs after the other. Broker, sender and reader are on the same cores. What was measured
of an engine is kept in `.build/load`, so that a run that was ended goes on with the next engine.
Delete a file there, or the folder, to measure again. Not among the benchmarks that run when none is
named.
"""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import ROOT, Figure
from latency_engines import HEAP, Engine, Topics, running
from load_phase import Phase, mib
from load_run import Effort, Measured, Run
from load_windows import KEYS, SECONDS

from tests.spark.kafka import Broker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Settings

LADDER = tuple(1_000 * rate for rate in (25, 50, 75, 100, 150, 200, 300, 400, 500, 600, 800))

FULL, QUICK = Effort(LADDER, 30, 30, 600, 120), Effort(LADDER[:4], 20, 20, 30, 30)

KEPT = ROOT / ".build" / "load"

JAVA = (f"-Xms{HEAP}", "-XX:+AlwaysPreTouch")  # memory that grows is not the heap's
SPARK = ("spark.sql.shuffle.partitions=2", f"spark.driver.extraJavaOptions={' '.join(JAVA)}")

OURS = Engine("Eventtide, micro-batches", "ours-of-query:micro-batch", settings=SPARK)
OTHERS = (
    Engine("groupBy(window), micro-batches", "stock:micro-batch", settings=SPARK),
    Engine("Jet", "jet", settings=JAVA),
    Engine("Flink", "flink", settings=JAVA),
)

WORKLOAD = (
    f"Kafka 4.1.0, one partition a topic; {KEYS:,} keys in turn, event time is the time of"
    f" sending; count of each key and {SECONDS} s; lag 0; heap {HEAP}, all of it resident"
)


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure all engines, and pair ours with each."""
    effort = QUICK if quick else FULL
    ours = _measured(OURS, effort)
    for engine in OTHERS:
        yield _figure(ours, engine, _measured(engine, effort))


def _measured(engine: Engine, effort: Effort) -> Measured:
    """Measure an engine, unless that has been done."""
    file = KEPT / f"{_name(engine)}-{effort.hold}s.json"
    made_from = {"engine": _version(engine), "effort": str(effort), "workload": WORKLOAD}
    if file.exists():
        kept: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if kept["made_from"] == made_from:
            print(f"load: {engine.name}: as in {file}", flush=True)
            return _from_json(kept["measured"])
    measured = _measure(engine, effort)
    KEPT.mkdir(exist_ok=True)
    kept = {"made_from": made_from, "measured": asdict(measured)}
    file.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return measured


def _version(engine: Engine) -> str:
    """Return the stamp of the jars that an engine is made of."""
    spark = ROOT / "python/eventtide/jars/.stamp"
    stamp = spark if ":" in engine.query else ROOT / ".build/externalEngines"
    return stamp.read_text("utf-8").strip()


def _name(engine: Engine) -> str:
    return engine.query.replace(":", "-")


def _from_json(measured: dict[str, Any]) -> Measured:
    phases = {name: Phase.from_json(measured[name]) for name in ("held", "above")}
    return Measured(**{**measured, **phases})


def _measure(engine: Engine, effort: Effort) -> Measured:
    print(f"load: {engine.name}", flush=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        broker = Broker(Path(folder))
        try:
            return _between_topics(engine, broker, Path(folder), effort)
        finally:
            broker.kill()


def _between_topics(engine: Engine, broker: Broker, folder: Path, effort: Effort) -> Measured:
    topics = Topics(broker.address, "rows", "results")
    for topic in (topics.input, topics.output):
        broker.create(topic, 1)
    own = folder / "engine"
    own.mkdir()
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as sender,
        running(replace(engine, seconds=SECONDS), topics, own) as check,
    ):
        return Run(engine, topics, sender, check).measure(effort, folder)


def _figure(ours: Measured, engine: Engine, theirs: Measured) -> Figure:
    settings: Settings = {
        "first_minute_ms": _both(ours, theirs, lambda each: f"{each.held.first_lag}"),
        "last_minute_ms": _both(ours, theirs, lambda each: f"{each.held.last_lag}"),
        "rise_ms": _both(ours, theirs, lambda each: f"{1000 * each.held.rise:,.0f}"),
        "first_minute_MiB": _both(ours, theirs, lambda each: mib(each.held.first_memory)),
        "last_minute_MiB": _both(ours, theirs, lambda each: mib(each.held.last_memory)),
        "cores": _both(ours, theirs, lambda each: f"{each.held.cores:.2f}"),
        "right_results": _both(ours, theirs, lambda each: f"{each.results:,}"),
        "rows_lost": _both(ours, theirs, lambda each: f"{each.rows_lost:,}"),
        "ours_above": _above(ours.above),
        "theirs_above": _above(theirs.above),
        "source": WORKLOAD,
    }
    rates = ours.held.rate, theirs.held.rate
    return Figure("load", settings, "rows/s", rates[0], engine.name, rates[1], less_is_better=False)


def _both(ours: Measured, theirs: Measured, said: Callable[[Measured], str]) -> str:
    return f"{said(ours)} and {said(theirs)}"


def _above(phase: Phase) -> str:
    return (
        f"{round(phase.sent_rate, -3):,} rows/s:"
        f" backlog {phase.first_backlog:,}, then {phase.last_backlog:,} rows;"
        f" {mib(phase.first_memory)}, then {mib(phase.last_memory)} MiB;"
        f" all right {phase.caught_up:.0f} s after the last row"
    )
