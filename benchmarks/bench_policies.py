"""Nanoseconds for each event of the kernel's policies and substreams, beside Jet's and Flink's.

JMH measures, in JVMs of their own; `dev/bench` has compiled it and left its class path in a file.
The figures are CPU time (see CpuTime.scala), which other users of the machine disturb little.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import ROOT, Figure, Settings, java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

POLICIES = (
    "with_fixed_lag",
    "limiting_lag_and_delay",
    "limiting_lag_and_lull",
    "limiting_timestamp_and_wall_clock_lag",
    "limiting_real_time_lag",
    "storm",
    "with_ingestion_time",
    "min_event_time",
    "max_event_time",
)
QUICK = ("with_fixed_lag", "limiting_lag_and_lull")

# Over how many substreams events go, and how they come to them.
SPREADS = ((1, "in turn"), (1000, "in turn"), (1000, "bursts"))

# Our two ways to tell rows to substreams; the second is what a Spark query does.
OURS = {"ours": "row by row", "oursByBatch": "by batches of 500,000"}

JET_MAPPER = "Jet EventTimeMapper, limitingLag"

WORKLOAD = "1 M event times, 500 for each ms, jitter 2 s, lag 2 s"

# The policies that have the same rule at a baseline; all others stand beside the running maximum.
SAME_RULE = {
    "with_fixed_lag": (("Jet limitingLag", "jet"), ("Flink BoundedOutOfOrderness", "flink")),
    "storm": (),
    "limiting_real_time_lag": (("Jet limitingRealTimeLag", "jetRealTime"),),
}


@dataclass(frozen=True)
class Measured:
    """What JMH said about one benchmark."""

    nanos: float
    low: float
    high: float
    bytes: float


Results = dict[tuple[str, ...], Measured]

# JVMs for a single policy. A loop of a third of a nanosecond has one of two speeds for the whole
# life of a JVM, which differ by a third; probably the layout of its code does it.
BARE_FORKS = 8


def run(*, quick: bool) -> list[Figure]:
    """Measure, and pair each of ours with its baselines."""
    policies = QUICK if quick else POLICIES
    results: Results = {}
    results |= _jmh("BaselineBenchmark", {}, quick=quick, forks=BARE_FORKS)
    results |= _jmh("PolicyBenchmark", {"policy": policies}, quick=quick, forks=BARE_FORKS)
    for substreams, order in SPREADS:
        spread: dict[str, Sequence[str]] = {"substreams": [str(substreams)], "order": [order]}
        for ours in OURS:
            name = f"SubstreamsBenchmark.{ours}$"
            results |= _jmh(name, {"policy": policies, **spread}, quick=quick)
        results |= _jmh("SubstreamsBenchmark.jet", spread, quick=quick)
    return [*_bare(results, policies), *_throttled(results, policies)]


def _bare(results: Results, policies: Sequence[str]) -> Iterator[Figure]:
    for policy in policies:
        for reading, said in (
            ("everyEvent", "after every event"),
            ("periodic", "once in 1,000 events"),
        ):
            suffix = reading[0].upper() + reading[1:]
            baselines = (("running maximum", "maximum"), *SAME_RULE.get(policy, ()))
            for baseline, method in baselines:
                theirs = results.get(("BaselineBenchmark", method + suffix))
                if theirs is not None:  # Jet's real-time lag is read periodically only
                    settings: Settings = {"policy": policy, "throttle": "none", "read": said}
                    ours = results["PolicyBenchmark", reading, policy]
                    yield _figure("policies", settings, ours, baseline, theirs)


def _throttled(results: Results, policies: Sequence[str]) -> Iterator[Figure]:
    for policy in policies:
        for substreams, order in SPREADS:
            theirs = results["SubstreamsBenchmark", "jet", order, str(substreams)]
            for method, told in OURS.items():
                settings: Settings = {
                    "policy": policy,
                    "throttle": "frames of 1 s",
                    "substreams": substreams,
                    "order": order,
                    "told": told,
                }
                ours = results["SubstreamsBenchmark", method, order, policy, str(substreams)]
                yield _figure("policies", settings, ours, JET_MAPPER, theirs)


def _figure(
    bench: str, settings: Settings, ours: Measured, baseline: str, theirs: Measured
) -> Figure:
    more: Settings = {
        "ours_range": f"{ours.low:.3g} - {ours.high:.3g}",
        "theirs_range": f"{theirs.low:.3g} - {theirs.high:.3g}",
        "ours_bytes_per_event": round(ours.bytes, 3),
        "theirs_bytes_per_event": round(theirs.bytes, 3),
        "events": WORKLOAD,
        "time": "CPU, median of iterations",
    }
    return Figure(
        bench, settings | more, "ns/event", ours.nanos, baseline, theirs.nanos, less_is_better=True
    )


def _jmh(
    benchmark: str, params: Mapping[str, Sequence[str]], *, quick: bool, forks: int = 2
) -> Results:
    """Run the benchmarks whose name begins so with every combination of the parameters."""
    full = f"-f {forks} -wi 3 -w 400ms -i 5 -r 400ms"
    effort = "-f 1 -wi 3 -w 200ms -i 3 -r 200ms" if quick else full
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        command = [java(), "-cp", (ROOT / ".build/benchmarks.classpath").read_text().strip()]
        command += ["org.openjdk.jmh.Main", rf"\.{benchmark}", *effort.split()]
        command += ["-jvmArgs", "-Xms1g -Xmx1g -XX:+UseParallelGC"]
        command += ["-prof", "gc", "-prof", "io.eventtide.benchmarks.CpuTime"]
        command += ["-rf", "json", "-rff", str(out), "-v", "silent", "-foe", "true"]
        for name, values in params.items():
            command += ["-p", f"{name}={','.join(values)}"]
        print(f"JMH: {benchmark} {params or ''}", flush=True)
        subprocess.run(command, check=True)  # noqa: S603 - made above
        return dict(map(_measured, json.loads(out.read_text())))


def _measured(result: dict[str, Any]) -> tuple[tuple[str, ...], Measured]:
    more = result["secondaryMetrics"]
    runs = [value for fork in more["cpu.norm"]["rawData"] for value in fork]
    allocated = next(more[name]["score"] for name in more if name.endswith("alloc.rate.norm"))
    params = result.get("params", {})
    key = (*result["benchmark"].split(".")[-2:], *(params[name] for name in sorted(params)))
    return key, Measured(statistics.median(runs), min(runs), max(runs), allocated)
