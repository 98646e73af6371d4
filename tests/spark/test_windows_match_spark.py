"""Random streams: the windows are Spark's own, row for row, and those of a batch; books balance."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide._text.schemas import row_type
from eventtide.testing import Script
from eventtide.testing._values import storable
from hypothesis import Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import SCHEMA, Disorder, cut, exact, merged
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings
from tests.thorough import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import Column, Row

    from tests.spark.events import Batches, Event

PARTITIONS = "spark.sql.shuffle.partitions"
LAST: Event = (-1, at(3000), *[None] * 6)  # closes every window but its own


@dataclass(frozen=True)
class Kind:
    """A window, as ours and as Spark's; lengths in seconds."""

    keys: tuple[str, ...]
    values: Callable[[], list[Column]]
    frames: int = 1
    slide: int = 10
    offset: int = 0
    lag: int = 5
    profile: str = "spark"

    def ours(self, events: DataFrame) -> et.WindowBuilder:
        """Return the window of eventtide."""
        window = (
            et.window(events)
            .event_time("ts", WatermarkPolicies.with_fixed_lag(f"{self.lag}s"))
            .sliding(f"{self.frames * self.slide}s", every=f"{self.slide}s")
            .offset(f"{self.offset % self.slide}s")
            .profile(self.profile)  # type: ignore[arg-type]
            .agg(*self.values())
        )
        return window.key_by(*self.keys) if self.keys else window

    def sparks(self, events: DataFrame) -> DataFrame:
        """Return the results of Spark."""
        lengths = self.frames * self.slide, self.slide, self.offset % self.slide
        window = F.window("ts", *(f"{length} seconds" for length in lengths))
        return events.groupBy(window, *self.keys).agg(*self.values())


@dataclass(frozen=True)
class Sessions:
    """Sessions, as ours and as Spark's; lengths in seconds.

    Where the gap varies, each row has one of its own: up to six times as long, or none.
    """

    keys: tuple[str, ...]
    values: Callable[[], list[Column]]
    gap: int
    lag: int
    varies: bool = False

    def ours(self, events: DataFrame) -> et.WindowBuilder:
        """Return the window of eventtide."""
        return (
            et.window(events)
            .event_time("ts", WatermarkPolicies.with_fixed_lag(f"{self.lag}s"))
            .key_by(*self.keys)
            .session(self.of_row() if self.varies else f"{self.gap}s")
            .profile("spark")
            .agg(*self.values())
        )

    def sparks(self, events: DataFrame) -> DataFrame:
        """Return the results of Spark."""
        gap = self.of_row() if self.varies else f"{self.gap} seconds"
        window = F.session_window("ts", gap).alias("window")
        return events.groupBy(window, *self.keys).agg(*self.values())

    def of_row(self) -> Column:
        """Return the gap of each row; of some it is null, zero or below."""
        times = F.when(F.col("id") % 9 != 4, F.col("id") % 7 - 1)
        length = F.when(F.col("id") < 0, self.gap).otherwise(times * self.gap)
        return F.concat(length.cast("string"), F.lit(" seconds"))


def together(results: Iterable[DataFrame]) -> DataFrame:
    """Return the rows of several windows as one: kind, window, and the other columns as text."""
    told = []
    for kind, frame in enumerate(results):
        others = F.struct(*(column for column in frame.columns if column != "window"))
        text = F.to_json(others, {"ignoreNullFields": "false"}).alias("row")
        told.append(frame.select(F.lit(kind).alias("kind"), "window.start", "window.end", text))
    return reduce(DataFrame.union, told)


def late_ids(script: Script, window: int) -> list[int]:
    """Return the ids of the late rows of a window, in order."""
    late = et.read_late(script.checkpoint, window=window)
    return sorted(row["id"] for row in late.select("id").collect())


def ids_in(results: Iterable[Row], kind: int) -> set[int]:
    """Return the ids that are in windows of a kind that collects them."""
    texts = [json.loads(row["row"]) for row in results if row["kind"] == kind]
    return {number for values in texts for number in values["ids"]}


def books_balance(
    script: Script, kinds: Iterable[Kind | Sessions], results: Iterable[Row], rows: int
) -> None:
    """Assert that each row but the last is in a window or is late, for each kind of window."""
    late = {number: late_ids(script, number) for number, _ in enumerate(kinds)}
    for number, kind in enumerate(kinds):
        if kind.values is merged:
            inside = ids_in(results, number)
            assert sorted([*inside, *late[number]]) == list(range(rows)), number
    assert sum(et.progress(script.streaming_query).late.values()) == sum(map(len, late.values()))


def kinds(lag: int) -> st.SearchStrategy[tuple[Kind, ...]]:
    """Draw windows of one lag, by keys of different types and by none."""
    shapes = {
        "frames": st.sampled_from([5, 1, 2]),
        "slide": st.sampled_from([4, 1, 3, 10]),
        "offset": st.sampled_from([1, 0, 2, 9]),
        "lag": st.just(lag),
    }
    by = {("user", "site"): merged, ("fee", "ok"): exact, (): merged}
    return st.tuples(
        *(st.builds(Kind, st.just(keys), st.just(values), **shapes) for keys, values in by.items())
    )


# Hypothesis begins with the first of each choice, which therefore is an interesting one.
STREAMS = st.builds(
    Disorder,
    seed=st.integers(0, 10**9),
    late_by=st.sampled_from([40, 0, 8, 100]),
    nulls=st.sampled_from([0.1, 0, 0.3]),
    gap=st.sampled_from([2.0, 0.2]),
)


@hypothesis_settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    stream=STREAMS,
    kinds=st.sampled_from([3, 0, 20]).flatmap(kinds),
    how=st.sampled_from([{PARTITIONS: 7}, {PARTITIONS: 1, **WITHOUT_CODE}]),
)
def test_the_profile_spark_is_spark(
    spark: SparkSession, stream: Disorder, kinds: tuple[Kind, ...], how: dict[str, str | int]
) -> None:
    """After each batch the same rows have come out of both."""
    assert_same(spark, stream, kinds, how)


@hypothesis_settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    stream=STREAMS,
    lengths=st.tuples(st.sampled_from([3, 0, 20]), st.sampled_from([4, 1, 9])),
    varies=st.sampled_from([True, False]),
    how=st.sampled_from([{PARTITIONS: 7}, {PARTITIONS: 1, **WITHOUT_CODE}]),
)
def test_the_sessions_of_the_profile_spark_are_sparks(
    spark: SparkSession,
    stream: Disorder,
    lengths: tuple[int, int],
    varies: bool,
    how: dict[str, str | int],
) -> None:
    """In a stream too, whose late rows may still touch a session that is open."""
    lag, gap = lengths
    by: dict[tuple[str, ...], Callable[[], list[Column]]]
    by = {("user", "site"): merged, ("ok",): exact}
    sessions = tuple(Sessions(keys, values, gap, lag, varies) for keys, values in by.items())
    assert_same(spark, stream, sessions, how)


def assert_same(
    spark: SparkSession,
    stream: Disorder,
    kinds: Sequence[Kind | Sessions],
    how: dict[str, str | int],
) -> None:
    """Let both run in step; each row is in a window or late."""

    def ours(events: DataFrame) -> DataFrame:
        return together(kind.ours(events).results for kind in kinds)

    def sparks(events: DataFrame) -> DataFrame:
        timed = events.withWatermark("ts", f"{kinds[0].lag} seconds")
        return together(kind.sparks(timed) for kind in kinds)

    all_results: list[Row] = []
    with settings(spark, {PARTITIONS: 1, **WITHOUT_CODE}):
        theirs = Script(sparks, SCHEMA)
    with settings(spark, how), theirs, Script(ours, SCHEMA) as script:
        for batch in [*cut(stream.events(100), stream.seed, 4), [LAST]]:
            results = script.rows(batch, partitions=2).results()
            assert Counter(results) == Counter(theirs.rows(batch).results())
            all_results += results
        books_balance(script, kinds, all_results, 100)


@pytest.mark.parametrize("kind", [Sessions, Kind])
def test_a_row_is_as_late_as_in_spark_behind_a_batch_that_closes_nothing(
    spark: SparkSession, kind: type[Kind | Sessions]
) -> None:
    """Spark runs a batch without rows for each step of the watermark."""
    if kind is Sessions:
        window: Kind | Sessions = Sessions(("user",), merged, gap=1, lag=3)
    else:
        window = Kind(("user",), merged, slide=1, lag=3)
    stream = [(0, at(5), "a", *[None] * 5), (1, at(1), "a", *[None] * 5), LAST]
    with (
        settings(spark, WITHOUT_CODE),
        Script(lambda events: window.ours(events).results, SCHEMA) as script,
        Script(
            lambda events: window.sparks(events.withWatermark("ts", "3 seconds")), SCHEMA
        ) as theirs,
    ):
        for row in stream:
            assert script.rows([row]).results() == theirs.rows([row]).results()
        assert late_ids(script, 0) == [1]


# Under these rules a row is in all of its windows or in none.
WHOLE = (
    Kind(("user",), merged, frames=3, slide=4, profile="jet"),
    Kind(("site", "ok"), exact, frames=5, slide=2, offset=1, profile="jet"),
    Kind((), merged, frames=2, slide=5, profile="storm"),
)
AS_SPARKS = WHOLE[:2]  # a window of Storm's holds its end, none of Spark's does


@dataclass(frozen=True)
class Outcome:
    """The results of the windows of `WHOLE`, and the ids of the rows that were late for each."""

    results: Counter[Row]
    late: list[list[int]]


def played(spark: SparkSession, batches: Batches, number: int) -> Outcome:
    """Run a query with `number` partitions; its books balance."""

    def query(events: DataFrame) -> DataFrame:
        return together(kind.ours(events).results for kind in WHOLE)

    with settings(spark, {PARTITIONS: number}), Script(query, SCHEMA) as script:
        results = script.rows(*batches, [LAST], partitions=number).results()
        books_balance(script, WHOLE, results, sum(map(len, batches)))
        return Outcome(Counter(results), [late_ids(script, n) for n, _ in enumerate(WHOLE)])


def batched(spark: SparkSession, events: list[Event], late: list[list[int]]) -> Counter[Row]:
    """Return what the windows have over a batch of the rows that were not late."""
    schema = row_type(SCHEMA)
    rows = spark.createDataFrame([storable(event, schema) for event in events], schema)
    accepted = [rows.where(~F.col("id").isin(ids)) for ids in late]
    ours = together(kind.ours(of).results for kind, of in zip(WHOLE, accepted, strict=True))
    sparks = together(kind.sparks(of) for kind, of in zip(AS_SPARKS, accepted, strict=False))
    results = Counter(ours.collect())
    assert Counter(row for row in results.elements() if row["kind"] < len(AS_SPARKS)) == Counter(
        sparks.collect()
    )
    return results


@pytest.fixture
def _interpreted(spark: SparkSession) -> None:
    """Run queries without generated code, whose compilation is most of what short ones cost."""
    for key, value in WITHOUT_CODE.items():
        spark.conf.set(key, value)


@pytest.mark.usefixtures("_interpreted")
def test_partitions_make_no_difference_and_the_results_are_those_of_a_batch(
    spark: SparkSession,
) -> None:
    """Also to what is late; the batch has the rows that were not."""
    events = Disorder(seed=5, late_by=40, gap=0.5).events(150)
    batches = cut(events, 5, 6)
    one, seven = (played(spark, batches, number) for number in (1, 7))
    assert one == seven
    assert min(map(len, one.late)) > 20
    assert one.results == batched(spark, events, one.late)


@pytest.mark.usefixtures("_interpreted")
def test_cuts_make_no_difference_to_rows_within_the_lag(spark: SparkSession) -> None:
    """A policy by rows moves with each batch, and no row is behind it, however they are cut."""
    events = Disorder(seed=6, late_by=5, nulls=0).events(150)
    whole = played(spark, [events], 2)
    assert whole == played(spark, cut(events, 6, 8), 1)
    assert whole == Outcome(batched(spark, events, [[], [], []]), [[], [], []])
