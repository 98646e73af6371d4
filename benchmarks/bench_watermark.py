"""Rows per second under et.with_watermark, beside the same query under Spark's withWatermark."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import eventtide as et
from eventtide import WatermarkPolicies
from figures import Figure, Settings
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from turns import Measured, cpu_settings, rates, session, take_turn, warm_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

    Query = Callable[[DataFrame], DataFrame]

ROWS = 2_000_000  # in a batch
KEYS = 1000
LAG = "2 seconds"
CURVE_ROWS = 1_000_000  # the default

WORKLOAD = "numbers in columns, event time 500 rows for each ms with jitter 2 s, sink noop"


@dataclass(frozen=True)
class Plan:
    """A query, and by which columns its substreams are told apart; none is one substream."""

    name: str
    query: Query
    substreams: tuple[str | None, ...]


def _counts(key: str) -> Query:
    return lambda events: events.groupBy(F.window("ts", "10 seconds"), key).count()


PLANS = (
    Plan("no operator after the watermark", lambda events: events, (None, "key", "name")),
    Plan("count by window of 10 s and int key", _counts("key"), (None, "key")),
    Plan("count by window of 10 s and string key", _counts("name"), ("name",)),
)

SAID = {None: "1", "key": "1000 by an int column", "name": "1000 by a string column"}


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every query under every watermark."""
    turns, batches = (1, 3) if quick else (6, 6)
    with session() as spark:
        small = _events(spark, 2_000)
        warm_up(small.withWatermark("ts", LAG), _watermarked(small, "key"))
        for plan in PLANS:
            yield from _compare(spark, plan, turns, batches)
        for substream in (None, "key"):
            yield _curve(spark, substream, turns * 2, batches)


def _compare(spark: SparkSession, plan: Plan, turns: int, batches: int) -> list[Figure]:
    stock = Measured()
    ours = {substream: Measured() for substream in plan.substreams}
    for turn in range(turns + 1):
        print(f"Spark: {plan.name}, turn {turn} of {turns}", flush=True)
        wanted = 0 if turn == 0 else batches  # the first turn warms up
        take_turn(plan.query(_events(spark).withWatermark("ts", LAG)), wanted, stock)
        for substream, measured in ours.items():
            take_turn(plan.query(_watermarked(_events(spark), substream)), wanted, measured)
    return [
        _figure(plan.name, SAID[substream], measured, stock, turns)
        for substream, measured in ours.items()
    ]


def _curve(spark: SparkSession, substream: str | None, turns: int, batches: int) -> Figure:
    """Measure what the lag curve costs: many rows are out of order.

    That is less than what a machine varies by, so there are more turns, and the two begin in turn.
    """
    ours, without = Measured(), Measured()
    both = [(CURVE_ROWS, ours), (0, without)]
    for turn in range(turns + 1):
        print(f"Spark: lag curve, turn {turn} of {turns}", flush=True)
        wanted = 0 if turn == 0 else batches
        for rows, measured in both:
            spark.conf.set("spark.eventtide.lagCurve.rows", rows)
            take_turn(_watermarked(_events(spark), substream), wanted, measured)
        both.reverse()
    spark.conf.unset("spark.eventtide.lagCurve.rows")
    name = "no operator after the watermark"
    return _figure(
        name, SAID[substream], ours, without, turns, baseline="ours, without a lag curve"
    )


def _figure(  # noqa: PLR0913 - what a figure has
    name: str,
    variant: str,
    ours: Measured,
    stock: Measured,
    turns: int,
    *,
    baseline: str = "withWatermark",
) -> Figure:
    settings: Settings = {
        "query": name,
        "substreams": variant,
        "policy": f"with_fixed_lag, {LAG}",
        "rows_per_batch": ROWS,
        "batches": f"{len(ours.rates)} in {turns} turns",
        **cpu_settings(ours, stock),
        "source": WORKLOAD,
    }
    rates = (statistics.median(ours.rates), statistics.median(stock.rates))
    return Figure(
        "watermark", settings, "rows/s", rates[0], baseline, rates[1], less_is_better=False
    )


def _events(spark: SparkSession, rows: int = ROWS) -> DataFrame:
    numbers = rates(spark, rows)
    jitter = "(value * 2654435761L % 2000L + 2000L) % 2000L"
    return numbers.selectExpr(
        f"timestamp_millis(1600000000000L + value div 500L - {jitter}) AS ts",
        f"CAST(value % {KEYS}L AS int) AS key",
        f"concat('sensor-', value % {KEYS}L) AS name",
    )


def _watermarked(events: DataFrame, substream: str | None) -> DataFrame:
    policy = WatermarkPolicies.with_fixed_lag("2s")
    return et.with_watermark(events, "ts", policy, substream=substream)
