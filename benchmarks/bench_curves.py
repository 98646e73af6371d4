"""Milliseconds of a micro-batch as one thing grows: rows, keys, frames, state or substreams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import bench_windows
import eventtide as et
from bench_windows import STOCK, WORKLOAD, Case
from eventtide import WatermarkPolicies
from turns import Measured, cpu_settings, millis_figure, rates, session, state_settings, take_turn
from workload import Windows, even, events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Figure, Settings
    from pyspark.sql import DataFrame, SparkSession

BATCHES = 5

# With more, a batch takes stock Spark minutes.
STOCK_KEYS, STOCK_FRAMES = 100_000, 60


@dataclass(frozen=True)
class Run:
    """A query, and after how many batches it is in its stride."""

    query: Callable[[SparkSession], DataFrame]
    skipped: int


@dataclass(frozen=True)
class Point:
    """One size of what grows; without a baseline where that would take too long."""

    size: int
    ours: Run
    theirs: Run | None = None


@dataclass(frozen=True)
class Curve:
    """What grows, while all that is `fixed` stays as it is."""

    grows: str
    fixed: str
    points: tuple[Point, ...]
    baseline: str = STOCK


def beside_stock(size: int, case: Case) -> Point:
    """Return a point with both sides, which have as many batches to be compiled."""
    stock = Run(partial(case.query, results=case.windows.stock), case.ours_skipped)
    return replace(ours_only(size, case), theirs=stock)


def ours_only(size: int, case: Case) -> Point:
    """Return a point where stock Spark would take minutes for a batch."""
    return Point(size, Run(partial(case.query, results=case.windows.ours), case.ours_skipped))


def rows(size: int) -> Point:
    """Return batches of a second of event time, however many rows they have."""
    return beside_stock(size, Case(size, 1_000, Windows(10, 1), rate=size))


def keys(size: int) -> Point:
    """Return as many rows for more keys."""
    point = beside_stock if size <= STOCK_KEYS else ours_only
    return point(size, Case(500_000, size, Windows(10, 1)))


def frames(size: int) -> Point:
    """Return batches of a minute of event time: the longest window is full after an hour."""
    point = beside_stock if size <= STOCK_FRAMES else ours_only
    return point(size, Case(600_000, 1_000, Windows(size, 1), rate=10_000))


TOUCHED = 10_000  # keys that have rows in a batch

HOUR = Windows(3600, 3600)


def state(size: int) -> Point:
    """Return batches with the same keys, after all have had a row; no window closes."""
    rows = 500_000
    key = f"if(value < {size}L, value, {even(TOUCHED)})"

    def query(spark: SparkSession, results: Callable[[DataFrame], DataFrame]) -> DataFrame:
        return results(events(rates(spark, rows), key, rows))

    skipped = -(-size // rows) + 3
    ours, stock = (partial(query, results=side) for side in (HOUR.ours, HOUR.stock))
    return Point(size, Run(ours, skipped), Run(stock, skipped))


def substreams(size: int) -> Point:
    """Return as many rows in more substreams, each with a watermark of its own."""
    rows, skipped = 500_000, 4

    def query(spark: SparkSession, substream: str | None) -> DataFrame:
        policy = WatermarkPolicies.with_fixed_lag("2s")
        timed = events(rates(spark, rows), even(size), rows)
        return et.with_watermark(timed, "ts", policy, substream=substream)

    ours, one = (partial(query, substream=column) for column in ("key", None))
    return Point(size, Run(ours, skipped), Run(one, skipped))


def curves(*, quick: bool) -> Iterator[Curve]:
    """Return all curves, or their beginnings."""

    def points(make: Callable[[int], Point], *sizes: int) -> tuple[Point, ...]:
        return tuple(make(size) for size in (sizes[:2] if quick else sizes))

    yield Curve(
        "rows in a batch",
        "1 000 keys, 10 s / 1 s, lag 2 s, 1 s of event time in a batch",
        points(rows, 100_000, 500_000, 1_000_000, 5_000_000, 20_000_000),
    )
    yield Curve(
        "keys",
        "500 000 rows in a batch, 10 s / 1 s, lag 2 s, 1 s of event time in a batch",
        points(keys, 100, 1_000, 10_000, 100_000, 1_000_000),
    )
    yield Curve(
        "frames in a window",
        "600 000 rows in a batch, 1 000 keys, slide 1 s, lag 2 s, 60 s of event time in a batch",
        points(frames, 1, 10, 60, 600, 3_600),
    )
    yield Curve(
        "keys with state",
        "500 000 rows in a batch, of 10 000 keys, tumbling 1 h, lag 2 s, none closes",
        points(state, 10_000, 100_000, 1_000_000, 10_000_000),
    )
    yield Curve(
        "substreams",
        "500 000 rows in a batch, et.with_watermark, lag 2 s, no operator after it",
        points(substreams, 100, 1_000, 10_000, 100_000),
        baseline="1 substream",
    )


def run(*, quick: bool) -> Iterator[Figure]:
    """Measure every point once, both sides one after the other."""
    with session() as spark:
        bench_windows.warm(spark)
        for curve in curves(quick=quick):
            yield from _along(spark, curve)


def _along(spark: SparkSession, curve: Curve) -> Iterator[Figure]:
    """Measure the points of a curve; one that has no baseline stands beside the one before."""
    before, baseline_before = Measured(), ""
    for point in curve.points:
        print(f"curves: {curve.grows}, {point.size:,}", flush=True)
        theirs, baseline = before, baseline_before
        if point.theirs is not None:
            theirs, baseline = _take(spark, point.theirs), curve.baseline
        ours = _take(spark, point.ours)
        yield _figure(curve, point, baseline, ours, theirs)
        before, baseline_before = ours, f"ours, {point.size:,} {curve.grows}"


def _take(spark: SparkSession, run: Run) -> Measured:
    measured = Measured()
    take_turn(run.query(spark), BATCHES, measured, run.skipped)
    return measured


def _figure(curve: Curve, point: Point, baseline: str, ours: Measured, theirs: Measured) -> Figure:
    settings: Settings = {
        curve.grows: f"{point.size:,}",
        **state_settings(ours, theirs),
        **cpu_settings(ours, theirs),
        "batches": f"{BATCHES} after {point.ours.skipped}",
        "fixed": curve.fixed,
        "source": WORKLOAD,
    }
    return millis_figure("curves", settings, baseline, ours, theirs)
