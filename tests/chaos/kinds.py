"""The kinds of queries that the campaigns disturb, by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.storm import StormWindow
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos import streams
from tests.unit.own_policies import Trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from eventtide import WatermarkPolicy, WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

    Made = tuple[WindowBuilder | None, DataFrame]

LAG = WatermarkPolicies.with_fixed_lag("3s")  # which goes by rows alone, as often as they are read
OF_A_JAR = WatermarkPolicies.from_jar("limited_lag", lag="3s", limit="20000 days")
WORD = 48  # bits of a number that stand for ids


@dataclass(frozen=True)
class Kind:
    """A query, from its streams to its results.

    Attributes
    ----------
    make : callable
        Makes the window and the results of the query from streams and the folder of a trial.
    inputs : int
        How many streams it reads.
    stretch : int
        How many seconds go for one in its streams.
    batches, rows : int
        How many batches its streams have, but for the last two, and how many rows each.
    retain : int
        How many batches Spark can run again: the index of late rows folds what is before.
    drains : bool
        Whether every window is closed after the last row, and no later start goes on.
    changelog : bool
        Whether its state store writes what changed, or snapshots.
    history : int
        How many batches of its stream it reads at once, as its history, before the others.
    logs : bool
        Whether it has a late log, so that each row is in a window or in there.
    has_late : bool
        Whether some of its rows are late.
    handles : bool
        Whether a handler is given its late rows.
    skips : bool
        Whether a row on time may be in no result at all.
    follows : bool
        Whether another query reads the windows that it closes, as a stream.
    stock : bool
        Whether it is stock Spark's alone, which is killed to compare how long it takes after that.
    """

    make: Callable[[Sequence[DataFrame], Path], Made]
    inputs: int = 1
    stretch: int = 1
    batches: int = 6
    rows: int = 14
    retain: int = 100
    drains: bool = False
    changelog: bool = True
    history: int = 0
    logs: bool = True
    has_late: bool = True
    handles: bool = False
    skips: bool = False
    follows: bool = False
    stock: bool = False

    def sources(self, folder: Path, seed: int) -> list[Path]:
        """Write the streams of a trial, if they are not there, and return their files."""
        files = [folder / f"source-{n}.jsonl" for n in range(self.inputs)]
        for n, file in enumerate(files):
            if not file.exists():
                made = streams.batches(
                    seed + 1000 * n, of=self.batches, rows=self.rows, stretch=self.stretch
                )
                first = n * sum(map(len, made))
                for row in (row for batch in made for row in batch):
                    row["id"] += first
                streams.write(file, made)
        return files


def read(spark: SparkSession, file: Path | str, first: int = 0) -> DataFrame:
    """Return a stream, from one of its batches on."""
    lines = spark.readStream.format("io.eventtide.chaos.BatchSource")
    return _parsed(lines.options(file=str(file), first=first).load())


def history(spark: SparkSession, file: Path, batches: int) -> DataFrame:
    """Return the first batches of a stream, as one batch."""
    parts = file.read_text("utf-8").split("\n\n")[:batches]
    lines = [(line,) for part in parts for line in part.splitlines()]
    return _parsed(spark.createDataFrame(lines, "value string"))


def _parsed(lines: DataFrame) -> DataFrame:
    return lines.select(F.from_json("value", streams.SCHEMA).alias("row")).select("row.*")


def lists() -> list[Column]:
    """Return aggregates with buffers of no fixed length."""
    ids = F.sort_array(F.collect_list("id")).alias("ids")
    return [F.count("*").alias("n"), ids, F.sum("amount").alias("total")]


def numbers() -> list[Column]:
    """Return aggregates with buffers of a fixed length; the bits of three numbers are the ids."""
    bit = f"shiftleft(1L, int(id % {WORD}))"
    words = [F.expr(f"sum(if(id div {WORD} = {n}, {bit}, 0L))").alias(f"w{n}") for n in range(5)]
    return [F.count("*").alias("n"), *words, F.sum("amount").alias("total")]


def _window(events: DataFrame, **options: Any) -> WindowBuilder:
    return et.window(events).event_time("ts", LAG, **options).key_by("user", "site")


def _of(make: Callable[[DataFrame], WindowBuilder]) -> Callable[[Sequence[DataFrame], Path], Made]:
    def made(inputs: Sequence[DataFrame], _: Path) -> Made:
        window = make(inputs[0])
        return window, window.results

    return made


def _tumbling(events: DataFrame) -> WindowBuilder:
    return _window(events, substream="user").tumbling("10s").agg(*numbers())


def _sliding(events: DataFrame) -> WindowBuilder:
    window = _window(events, substream="site").sliding("12s", every="4s")
    return window.late_rule("frame_closed").agg(*lists())


def _panes(events: DataFrame) -> WindowBuilder:
    window = _window(events).sliding("12s", every="4s").allowed_lateness("8s")
    threes = et.WindowTrigger.every_rows(3)
    return window.emit("at_window_end", threes, late_updates=True).agg(*numbers())


def _cumulative(events: DataFrame) -> WindowBuilder:
    return _window(events).cumulate("20s", step="5s").agg(*numbers())


def _calendar(events: DataFrame) -> WindowBuilder:
    lag = WatermarkPolicies.with_fixed_lag("6h")
    window = et.window(events).event_time("ts", lag).key_by("user", "site")
    return window.tumbling("1d").time_zone("Europe/Berlin").agg(*lists())


def _sessions(events: DataFrame) -> WindowBuilder:
    window = _window(events).watermark_scope("key").session("4s", maximum_duration="20s")
    return window.key_idle_timeout("30s", clock="event_time").agg(*lists())


def _late_sessions(events: DataFrame) -> WindowBuilder:
    window = _window(events, substream="user").session("4s").allowed_lateness("2s")
    threes = et.WindowTrigger.every_rows(3)
    return window.emit("at_window_end", threes, late_updates=True).agg(*lists())


def _counts(events: DataFrame) -> WindowBuilder:
    window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
    window = window.key_by("user", "site").by_count(5, every=2)
    return window.key_idle_timeout("30s", clock="event_time").agg(*lists())


def _count_panes(events: DataFrame) -> WindowBuilder:
    window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
    window = window.key_by("user", "site").by_count(5)
    window = window.key_idle_timeout("30s", clock="event_time")
    return window.emit("at_window_end", et.WindowTrigger.every_rows(2)).agg(*lists())


def _under(policy: WatermarkPolicy) -> Callable[[DataFrame], WindowBuilder]:
    def made(events: DataFrame) -> WindowBuilder:
        window = et.window(events).event_time("ts", policy, substream="user")
        return window.key_by("user", "site").tumbling("10s").agg(*numbers())

    return made


def _of_keys(scope: str) -> Callable[[DataFrame], WindowBuilder]:
    def made(events: DataFrame) -> WindowBuilder:
        window = et.window(events).event_time("ts", WatermarkPolicies.max_event_time())
        window = window.key_by("user", "site").watermark_scope(scope)
        window = window.sliding("12s", every="4s").delay("3s")
        window = window.key_idle_timeout("30s", clock="event_time")
        return window.emit("at_window_end", et.WindowTrigger.every_rows(5)).agg(*lists())

    return made


def _storm(events: DataFrame) -> WindowBuilder:
    bolt = StormWindow().with_window("12s", et.storm.Count(3)).with_timestamp_field("ts")
    return bolt.group_by("user", "site").over(events).agg(*lists()).event_time("ts", LAG)


def _handler(inputs: Sequence[DataFrame], folder: Path) -> Made:
    def keep(late: DataFrame, of: et.LateContext) -> None:
        ids = sorted(row["id"] for row in late.select("id").collect())
        part = folder / f"handled-{of.batch_id}.part"
        part.write_text(json.dumps(ids), encoding="utf-8")
        part.replace(folder / f"handled-{of.batch_id}.json")

    window = _tumbling(inputs[0]).on_late(keep)
    return window, window.results


def _late_to(inputs: Sequence[DataFrame], folder: Path) -> Made:
    window = _sliding(inputs[0]).late_to(f"chaos://{folder.name}{folder}/elsewhere")
    return window, window.results


def _two_windows(inputs: Sequence[DataFrame], _: Path) -> Made:
    first = _window(inputs[0]).tumbling("10s").agg(*lists())
    second = et.window(inputs[1]).event_time("ts", LAG).key_by("user", "site")
    second = second.sliding("8s", every="4s").agg(*lists())
    return first, first.results.union(second.results)


def _two_inputs(inputs: Sequence[DataFrame], _: Path) -> Made:
    timed = [et.with_watermark(events, "ts", LAG, substream="user") for events in inputs]
    window = et.window(timed[0].union(timed[1])).event_time("ts").key_by("user", "site")
    window = window.tumbling("10s").agg(*lists())
    return window, window.results


def _of_spark(inputs: Sequence[DataFrame], _: Path) -> Made:
    timed = et.with_watermark(inputs[0], "ts", LAG, substream="user")
    window = F.window("ts", "12 seconds", "4 seconds")
    return None, timed.groupBy(window, "user", "site").agg(*numbers())


def _stock_tumbling(inputs: Sequence[DataFrame], _: Path) -> Made:
    timed = inputs[0].withWatermark("ts", "3 seconds")
    return None, timed.groupBy(F.window("ts", "10 seconds"), "user", "site").agg(*numbers())


def _stock_sliding(inputs: Sequence[DataFrame], _: Path) -> Made:
    timed = inputs[0].withWatermark("ts", "3 seconds")
    window = F.window("ts", "12 seconds", "4 seconds")
    return None, timed.groupBy(window, "user", "site").agg(*lists())


KINDS: dict[str, Kind] = {
    "tumbling": Kind(_of(_tumbling)),
    "sliding": Kind(_of(_sliding), changelog=False),
    "panes": Kind(_of(_panes)),
    "cumulative": Kind(_of(_cumulative), changelog=False),
    "calendar": Kind(_of(_calendar), stretch=3600),
    "sessions": Kind(_of(_sessions)),
    "counts": Kind(_of(_counts), changelog=False, has_late=False),
    "late sessions": Kind(_of(_late_sessions), changelog=False),
    "count panes": Kind(_of(_count_panes), has_late=False),
    "scala policy": Kind(_of(_under(OF_A_JAR))),
    "python policy": Kind(_of(_under(Trimmed(timedelta(seconds=3))))),
    "late target": Kind(_of(_under(WatermarkPolicies.with_late_target("5%", max_lag="10s")))),
    "time of keys": Kind(_of(_of_keys("key"))),
    "time of groups": Kind(_of(_of_keys("site")), changelog=False),
    "storm": Kind(_of(_storm), skips=True),
    "folds": Kind(_of(_tumbling), batches=24, rows=8, retain=2),
    "drains": Kind(_of(_panes), drains=True),
    "history": Kind(_of(_sliding), history=4),
    "handler": Kind(_handler, handles=True),
    "late_to": Kind(_late_to),
    "followed": Kind(_of(_sliding), follows=True),
    "two windows": Kind(_two_windows, inputs=2, changelog=False),
    "two inputs": Kind(_two_inputs, inputs=2),
    "spark": Kind(_of_spark, logs=False),
    "stock tumbling": Kind(_stock_tumbling, logs=False, stock=True),
    "stock sliding": Kind(_stock_sliding, changelog=False, logs=False, stock=True),
}

OURS = [name for name, kind in KINDS.items() if not kind.stock]
COMPARED = "tumbling", "stock tumbling", "sliding", "stock sliding"
"""Each with its twin of stock Spark, in turn: how long they take after a kill."""


def alone(names: list[str]) -> list[str]:
    """Return those that need neither a history nor a query beside them."""
    return [name for name in names if not KINDS[name].history and not KINDS[name].follows]
