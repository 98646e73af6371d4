"""Bolts as queries: against plain Python, over several streams, by the clock, and run again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from random import Random
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import CheckpointError, InvalidArgumentError
from eventtide.storm import Count, StormWindow, TupleWindow
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import Disorder, cut
from tests.spark.plain_storm import PlainStorm
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, operators, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

    from tests.spark.plain_storm import Extent, Given

START = datetime(2024, 1, 1, tzinfo=timezone.utc)
ROWS = "id int, user string, ts timestamp"
SHOWN = "user string, end timestamp, ids array<int>, new array<int>, expired array<int>"
Shown = tuple[str, int, tuple[int, ...], frozenset[int], frozenset[int]]

pytestmark = pytest.mark.filterwarnings("ignore:slide=.* is longer than length=")


def at(ms: int) -> datetime:
    """Return a time."""
    return START + timedelta(milliseconds=ms)


def millis(time: datetime) -> int:
    """Return it as a number again."""
    return (time.replace(tzinfo=timezone.utc) - START) // timedelta(milliseconds=1)


def bolt_of(length: Extent, slide: Extent) -> StormWindow:
    """Return a bolt with a lag of three seconds."""
    sizes = (one if isinstance(one, Count) else f"{one}ms" for one in (length, slide))
    return StormWindow().with_window(*sizes).with_timestamp_field("ts").with_lag("3s")


def shown(window: TupleWindow[Any]) -> dict[str, Any]:
    """Tell which rows a window has."""
    sets = {"ids": window.get(), "new": window.get_new(), "expired": window.get_expired()}
    ids = {name: [int(number) for number in rows["id"]] for name, rows in sets.items()}
    return {"user": window.key.get("user"), "end": window.end_timestamp, **ids}


def executed(bolt: StormWindow) -> Callable[[DataFrame], WindowBuilder]:
    """Return a query that tells by a function which rows windows have; few are in memory."""
    small = bolt.with_max_events_in_memory(7).group_by("user")
    return lambda df: small.over(df).execute(shown, SHOWN)


def merged(bolt: StormWindow) -> Callable[[DataFrame], WindowBuilder]:
    """Return a query that tells it by aggregates."""
    ids, total = F.collect_list("id").alias("ids"), F.sum("id").alias("total")
    return lambda df: bolt.over(df).group_by("user").agg(ids, total)


def plain_rows(seed: int, batches: int) -> list[list[tuple[int, str, datetime]]]:
    """Return batches of rows, some of which are out of order."""
    random = Random(seed)  # noqa: S311 - test data
    now, number, made = 0, 0, []
    for _ in range(batches):
        batch = []
        for _ in range(random.randrange(25)):
            now += random.randrange(600)
            number += 1
            ts = max(0, now - int(random.random() ** 3 * 8000))
            batch.append((number, random.choice("abc"), at(ts // 250 * 250)))
        made.append(batch)
    return made


@pytest.mark.parametrize(
    ("length", "slide"),
    [
        (5000, 2000),
        pytest.param(1500, 4000, marks=pytest.mark.thorough),
        (Count(4), 2000),
        pytest.param(5000, Count(3), marks=pytest.mark.thorough),
        (Count(5), Count(2)),
    ],
    ids=str,
)
def test_windows_are_those_of_plain_python(
    spark: SparkSession, length: Extent, slide: Extent
) -> None:
    """By aggregates and by a function, also after a restart; and every row is somewhere."""
    batches = plain_rows(seed=11, batches=6)
    bolt = bolt_of(length, slide)
    for query in merged(bolt), executed(bolt):
        plain = {user: PlainStorm(length, slide) for user in "abc"}
        with settings(spark, WITHOUT_CODE), Script(query, ROWS, clock=at(500)) as script:
            given = 0
            for number, batch in enumerate(batches):
                before = watermark(script)
                on_time = [row for row in batch if before is None or millis(row[2]) >= before]
                if batch:
                    script.rows(batch)
                if number == 3:
                    script.restart()
                script.clock("+1s")
                wanted = expected(plain, on_time, watermark(script))
                results = script.results()
                assert in_results(results, wanted, merged="window" in script.result.columns)
                given += len(results)
            assert given > 10
            report = et.progress(script.streaming_query)
            assert report.on_time + sum(report.late.values()) == sum(map(len, batches))
            late = et.read_late(script.checkpoint).count()
            assert late == sum(report.late.values()) > 3


def watermark(script: Script) -> int | None:
    """Return the watermark, if there is one."""
    told = datetime.fromisoformat(script.watermark)
    return None if told.year < 2000 else millis(told)


def expected(
    plain: dict[str, PlainStorm], rows: list[tuple[int, str, datetime]], watermark: int | None
) -> dict[str, list[Given]]:
    """Return what plain Python gives for a batch."""
    return {
        user: windows.take([(millis(ts), n) for n, of, ts in rows if of == user], watermark)
        for user, windows in plain.items()
    }


def in_results(results: list[Any], wanted: dict[str, list[Given]], *, merged: bool) -> bool:
    """Compare what came out, of each user in its order."""
    for user, windows in wanted.items():
        rows = [row for row in results if row.user == user]
        if merged:
            ended = [(millis(row.window.end), tuple(row.ids)) for row in rows]
            assert sorted(ended) == sorted(window[:2] for window in windows)
            assert all(row.total == sum(row.ids) for row in rows)
        else:
            told = [(millis(row.end), tuple(row.ids), row.new, row.expired) for row in rows]
            sets = [(end, ids, frozenset(new), frozenset(gone)) for end, ids, new, gone in told]
            assert sets == windows
    return True


@pytest.mark.smoke
def test_a_bolt_waits_for_each_of_its_streams(spark: SparkSession) -> None:
    """Their columns are put together by name, and the slowest of them says what is closed."""
    schema = "kind string, id int, user string, placed timestamp, clicked bigint"
    bolt = (
        StormWindow()
        .with_tumbling_window("10s")
        .with_timestamp_field({"orders": "placed", "clicks": "clicked"})
    )

    def query(df: DataFrame) -> WindowBuilder:
        orders = df.where("kind = 'order'").select("id", "user", "placed")
        clicks = df.where("kind = 'click'").select("id", "clicked")
        both = bolt.over({"orders": orders, "clicks": clicks})
        return both.execute(lambda window: window.get()[["_stream", "id", "user"]], OF_BOTH)

    def click(number: int, ms: int) -> tuple[Any, ...]:
        return "click", number, None, None, millis_since_epoch(at(ms))

    with settings(spark, WITHOUT_CODE), Script(query, schema, clock=at(500)) as script:
        script.rows([("order", 1, "ada", at(3000), None), ("order", 2, "bob", at(40000), None)])
        script.clock("+1s").expect([])
        assert et.blame(script.streaming_query).startswith("'clicks' has not been seen")
        script.rows([click(3, 4000)]).clock("+1s").expect([])
        script.rows([click(4, 12000)]).clock("+1s").expect(
            [("orders", 1, "ada"), ("clicks", 3, None)]
        )


OF_BOTH = "_stream string, id int, user string"


def millis_since_epoch(time: datetime) -> int:
    """Return a time as Storm has it."""
    return int(time.timestamp() * 1000)


def test_streams_of_one_frame_are_declared_by_their_values(spark: SparkSession) -> None:
    """As those of Kafka's topics."""
    bolt = StormWindow().with_tumbling_window(Count(2)).with_timestamp_field("ts")

    def query(df: DataFrame) -> WindowBuilder:
        return bolt.over(df, stream="user", declared=["a", "b"]).agg(
            F.collect_list("id").alias("n")
        )

    with settings(spark, WITHOUT_CODE), Script(query, ROWS, clock=at(500)) as script:
        script.rows([(1, "a", at(1000)), (2, "a", at(2000))]).clock("+1s").expect([])
        script.rows([(3, "b", at(1500))]).clock("+1s")
        assert [row.n for row in script.results()] == [[1, 3]]
        script.rows([(4, "b", at(9000)), (5, "a", at(3000))]).clock("+1s")
        assert [row.n for row in script.results()] == [[2, 5]]


@pytest.mark.parametrize(
    ("length", "slide", "steps"),
    [
        ("10s", "5s", [[], [[1, 2, 3]], [[1, 2, 3, 4]]]),
        (Count(3), "5s", [[], [[1, 2, 3]], [[2, 3, 4]]]),
        ("10s", Count(2), [[[1, 2, 3]], [], [[1, 2, 3, 4]]]),
        (Count(3), Count(2), [[[1, 2]], [], [[2, 3, 4]]]),
    ],
)
def test_without_a_timestamp_the_clock_is_the_time(
    spark: SparkSession, length: Any, slide: Any, steps: list[list[list[int]]]
) -> None:
    """Rows have that of the batch that reads them; counted ones are given at once."""
    bolt = StormWindow().with_window(length, slide)
    ids = F.collect_list("id").alias("ids")
    with (
        settings(spark, WITHOUT_CODE),
        Script(lambda df: bolt.over(df).agg(ids), "id int", clock=at(1000)) as script,
    ):
        script.rows([(1,), (2,), (3,)])
        given = [[row.ids for row in script.results()]]
        script.clock(at(5500))
        given.append([row.ids for row in script.results()])
        script.rows([(4,)])
        if isinstance(slide, str):
            script.clock(at(10500))
        given.append([row.ids for row in script.results()])
        assert given == steps


def test_late_rows_are_a_stream_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    """Each once, also when its reader is started again."""
    bolt = bolt_of(5000, 5000).with_late_tuple_stream("late")
    late, place = tmp_path / "late", str(tmp_path / "place")

    def read(query: Any) -> list[int]:
        stream = bolt.stream("late", query).select("id", "_reason").writeStream
        writer = stream.option("checkpointLocation", place).format("parquet")
        writer.trigger(availableNow=True).start(str(late)).awaitTermination()
        rows = spark.read.parquet(str(late)).collect()
        assert {row._reason for row in rows} <= {"behind_watermark", "bad_time"}
        return sorted(row.id for row in rows)

    with settings(spark, WITHOUT_CODE), Script(executed(bolt), ROWS, clock=at(500)) as script:
        script.rows([(1, "a", at(20000))]).clock("+1s")
        script.rows([(2, "a", at(16000)), (3, "a", at(17000)), (4, "a", None)]).clock("+1s")
        assert read(script.streaming_query) == [2, 4]
        script.rows([(5, "a", at(1000))])
        assert read(script.checkpoint) == [2, 4, 5]
        with pytest.raises(InvalidArgumentError, match="stream_id='other' is not declared"):
            bolt.stream("other", script.streaming_query)


def storm_window(bolt: StormWindow) -> Callable[[DataFrame], WindowBuilder]:
    """Return a query whose watermark goes by its rows alone, so that it is the same once more."""
    policy = WatermarkPolicies.with_fixed_lag("3s")

    def query(df: DataFrame) -> WindowBuilder:
        return executed(bolt)(df).event_time("ts", policy)

    return query


@pytest.mark.parametrize(
    "sizes", [pytest.param((12000, 4000), marks=pytest.mark.thorough), (9000, Count(4))], ids=str
)
def test_every_batch_that_is_run_again_gives_what_it_gave(
    spark: SparkSession, tmp_path: Path, sizes: tuple[Extent, Extent]
) -> None:
    """From the last batch to the first, and from each to the end."""
    batches = cut(Disorder(seed=5, late_by=30.0, gap=0.6).events(120), seed=5, batches=4)
    with settings(spark, WITHOUT_CODE):
        run = WindowRun(spark, storm_window(bolt_of(*sizes)), batches)
        run.gives_the_same_again(tmp_path)


def test_a_checkpoint_is_that_of_one_bolt(spark: SparkSession, tmp_path: Path) -> None:
    """Another size, or other rows, is refused by name; another function is not."""
    folder = str(tmp_path)
    bolt = bolt_of(5000, Count(3))
    others = [
        (executed(bolt_of(5000, Count(4))), "slide: 3 rows in the checkpoint, 4 rows"),
        (merged(bolt), "result: rows in the checkpoint, none"),
        (lambda df: executed(bolt)(df.withColumn("more", F.lit(1))), "more INT"),
    ]
    with settings(spark, WITHOUT_CODE):
        with Script(executed(bolt), ROWS, clock=at(500), checkpoint=folder) as script:
            script.rows([(1, "a", at(1000)), (2, "a", at(2000))]).clock("+1s")
        for other, difference in others:
            with pytest.raises(CheckpointError, match=difference):
                Script(other, ROWS, clock=at(1500), checkpoint=folder).close()
        counts = bolt.group_by("user")

        def count(df: DataFrame) -> WindowBuilder:
            return counts.over(df).execute(lambda window: {"n": len(window.get())}, "n int")

        with Script(count, ROWS, clock=at(1500), checkpoint=folder) as script:
            script.rows([(1, "a", at(1000)), (2, "a", at(2000))], [(3, "a", at(2500))])
            script.rows([(4, "a", at(60000))]).clock("+1s").expect([(3,)])


def test_what_open_windows_hold_is_shown_of_aggregates(spark: SparkSession) -> None:
    """A function would have to be called for it."""
    bolt = bolt_of(5000, Count(3))
    with settings(spark, WITHOUT_CODE), Script(merged(bolt), ROWS, clock=at(500)) as script:
        script.rows([(n, "a", at(1000 * n)) for n in range(1, 6)]).clock("+1s").expect([])
        rows = spark.createDataFrame([], ROWS)
        held = et.read_state(script.checkpoint, merged(bolt)(rows))
        assert [row.ids for row in held.collect()] == [[1, 2, 3]]
        with pytest.raises(InvalidArgumentError, match="passes its rows to a function"):
            et.read_state(script.checkpoint, executed(bolt)(rows))


@pytest.mark.parametrize(
    ("length", "slide"),
    [("20s", "10s"), (Count(2), "10s"), ("20s", Count(3)), (Count(2), Count(4))],
    ids=str,
)
def test_a_key_whose_rows_are_in_no_window_to_come_leaves_the_state(
    spark: SparkSession, length: Any, slide: Any
) -> None:
    """So long after its last row, and only then."""
    bolt = StormWindow().with_window(length, slide).with_timestamp_field("ts")

    def query(df: DataFrame) -> WindowBuilder:
        keyed = bolt.over(df).group_by("user", key_ttl="1m")
        return keyed.execute(lambda window: {"n": len(window.get())}, "n long")

    with settings(spark, WITHOUT_CODE), Script(query, ROWS, clock=at(500)) as script:
        script.rows([(1, "a", at(1000)), (2, "b", at(2000))]).clock("+1s")
        script.rows([(3, "c", at(100_000))]).clock("+1s")
        assert keys_in_state(script) == 3
        script.clock("+2m").rows([(4, "c", at(101_000))]).clock("+1s")
        assert keys_in_state(script) == 1


def keys_in_state(script: Script) -> int:
    """Return how many keys have state, by the last batch."""
    return sum(operator["numRowsTotal"] for operator in operators(script)[-1:])


def test_rows_of_processing_time_stay_until_they_are_in_a_window(spark: SparkSession) -> None:
    """However soon their keys would be forgotten."""
    bolt = StormWindow().with_window("1h", Count(3))
    ids = F.collect_list("id").alias("ids")

    def query(df: DataFrame) -> WindowBuilder:
        return bolt.over(df).group_by("user", key_ttl="1m").agg(ids)

    with settings(spark, WITHOUT_CODE), Script(query, "id int, user string", clock=at(0)) as script:
        for number in (1, 2, 3):
            script.rows([(number, "a")]).clock("+2m")
        assert [row.ids for row in script.results()] == [[1, 2, 3]]


def test_a_key_with_a_collation_is_shown_in_one_form(spark: SparkSession) -> None:
    """Which is the same after a restart; the rows of a window would be of many forms."""
    bolt = bolt_of(Count(2), Count(2)).group_by("name")
    schema = "id int, name string collate utf8_lcase, ts timestamp"

    def query(df: DataFrame) -> WindowBuilder:
        return bolt.over(df).agg(F.count("*").alias("n"))

    with settings(spark, WITHOUT_CODE), Script(query, schema, clock=at(500)) as script:
        script.rows([(1, "b", at(1000))])
        script.restart()
        script.rows([(2, "B", at(2000)), (3, "c", at(9000))]).clock("+1s")
        assert [(row.name, row.n) for row in script.results()] == [("B", 2)]
