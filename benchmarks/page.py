"""Makes docs/benchmarks.md from benchmarks/results/*.json: python benchmarks/page.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"

# What is said once for a file: the same in all of its records.
MACHINE = ("machine", "load", "effort", "java", "spark", "jet", "flink", "eventtide")

INTRODUCTION = """\
# Benchmarks

Made by `benchmarks/page.py` from the files in `benchmarks/results`, not by hand. To measure:

    dev/bench [NAME ...] [--quick] --out benchmarks/results/FILE.json
    python benchmarks/page.py

A ratio above 1 means that ours is better. Every figure stands beside its rival's from the same run,
on the same machine and data.

- **`policies`**: one thread, the kernel alone (JMH). Nanoseconds are CPU time for each event, the
  median of the iterations. The running maximum is the physical limit. A bare policy is told each
  event, and its watermark is read after every event or once in 1,000. Over substreams ours and
  Jet's `EventTimeMapper` have the same frame throttle and are told the clock, Jet's best mode;
  Jet's mapper looks at every partition at every event. Ours is told row by row, and by batches as
  in a Spark query: a row changes the extremes of its substream, which are told at the batch's end.
  Flink's best mode is the periodic one. Only `with_fixed_lag` and `limiting_real_time_lag` have a
  rule that a rival has too: the others stand beside the maximum, and over substreams beside Jet's
  `limitingLag`.
- **`watermark`**: rows per second of whole micro-batches of a Spark query, the median over batches;
  the queries take turns. Both write checkpoint files without child processes
  (`spark.sql.streaming.checkpointFileManagerClass=...FileSystemBasedCheckpointFileManager`). By
  default Spark starts some for each file, about 20 ms, on a local disk where Hadoop's native
  library is missing; a batch of ours has one file more, the ledger's. `cpu_ratio` compares the CPU
  time that Spark's JVM used for a row, which says more than the rate when others use the machine.
- **`windows`**: milliseconds of whole micro-batches of `et.window` and of Spark's
  `groupBy(window(), ...)` with the same rows, aggregates, lag and state store, the median over
  batches; the queries take turns. Both are measured when windows close as fast as they open: ours
  once it has the frames of a whole window, Spark, which has all windows of a row from the first
  batch on, as soon as the first one closes. Where windows close only in some batches, a cycle of
  batches counts as one, by its mean. `goal` is the ratio that was aimed for; `cpu_ratio` is as
  above. `transformWithState` is a processor in Scala that keeps a frame for each slide of a key and
  combines them in timers, `benchmarks/spark`. The source gives numbers in columns, which costs next
  to nothing, so that what is measured is the engine. Before the first turn all run a few hundred
  small batches: the JVM takes that long to compile what Spark does to plan a batch.
- **`state`**: `et.window` beside itself with another state: longer windows, a hundred times the
  keys of which as many get rows, a hot key. A ratio near 1 says that a batch costs what happens in
  it, not what is stored.
- **`peers`**: `et.window` beside whole other engines on the same events, each alone on the machine;
  their jobs are in `benchmarks/peers`. What counts is the time when windows are full: the median
  batch of ours, and of the others how fast the ends of windows came to the sinks while there were
  events; `theirs_whole_run` is from the first event to the last sink closed. `Jet` has the three
  operations of its library, `Jet, own aggregate` one that does all three, its best. `Flink SQL` has
  its window table functions, untuned. The batch `groupBy` has the rows of one batch and makes no
  windows of them: what Spark can do at most. All engines give the same results for the same
  windows, `equal_results` of them, or the run fails. Not equal: `et.window` writes offsets, ledger,
  state and commit in every batch, to survive a kill; Jet and Flink ran without snapshots. They
  answer as soon as the watermark passes, `et.window` once a batch, which has a second of event time
  for each half million of `rows_per_batch`; smaller batches are slower. Jet hands references from
  thread to thread, and combines all frames of a window at every slide; Flink serializes for its
  exchange and Spark writes shuffle files, both after they have aggregated what they could.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(RESULTS), "utf-8")


def page(results: Path) -> str:
    """Return the page that belongs to a folder of results."""
    files = sorted(results.glob("*.json"))
    return "\n".join([INTRODUCTION, *(_section(file) for file in files)])


def _section(file: Path) -> str:
    records: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    said = records[0]["settings"]
    about = "; ".join(f"{name} {said[name]}" for name in MACHINE)
    benches = dict.fromkeys(record["bench"] for record in records)
    tables = [_tables([r for r in records if r["bench"] == bench], bench) for bench in benches]
    return "\n".join([f"## {file.stem}", "", f"{about}.", "", *tables])


def _tables(records: list[dict[str, Any]], bench: str) -> str:
    """Return a table for each set of settings that records of a benchmark have."""
    shapes = dict.fromkeys(tuple(_own(record)) for record in records)
    return "\n".join(_table([r for r in records if tuple(_own(r)) == s], bench) for s in shapes)


def _table(records: list[dict[str, Any]], bench: str) -> str:
    same = {n: v for n, v in _own(records[0]).items() if _everywhere(n, v, records)}
    if len(records) == 1:
        same = {}
    columns = [name for name in _own(records[0]) if name not in same]
    head = [*columns, f"ours, {records[0]['unit']}", "rival", "theirs", "ratio"]
    lines = [f"### {bench}", "", "; ".join(f"{n}: {v}" for n, v in same.items()), ""]
    lines += [_row(head), _row(["---"] * len(head))]
    for record in records:
        own = [record["settings"][name] for name in columns]
        figures = [_number(record["ours"]), record["rival"], _number(record["theirs"])]
        lines.append(_row([*own, *figures, record["ratio"]]))
    return "\n".join([*lines, ""])


def _own(record: dict[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in record["settings"].items() if n not in MACHINE}


def _everywhere(name: str, value: object, records: list[dict[str, Any]]) -> bool:
    return all(record["settings"][name] == value for record in records)


def _number(value: float) -> str:
    return f"{value:,}"


def _row(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
