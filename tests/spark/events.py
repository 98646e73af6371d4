"""Random streams of events for windows, and aggregates whose results do not depend on order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.queries import at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

Event: TypeAlias = tuple[Any, ...]
Batches: TypeAlias = list[list[Event]]

SCHEMA = (
    "id long, ts timestamp, user string, site int, fee decimal(9,2), ok boolean, amount int,"
    " score double"
)


@dataclass(frozen=True)
class Disorder:
    """What a stream is like; times in seconds.

    Attributes
    ----------
    seed : int
        Of the random numbers.
    late_by : float
        How far a row may be behind the time that the stream has come to.
    nulls : float
        The share of nulls among times, keys and values.
    gap : float
        The longest step from one row to the next.
    """

    seed: int
    late_by: float
    nulls: float = 0.1
    gap: float = 2.0

    def events(self, rows: int) -> list[Event]:
        """Return so many rows, with ids from 0 on."""
        random = Random(self.seed)  # noqa: S311 - test data
        now = 5.0
        events = []
        for number in range(rows):
            now += random.uniform(0, self.gap)
            time = max(0.0, now - random.random() ** 2 * self.late_by)
            values = at(round(time, random.choice([0, 3, 6]))), *_values(random)
            events.append((number, *(self._or_null(random, value) for value in values)))
        return events

    def _or_null(self, random: Random, value: object) -> object:
        return None if random.random() < self.nulls else value


def _values(random: Random) -> Event:
    return (
        random.choice(["a", "b", "B", ""]),
        random.randrange(2),
        Decimal(random.randrange(3)) / 4,
        random.random() < 0.5,
        random.randrange(-9, 99),
        random.randrange(-8, 8) / 4,  # sums of quarters are exact in any order
    )


def cut(events: Sequence[Event], seed: int, batches: int) -> Batches:
    """Cut events into so many batches of random length; some may be empty."""
    random = Random(seed)  # noqa: S311 - test data
    cuts = sorted(random.randrange(len(events) + 1) for _ in range(batches - 1))
    return [list(events[a:b]) for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True)]


def exact() -> list[Column]:
    """Return aggregates that can take back what leaves a window."""
    return [
        F.count("*").alias("n"),
        F.count("user").alias("users"),
        F.sum("amount").alias("total"),
        F.sum("fee").alias("fees"),
        F.avg("fee").alias("mean_fee"),
        F.expr("sum(amount) filter (where ok)").alias("approved"),
    ]


def merged() -> list[Column]:
    """Return aggregates of each other kind: with fixed buffers, imperative, and of objects."""
    return [
        F.sort_array(F.collect_list("id")).alias("ids"),
        F.min("ts").alias("first"),
        F.max("user").alias("last"),
        F.avg("amount").alias("mean"),
        F.sum("score").alias("score"),
        F.bool_or("ok").alias("any_ok"),
        F.bit_xor("amount").alias("bits"),
        F.max_by("site", "id").alias("site_of_last"),
        F.approx_count_distinct("amount", 0.05).alias("distinct"),
        F.percentile_approx("amount", 0.5).alias("median"),
        F.percentile("amount", 0.25).alias("quarter"),
        F.sort_array(F.collect_set("user")).alias("names"),
        (F.max("amount") - F.min("amount") + 1).alias("range"),
    ]
