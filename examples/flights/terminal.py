"""The replay of `live` in the terminal: a line for each window, and the numbers of all."""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et

from examples.flights import broker, data, live, session
from examples.flights.data import HOUR, NEW_YORK
from examples.flights.live import Live, Pace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from examples.flights.live import Closed

__all__ = ["main", "summary"]

_FULL, _QUICK = Pace(3, 45), Pace(1, 10)
_HEAD = """\
Each line is a window as its result arrives: the hour of departure, the destination, its flights,
and the milliseconds since the report was sent that closed it. The first ones wait for the query to
start. At the end, a report far ahead closes the last windows of each destination.

"""


def summary(replay: Live, late: int) -> str:
    """Return the numbers of a replay as text."""
    millis = sorted(one.millis for one in replay.closed)
    warm = sorted(one.millis for one in replay.closed[len(millis) // 10 :])
    counted = sum(one.rows for one in replay.closed)
    return (
        f"{len(replay.closed)} windows; "
        f"{replay.sent} rows in = {counted} in windows + {late} late\n"
        f"from the row that closes a window to its result: {_quantiles(millis)}\n"
        f"without the first tenth, while the query starts: {_quantiles(warm)}\n"
    )


def _quantiles(millis: Sequence[float]) -> str:
    p50, p99 = (millis[int(share * (len(millis) - 1))] for share in (0.5, 0.99))
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def shown(one: Closed) -> str:
    """Return the line of a window."""
    start = (one.end - HOUR).astimezone(NEW_YORK)
    flights = "flight" if one.rows == 1 else "flights"
    return f"{start:%d %b %H}:00  {one.dest}  {one.rows:3} {flights:7}  {one.millis:8.1f} ms\n"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    reader = argparse.ArgumentParser("dev/demo --real-time", description=live.__doc__)
    reader.add_argument(
        "--quick", action="store_true", help="one day in ten seconds, in place of three in 45"
    )
    return reader


def main(arguments: Sequence[str], address: str, rows: str, results: str) -> int:
    """Run the replay in the terminal, and return the exit status."""
    pace = _QUICK if parser().parse_args(arguments).quick else _FULL
    with tempfile.TemporaryDirectory(prefix="eventtide-live-", ignore_cleanup_errors=True) as name:
        more = {**session.ORDERED, **session.UI, **broker.connector()}
        try:
            spark = session.start(Path(name, "spark.log"), more, real_time=True)
        except et.errors.UnsupportedSparkError as error:
            sys.stderr.write(f"{error}\n")
            return 2
        with spark:
            flights = data.load(pace.days, drain=timedelta(0))
            replay = Live(address, rows, results, flights, pace)
            _say(f"{_HEAD}Spark's UI shows the query: {session.tab(spark)}\n\n")
            late = replay.run(spark, Path(name, "checkpoint"), lambda one: _say(shown(one)))
    _say(f"\n{summary(replay, late)}")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
