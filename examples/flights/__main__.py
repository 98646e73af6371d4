"""The demonstration on real flights.

``python -m examples.flights [--quick] [--out DIR] [--kafka HOST:PORT/TOPIC]``
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_DAYS, _QUICK_DAYS = 3, 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration and return the exit status."""
    options = parser().parse_args(arguments)
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra, which may be missing

        also = None if options.picture is None else Path(options.picture)
        return _run(Console(), Path(options.out), also, quick=options.quick, kafka=options.kafka)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] == "eventtide":
            raise
        sys.stderr.write(f"The demo needs {missing.name}: pip install --group dev\n")
        return 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    reader = argparse.ArgumentParser("python -m examples.flights", description=__doc__)
    reader.add_argument(
        "--quick", action="store_true", help="one day in place of three, and fewer settings"
    )
    reader.add_argument("--out", default="demo/out", help="where the page goes: %(default)s")
    reader.add_argument(
        "--picture",
        metavar="FOLDER",
        help="where the picture and its points go too: docs/img for that of the README",
    )
    reader.add_argument(
        "--kafka",
        metavar="HOST:PORT/TOPIC",
        help="send the flights through a topic of six partitions, and compare that too",
    )
    return reader


def _run(console: Console, out: Path, also: Path | None, *, quick: bool, kafka: str | None) -> int:
    # imported here, so that a missing extra is reported in one sentence, and --help is fast
    from examples.flights import (  # noqa: PLC0415
        broker,
        data,
        foresight,
        lull,
        measure,
        page,
        picture,
        repair,
        replay,
        session,
        settings,
        table,
    )

    try:
        topic = None if kafka is None else broker.Topic.parse(kafka)
    except ValueError as error:
        return _refuse(error)
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    chosen = settings.QUICK if quick else settings.FULL
    sides = (*chosen, *(settings.QUICK_SLIDING if quick else settings.SLIDING))
    with console.status("Reading the flights, starting Spark"):
        flights = data.load(_QUICK_DAYS if quick else _DAYS)
        spark = session.start(
            out / "spark.log", {**session.UI, **({} if topic is None else broker.connector())}
        )
    # Spark is stopped first; an upload of its state may still be running then.
    files = tempfile.TemporaryDirectory(prefix="eventtide-lab-", ignore_cleanup_errors=True)
    with files as name, spark:
        if topic is not None:
            try:
                topic.refuse_rows(spark)
            except ValueError as error:
                return _refuse(error)
        folder = Path(name)
        reports = flights.on_disk(spark, folder).cache()
        last = sides[-1]
        true = {s.windows: measure.truth(reports, flights, s) for s in (sides[0], last)}
        console.print(table.intro(flights, sides))
        console.print(f"Spark's UI shows the queries while they run: {session.tab(spark)}\n")
        with table.Race(console, len(flights.by_hour)) as race:
            traces = replay.replay(reports, flights, sides, folder, race.show)
        measured = [measure.measure(t, flights, true[t.setting.windows]) for t in traces]
        hourly, sliding = measured[: len(chosen)], measured[len(chosen) :]
        console.print(table.result_table(hourly))
        console.print(table.result_text(hourly))
        repaired = repair.repair(traces[-1], reports, flights, true[last.windows])
        console.print(table.SLIDING_TEXT)
        console.print(table.sliding_table(sliding, repaired))
        console.print(table.books(sliding[-1], repaired))
        foresight.show(console, traces, reports)
        moments = lull.lull(spark, folder)
        console.print(table.LULL_TEXT)
        console.print(table.lull_table(moments))
        if topic is not None:
            with console.status("Through Kafka") as status:
                carried = broker.through_kafka(
                    reports, flights, topic, folder, lambda hour: status.update(f"Kafka: {hour}")
                )
            console.print(table.KAFKA_TEXT)
            console.print(table.kafka_table(carried))
    shown = page.Shown(flights, traces[: len(chosen)], hourly, sliding, repaired, moments)
    charts = page.write(out, shown)
    drawn = picture.write(out, picture.points(traces, flights))
    if also is not None:
        picture.write(also, picture.points(traces, flights))
    console.print(f"The picture: [bold]{drawn}[/bold], with all charts: [bold]{charts}[/bold]")
    console.print(f"({time.monotonic() - began:.0f} s)")
    return 0


def _refuse(error: ValueError) -> int:
    sys.stderr.write(f"{error}.\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
