"""Runs the benchmarks that are named, or all: dev/bench [NAME ...] [--quick] [--out FILE]."""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import bench_connect
import bench_cores
import bench_curves
import bench_engines
import bench_floor
import bench_keys
import bench_lab
import bench_large_state
import bench_late_log
import bench_latency
import bench_load
import bench_memory
import bench_policies
import bench_profile
import bench_recovery
import bench_shares
import bench_soak
import bench_state
import bench_storm
import bench_substreams
import bench_targets
import bench_watermark
import bench_windows
from figures import machine
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from figures import Figure

BENCHES: dict[str, Callable[..., Iterable[Figure]]] = {
    "connect": bench_connect.run,
    "cores": bench_cores.run,
    "curves": bench_curves.run,
    "keys": bench_keys.run,
    "lab": bench_lab.run,
    "large_state": bench_large_state.run,
    "late_log": bench_late_log.run,
    "latency": bench_latency.run,
    "load": bench_load.run,
    "memory": bench_memory.run,
    "engines": bench_engines.run,
    "floor": bench_floor.run,
    "policies": bench_policies.run,
    "profile": bench_profile.run,
    "recovery": bench_recovery.run,
    "shares": bench_shares.run,
    "soak": bench_soak.run,
    "state": bench_state.run,
    "storm": bench_storm.run,
    "substreams": bench_substreams.run,
    "targets": bench_targets.run,
    "watermark": bench_watermark.run,
    "windows": bench_windows.run,
}

LONG = ("load", "soak")  # an hour or more: they run when they are named

MOST_MINUTES = 180  # Spark keeps the progress of as many batches

# What is the same in every row of a table, or too wide for it.
UNSHOWN = ("range", "bytes", "events", "source", "time", "cpu_ns", "policy with", "skipped")


def main() -> None:
    """Run, then print a table or write the file."""
    arguments = _arguments()
    about = machine(quick=arguments.quick)
    started = time.monotonic()
    records = []
    for figure in _figures(arguments):
        records.append(figure.to_json(about))
        if arguments.out is not None:  # at once: all that follow may take hours
            _part(arguments.out).write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    if arguments.out is None:
        _print(records)
    else:
        _part(arguments.out).replace(arguments.out)
    print(f"{len(records)} figures in {time.monotonic() - started:.0f} s")


def _part(file: Path) -> Path:
    """Return where results are until all are there."""
    return file.with_name(f"{file.name}.part")


def _figures(arguments: argparse.Namespace) -> Iterator[Figure]:
    for name in arguments.names or [name for name in BENCHES if name not in LONG]:
        run: Callable[..., Iterable[Figure]] = BENCHES[name]
        if name == "soak":
            run = partial(run, minutes=arguments.minutes)
        yield from run(quick=arguments.quick)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev/bench", description=__doc__)
    names = f"of {', '.join(BENCHES)}; all but {' and '.join(LONG)} when none is named"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--quick", action="store_true", help="fewer cases, fewer turns")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a JSON list of records")
    parser.add_argument("--minutes", type=float, default=60, help="of soak, up to 180")
    arguments = parser.parse_args()
    _check(parser, arguments)
    return arguments


def _check(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    for name in arguments.names:
        if name not in BENCHES:
            parser.error(f"NAME is {name}, but must be one of: {', '.join(BENCHES)}")
    if "soak" in arguments.names and len(arguments.names) > 1:
        parser.error("soak needs a JVM of its own, so it must be the only NAME")
    if not 0 < arguments.minutes <= MOST_MINUTES:
        parser.error(f"--minutes is {arguments.minutes}, but must be above 0, up to {MOST_MINUTES}")
    if arguments.out is not None and not arguments.out.parent.is_dir():
        parser.error(f"--out is {arguments.out}, but its folder does not exist")


def _print(records: list[dict[str, object]]) -> None:
    table = Table("bench", "settings", "ours", "baseline", "theirs", "unit", "ratio")
    width = None if sys.stdout.isatty() else 200
    for record in records:
        shown = [record[name] for name in ("ours", "baseline", "theirs", "unit", "ratio")]
        table.add_row(str(record["bench"]), _settings(record["settings"]), *map(str, shown))
    Console(width=width).print(table)


def _settings(settings: object) -> str:
    if not isinstance(settings, dict):
        return ""
    own = list(settings.items())[: list(settings).index("machine")]
    return ", ".join(f"{name} {value}" for name, value in own if not _hidden(name))


def _hidden(name: str) -> bool:
    return any(part in name for part in UNSHOWN)


if __name__ == "__main__":
    main()
