"""A window's query does what the kernel does, step by step, whatever kind of window it is."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import KernelScript
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings
from tests.thorough import sampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame, SparkSession

ROWS = "ts timestamp, key string, site string, n int"
LAG = WatermarkPolicies.with_fixed_lag("3s")
MIN, MAX = WatermarkPolicies.min_event_time(), WatermarkPolicies.max_event_time()
REAL_TIME = WatermarkPolicies.limiting_real_time_lag("2s")
BY_CLOCKS = WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("8s", "3s")


def slid(window: et.WindowBuilder) -> et.WindowBuilder:
    """Return windows that overlap, wait for a delay, and are given by silence too."""
    slides = window.sliding("10s", every="5s").delay("3s")
    return slides.key_idle_timeout("7s").heartbeat("100ms")


def gap() -> Column:
    """Return a gap of each row; of some it is null or zero."""
    seconds = F.when(F.col("n") % 11 != 7, F.col("n") % 8)
    return F.concat(seconds.cast("string"), F.lit(" seconds"))


KINDS: dict[str, Callable[[et.WindowBuilder], et.WindowBuilder]] = {
    "no keys, min": lambda w: w.event_time("ts", MIN).watermark_scope("key").tumbling("10s"),
    "no keys, max, delay, idle": lambda w: slid(w.event_time("ts", MAX).watermark_scope("key")),
    "min of all keys": lambda w: w.event_time("ts", MIN).profile("voltsp").tumbling("10s"),
    "max of all keys, delay, idle": lambda w: slid(w.event_time("ts", MAX).profile("voltsp")),
    "min by key": lambda w: w.event_time("ts", MIN).watermark_scope("key").tumbling("10s"),
    "max by key, row by row": lambda w: (
        w.event_time("ts", MAX).watermark_scope("key").max_rows_per_batch(1).tumbling("10s")
    ),
    "max by key, delay": lambda w: (
        w.event_time("ts", MAX).watermark_scope("key").sliding("10s", every="5s").delay("3s")
    ),
    "lag by key, idle": lambda w: (
        w.event_time("ts", WatermarkPolicies.with_fixed_lag("4s"))
        .watermark_scope("key")
        .tumbling("10s")
        .key_idle_timeout("7s")
        .heartbeat("100ms")
    ),
    "lull by key": lambda w: (
        w.event_time("ts", WatermarkPolicies.limiting_lag_and_lull("2s", "5s"))
        .watermark_scope("key")
        .tumbling("10s")
        .heartbeat("100ms")
    ),
    "lag and delay by key": lambda w: (
        w.event_time("ts", WatermarkPolicies.limiting_lag_and_delay("9s", "4s"))
        .watermark_scope("key")
        .tumbling("10s")
        .heartbeat("100ms")
    ),
    "the lower of two by key": lambda w: (
        w.event_time("ts", WatermarkPolicies.min_of(REAL_TIME, MAX))
        .watermark_scope("key")
        .tumbling("5s")
        .heartbeat("100ms")
    ),
    "the higher of two by key": lambda w: (
        w.event_time("ts", WatermarkPolicies.max_of(BY_CLOCKS, MIN))
        .watermark_scope("key")
        .tumbling("10s")
        .heartbeat("100ms")
    ),
    "sessions by key": lambda w: (
        w.event_time("ts", MAX)
        .watermark_scope("key")
        .session("4s", maximum_duration="12s")
        .key_idle_timeout("9s")
        .heartbeat("100ms")
    ),
    "sessions, one watermark": lambda w: w.event_time(
        "ts", WatermarkPolicies.with_fixed_lag("3s")
    ).session("4s"),
    "sessions that touch": lambda w: w.event_time(
        "ts", WatermarkPolicies.with_fixed_lag("3s")
    ).session("4s", touching="merge"),
    "sessions by gaps of rows": lambda w: w.event_time("ts", LAG).session(gap()),
    "sessions by gaps of rows, by site": lambda w: (
        w.event_time("ts", LAG)
        .watermark_scope("site")
        .session(gap(), maximum_duration="12s")
        .key_idle_timeout("9s")
        .heartbeat("100ms")
    ),
    "counts": lambda w: w.event_time("ts", MAX).by_count(5, every=2),
    "counts, triggers": lambda w: (
        w.event_time("ts", MAX)
        .by_count(5, every=2)
        .key_idle_timeout("9s")
        .heartbeat("100ms")
        .emit("on_update", et.WindowTrigger.every("6s"), et.WindowTrigger.every_rows(3))
    ),
    "counts, idle": lambda w: (
        w.event_time("ts", MAX).by_count(5, every=2).key_idle_timeout("6s").heartbeat("100ms")
    ),
    "triggers": lambda w: (
        w.event_time("ts", MAX)
        .watermark_scope("key")
        .tumbling("10s")
        .emit(
            "at_window_end",
            "on_update",
            et.WindowTrigger.every("6s"),
            et.WindowTrigger.every_rows(3),
        )
    ),
    "max by group": lambda w: w.event_time("ts", MAX).watermark_scope("site").tumbling("10s"),
    "min by group, delay": lambda w: (
        w.event_time("ts", MIN).watermark_scope(["site"]).sliding("10s", every="5s").delay("3s")
    ),
    "lull by group, idle": lambda w: (
        w.event_time("ts", WatermarkPolicies.limiting_lag_and_lull("2s", "5s"))
        .watermark_scope("site")
        .tumbling("10s")
        .key_idle_timeout("9s")
        .heartbeat("100ms")
    ),
    "sessions by group": lambda w: (
        w.event_time("ts", MAX)
        .watermark_scope(["site"])
        .session("4s", maximum_duration="12s")
        .key_idle_timeout("9s", clock="event_time")
        .key_ttl("20s")
    ),
    "triggers by group": lambda w: (
        w.event_time("ts", MAX)
        .watermark_scope(["site"])
        .tumbling("10s")
        .emit("at_window_end", "on_update", et.WindowTrigger.every("6s"))
    ),
    "processing time": lambda w: w.processing_time().tumbling("10s"),
    "updates": lambda w: updated(w.event_time("ts", LAG).sliding("10s", every="5s")),
    "updates, discarding, early": lambda w: updated(
        w.event_time("ts", LAG).tumbling("10s"),
        et.WindowTrigger.every("3s"),
        et.WindowTrigger.every_rows(4),
        discarding=True,
    ),
    "updates by key": lambda w: updated(
        w.event_time("ts", MAX).watermark_scope("key").sliding("10s", every="5s")
    ),
    "updates by key, discarding, idle": lambda w: (
        updated(w.event_time("ts", MAX).watermark_scope("key").tumbling("10s"), discarding=True)
        .key_idle_timeout("7s")
        .heartbeat("100ms")
    ),
    "updates by key, triggers": lambda w: updated(
        w.event_time("ts", MAX).watermark_scope("key").tumbling("10s"),
        et.WindowTrigger.every("6s"),
        et.WindowTrigger.every_rows(3),
        discarding=True,
    ),
    "updates by group": lambda w: updated(
        w.event_time("ts", MAX).watermark_scope(["site"]).tumbling("10s"),
        et.WindowTrigger.every_rows(3),
    ),
    "updates of sessions": lambda w: updated(w.event_time("ts", LAG).session("4s")),
    "updates of sessions, discarding": lambda w: updated(
        w.event_time("ts", LAG).session("4s"), et.WindowTrigger.every_rows(2), discarding=True
    ),
    "updates of sessions by gaps of rows, discarding": lambda w: updated(
        w.event_time("ts", LAG).session(gap(), touching="merge"),
        et.WindowTrigger.every_rows(2),
        discarding=True,
    ),
    "updates of sessions by key, idle": lambda w: (
        updated(
            w.event_time("ts", MAX).watermark_scope("key").session("4s"),
            et.WindowTrigger.every("3s"),
        )
        .key_idle_timeout("9s")
        .heartbeat("100ms")
    ),
    "counts, discarding": lambda w: (
        w.event_time("ts", MAX)
        .by_count(5, every=2)
        .emit("at_window_end", et.WindowTrigger.every_rows(1), discarding=True)
    ),
}


def updated(
    window: et.WindowBuilder, *triggers: et.WindowTrigger, discarding: bool = False
) -> et.WindowBuilder:
    """Accept rows for some time after the end, and emit their windows again."""
    window = window.allowed_lateness("8s")
    return window.emit("at_window_end", *triggers, discarding=discarding, late_updates=True)


BY_CLOCK = {"the lower of two by key", "the higher of two by key"}
"""Those whose rows have the times of the clock; those of the others are a minute ahead."""

ARRIVAL = {
    "counts",
    "counts, idle",
    "counts, triggers",
    "counts, discarding",
    "max by key, row by row",
}
"""Those that go by the order of arrival, which partitions change."""


def by_row() -> tuple[Column, ...]:
    """Return aggregates that every row comes to."""
    return F.count("*").alias("rows"), F.sort_array(F.collect_list("n")).alias("all")


def by_frame() -> tuple[Column, ...]:
    """Return others, for which rows are aggregated before that are surely on time."""
    return F.count("*").alias("rows"), F.sum("n").alias("sum"), F.bit_xor("n").alias("xor")


COMES_BY_ROW = ("sessions", "counts", "processing", "row by row")

FRAMED = [name for name in KINDS if not any(part in name for part in COMES_BY_ROW)]
CASES = [*((name, by_row) for name in KINDS), *((name, by_frame) for name in FRAMED)]
QUICK = CASES[::3]


@pytest.mark.parametrize(
    ("name", "aggregates"),
    sampled(CASES, QUICK, lambda case: case[0] + (", by frame" if case[1] is by_frame else "")),
)
def test_the_query_does_what_the_kernel_does(
    spark: SparkSession, name: str, aggregates: Callable[[], tuple[Column, ...]]
) -> None:
    """With rows in any order, several keys, null times, a clock without rows, and a restart."""
    chance = random.Random(name)  # noqa: S311 - no secret

    def window(events: DataFrame) -> et.WindowBuilder:
        made = KINDS[name](et.window(events)).agg(*aggregates())
        return made if name.startswith("no keys") else made.key_by("key", "site")

    with settings(spark, WITHOUT_CODE), KernelScript(window, ROWS) as script:
        top = 10 if name in BY_CLOCK else 60
        partitions = 1 if name in ARRIVAL else 2
        for step in range(6):
            if step == 3:
                script.restart(clock=chance.choice([None, "+4s"]))
            if chance.random() < 0.4:
                script.clock(f"+{chance.randint(1, 9)}s")
            else:
                top += chance.randint(0, 9)
                rows = [
                    (when(chance, top), chance.choice("abc"), chance.choice("xxy"), step * 100 + n)
                    for n in range(6)
                ]
                script.rows(rows, partitions=partitions)


def when(chance: random.Random, top: int) -> str | None:
    """Return a time near the highest so far; now and then there is none."""
    if chance.random() < 0.05:
        return None
    return at(max(0, top - chance.randint(0, 15)))


def test_a_difference_is_told(spark: SparkSession) -> None:
    """What only one of the two has."""
    calls: list[DataFrame] = []

    def window(events: DataFrame) -> et.WindowBuilder:
        calls.append(events)
        wrong = 0 if len(calls) == 1 else 1
        total = (F.count("*") + wrong).alias("rows")
        return et.window(events).event_time("ts", MAX).tumbling("10s").agg(total)

    with (
        KernelScript(window, ROWS, session=spark) as script,
        pytest.raises(AssertionError, match=r"missing: .*rows=2\nunexpected: .*rows=1"),
    ):
        script.rows([(at(1), "a", "x", 1), (at(12), "a", "x", 1)])
