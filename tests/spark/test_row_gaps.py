"""Sessions by gaps that the rows have of their own, against a model that keeps all rows."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide._text.schemas import row_type
from eventtide.testing import Script
from eventtide.testing._values import storable
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import SCHEMA, Disorder, cut
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from pyspark.sql import Column, DataFrame, SparkSession

    from tests.spark.events import Batches, Event

LAG = WatermarkPolicies.with_fixed_lag("3s")
ROWS = "ts timestamp, key string, gap string"
LAST: Event = (-1, at(3000), "last", *[None] * 3, 1, None)  # closes all sessions but its own


def ids() -> Column:
    """Return which rows they are."""
    return F.sort_array(F.collect_list("id")).alias("ids")


def gap() -> Column:
    """Return the gap of each event, which is null, zero, negative or no length for some."""
    seconds = F.concat((F.col("amount") % 9).cast("string"), F.lit(" seconds"))
    return F.when(F.col("id") % 13 == 5, F.col("user")).otherwise(seconds)


def seconds_of(event: Event) -> int:
    """Return the same gap as a number, zero for one that cannot be used."""
    number, _, _, _, _, _, amount, _ = event
    if number % 13 == 5 or amount is None or amount < 0:
        return 0
    return int(amount) % 9


def by_site(events: DataFrame) -> WindowBuilder:
    """Return the sessions of the events of a site."""
    window = et.window(events).event_time("ts", LAG).key_by("site").session(gap())
    return window.agg(ids(), F.sum("amount").alias("total"))


def model(events: list[Event]) -> set[tuple[Any, ...]]:
    """Return the sessions of events, none of which is late: site, start, end and ids."""
    sessions: list[tuple[Any, int, int, list[int]]] = []
    for event in sorted(usable(events), key=lambda event: (str(event[3]), micros(event[1]))):
        time, site = micros(event[1]), event[3]
        end = time + seconds_of(event) * 1_000_000
        if sessions and sessions[-1][0] == site and time < sessions[-1][2]:
            _, start, before, inside = sessions.pop()
            sessions.append((site, start, max(before, end), [*inside, event[0]]))
        else:
            sessions.append((site, time, end, [event[0]]))
    return {(*session[:3], tuple(sorted(session[3]))) for session in sessions}


def judged(batches: Batches) -> tuple[set[tuple[Any, ...]], int]:
    """Return the sessions of batches, and the number of late rows.

    A batch closes sessions by the rows of the batches before it, and the next one judges by that.
    """
    closed: set[tuple[Any, ...]] = set()
    rows: list[Event] = []  # of open sessions
    late = before = latest = 0
    for batch in batches:
        arrived = rows + usable(batch)
        on_time = of_open(arrived, before)
        late += len(arrived) - len(on_time)
        rows = of_open(on_time, latest)
        closed |= model(on_time) - model(rows)
        before = latest
        latest = max([latest, *(micros(event[1]) for event in batch if event[1] is not None)])
    return closed | model(rows), late


def of_open(events: list[Event], latest: int) -> list[Event]:
    """Return the events of sessions that are open when that is the latest time."""
    watermark = latest - 3_000_000
    ids = {number for session in model(events) if session[2] > watermark for number in session[3]}
    return [event for event in events if event[0] in ids]


def usable(events: list[Event]) -> list[Event]:
    """Return the events that can be in a session."""
    return [event for event in events if event[1] is not None and seconds_of(event) > 0]


def micros(time: str) -> int:
    """Return a time of `at` as microseconds into the day."""
    hours, minutes, seconds = time.split()[1].split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000_000 + round(float(seconds) * 1_000_000)


def shown(results: DataFrame) -> DataFrame:
    """Return results as the model has them."""
    start, end = (F.unix_micros(f"window.{bound}") for bound in ("start", "end"))
    day = 1_704_067_200_000_000
    return results.select("site", (start - day).alias("start"), (end - day).alias("end"), "ids")


def plain(rows: Any) -> set[tuple[Any, ...]]:
    """Return collected rows as plain values."""
    return {(*tuple(row)[:3], tuple(row.ids)) for row in rows}


def played(spark: SparkSession, batches: Batches, number: int) -> tuple[set[Any], dict[str, int]]:
    """Run the sessions over batches with this number of partitions; the books balance."""
    with (
        settings(spark, {"spark.sql.shuffle.partitions": number}),
        Script(lambda events: shown(by_site(events).results), SCHEMA) as script,
    ):
        results = script.rows(*batches, [LAST], partitions=number).results()
        progress = et.progress(script.streaming_query)
        late = et.read_late(script.checkpoint).groupBy("_reason").count().collect()
        assert {row["_reason"]: row["count"] for row in late} == dict(progress.late)
    found = plain(results)
    in_sessions = sum(len(row[3]) for row in found)
    assert in_sessions + sum(progress.late.values()) == sum(map(len, batches))
    return found, dict(progress.late)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param({}, id="generated", marks=pytest.mark.smoke),
        pytest.param(WITHOUT_CODE, id="interpreted"),
    ],
)
def test_sessions_are_those_of_the_model_however_batches_are_cut(
    spark: SparkSession, code: dict[str, str]
) -> None:
    """A stream without late rows, in any cut and any number of partitions, and a batch."""
    events = Disorder(seed=7, late_by=3).events(120)
    expected = model(events)
    assert len(expected) > 20
    assert max(len(row[3]) for row in expected) > 3
    refused = {
        "bad_time": sum(event[1] is None for event in events),
        "bad_gap": sum(event[1] is not None and seconds_of(event) == 0 for event in events),
    }
    assert min(refused.values()) > 5
    with settings(spark, code):
        assert played(spark, [events], 1) == (expected, refused)
        assert played(spark, cut(events, 7, 5), 3) == (expected, refused)
        schema = row_type(SCHEMA)
        rows = spark.createDataFrame([storable(event, schema) for event in events], schema)
        assert plain(shown(by_site(rows).results).collect()) == expected


def test_late_rows_are_those_of_the_model_in_any_partitions(spark: SparkSession) -> None:
    """Each row is in one session, late, or refused."""
    batches = cut(Disorder(seed=8, late_by=60).events(150), 8, 12)
    expected, late = judged(batches)
    assert late > 5
    with settings(spark, WITHOUT_CODE):
        for number in (1, 7):
            found, counted = played(spark, batches, number)
            assert found == expected
            assert counted.pop("window_closed") == late
            assert counted.keys() == {"bad_gap", "bad_time"}


def test_every_batch_that_is_run_again_gives_what_it_gave(
    spark: SparkSession, tmp_path: Path
) -> None:
    """From the last batches to the first, and from each to the end; late rows too."""
    batches = cut(Disorder(seed=3, late_by=40, gap=0.8).events(100), seed=3, batches=5)

    def window(events: DataFrame) -> WindowBuilder:
        twos = et.WindowTrigger.every_rows(2)
        lenient = by_site(events).allowed_lateness("9s")
        return lenient.emit("at_window_end", twos, discarding=True, late_updates=True)

    with settings(spark, WITHOUT_CODE):
        run = WindowRun(spark, window, batches)
        run.gives_the_same_again(tmp_path / "checkpoint")


def counts(events: DataFrame) -> WindowBuilder:
    """Return the sessions of rows whose gap is a column."""
    window = et.window(events).event_time("ts", LAG).key_by("key").session(F.col("gap"))
    return window.agg(F.count("*").alias("n"))


def flat(results: DataFrame) -> DataFrame:
    """Show sessions as seconds into the hour."""
    bounds = [(F.unix_timestamp(f"window.{b}") % 3600).alias(b) for b in ("start", "end")]
    return results.select(*bounds, "n")


def test_a_shorter_gap_never_shortens_a_session_and_a_long_one_merges_several() -> None:
    """Over several batches, and a restart."""
    with Script(lambda events: flat(counts(events).results), ROWS) as script:
        script.rows([(at(10), "a", "20 seconds")], [(at(15), "a", "1 second")]).expect(results=[])
        script.stop().restart()
        script.rows([(at(29), "a", "2 seconds"), (at(31), "a", "3 seconds")])
        script.rows([(at(45), "a", "1 second"), (at(36), "a", "2 seconds")])
        script.expect(results=[(10, 31, 3), (31, 34, 1), (36, 38, 1)])
        script.rows([(at(47), "a", "2 seconds"), (at(43), "a", "30 seconds")])
        script.rows([(at(99), "a", "1 second")]).expect(results=[(43, 73, 3)])


def test_lateness_does_not_depend_on_the_order_in_a_batch() -> None:
    """One row is on time, one is saved by it, and two by that one; each key has another order."""
    rows = [(60, "50 seconds"), (40, "30 seconds"), (50, "2 seconds"), (45, "1 second")]
    orders = list(permutations([*rows, (30, "9 seconds")]))
    batch = [(at(second), str(n), gap) for n, some in enumerate(orders) for second, gap in some]
    with Script(lambda events: flat(counts(events).results), ROWS) as script:
        script.rows([(at(1), "z", "1 second"), (at(90), "z", "1 second")])
        script.expect(results=[(1, 2, 1)])
        script.rows(batch, [(at(200), "z", "1 second")])
        script.expect(results=[(90, 91, 1), *[(40, 110, 4)] * len(orders)])
        late = et.read_late(script.checkpoint).groupBy("gap").count().collect()
        assert [tuple(row) for row in late] == [("9 seconds", len(orders))]


def test_a_maximum_cuts_sessions_of_long_gaps(spark: SparkSession) -> None:
    """The next row begins another; each row is in one session."""

    def capped(events: DataFrame) -> WindowBuilder:
        window = et.window(events).event_time("ts", LAG).key_by("key")
        longest = window.session(F.col("gap"), maximum_duration="10s")
        return longest.agg(F.count("*").alias("n"))

    rows = [(at(0), "a", "50 seconds"), (at(8), "a", "3 seconds"), (at(12), "a", "1 second")]
    expected = {(0, 10, 2), (12, 13, 1)}
    with Script(lambda events: flat(capped(events).results), ROWS) as script:
        results = script.rows(rows, [(at(99), "a", "1 second")]).results()
        assert set(map(tuple, results)) == expected
    batch = spark.createDataFrame([storable(row, row_type(ROWS)) for row in rows], row_type(ROWS))
    assert set(map(tuple, flat(capped(batch).results).collect())) == expected


INTERVALS: dict[str, Callable[[], Column]] = {
    "text": lambda: F.col("gap"),
    "calendar interval": lambda: F.col("gap").cast("interval"),
    "day-time interval": lambda: F.expr(
        "try_to_number(regexp_extract(gap, '^(-?[0-9]+) seconds?$', 1), 'S999') * interval 1 second"
    ),
}


@pytest.mark.parametrize("kind", INTERVALS)
def test_a_gap_is_text_or_an_interval(kind: str) -> None:
    """One that cannot be used refuses its row: null, zero, negative or, of text, not readable."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", LAG).key_by("key").session(INTERVALS[kind]())
        return flat(window.agg(F.count("*").alias("n")).results)

    gaps = ["5 seconds", None, "0 seconds", "-2 seconds", "soon"]
    with Script(query, ROWS) as script:
        script.rows([(at(n), str(n), gap) for n, gap in enumerate(gaps)])
        script.rows([(at(99), "last", "1 second")]).expect(results=[(0, 5, 1)])
        assert et.progress(script.streaming_query).late == {"bad_gap": 4}


def test_a_day_has_24_hours_and_a_month_no_length(spark: SparkSession) -> None:
    """Where clocks change, too, and for a gap with both; a gap of microseconds is one."""
    gaps = ["1 day", "1 month", "1 month 5 seconds", "1 day -1 hour", "interval 5 microseconds"]
    rows = spark.createDataFrame(
        [(str(n), gap) for n, gap in enumerate(gaps)], "key string, gap string"
    )
    rows = rows.withColumn("ts", F.lit("2024-03-30 12:00:00").cast("timestamp"))
    with settings(spark, {"spark.sql.session.timeZone": "Europe/Berlin"}):
        timed = et.window(rows).event_time("ts").key_by("key").session(F.col("gap"))
        results = timed.agg(F.count("*").alias("n")).results
        length = F.unix_micros("window.end") - F.unix_micros("window.start")
        found = {row["key"]: row[1] for row in results.select("key", length).collect()}
    hour = 3_600_000_000
    assert found == {"0": 24 * hour, "3": 23 * hour, "4": 5}


def test_a_session_that_would_leave_the_years_is_refused() -> None:
    """A row whose time and gap go beyond the year 9999 has no usable time, as for one gap."""
    last = "9999-12-31 23:59:50"
    with Script(lambda events: flat(counts(events).results), ROWS) as script:
        script.rows([(last, "a", "9 seconds"), (last, "b", "10 seconds")])
        script.rows([(last, "c", "100000000 days"), (last, "d", None)])
        assert et.progress(script.streaming_query).late == {"bad_time": 2, "bad_gap": 1}
        late = et.read_late(script.checkpoint).orderBy("key").select("key", "_reason")
        reasons = [("b", "bad_time"), ("c", "bad_time"), ("d", "bad_gap")]
        assert [tuple(row) for row in late.collect()] == reasons


def test_a_row_without_a_gap_may_stop_the_query() -> None:
    """As any late row, where late rows are not allowed."""
    with (
        Script(lambda events: flat(counts(events).late("fail").results), ROWS) as script,
        pytest.raises(et.errors.RefusedDataError, match="bad_gap"),
    ):
        script.rows([(at(1), "a", "soon")])


def test_each_key_may_have_its_own_watermark() -> None:
    """A key closes its sessions by its own rows, and by silence."""

    def query(events: DataFrame) -> DataFrame:
        window = counts(events).watermark_scope("key").key_idle_timeout("1m")
        return flat(window.results)

    with Script(query, ROWS) as script:
        script.rows([(at(1), "a", "5 seconds"), (at(2), "a", "20 seconds"), (at(1), "b", "1 hour")])
        script.rows([(at(26), "a", "1 second")]).expect(results=[(1, 22, 2)])
        script.clock("+2m").expect(results=[(26, 27, 1), (1, 1, 1)])


@pytest.mark.parametrize(("scope", "closed"), [("global", 1), ("key", 0)])
def test_a_row_without_a_gap_moves_the_watermark_of_the_query_alone(
    scope: str, closed: int
) -> None:
    """Not that of its key, which has not taken it."""

    def query(events: DataFrame) -> DataFrame:
        window = counts(events)
        if scope == "key":
            window = window.watermark_scope("key").key_idle_timeout("1m")
        return flat(window.results)

    with Script(query, ROWS) as script:
        script.rows([(at(1), "a", "5 seconds")], [(at(60), "a", "soon")])
        script.rows([(at(61), "a", None)]).expect(results=[(1, 6, 1)] * closed)
        assert et.progress(script.streaming_query).late == {"bad_gap": 2}


def test_open_sessions_are_read_from_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    """With the end that their rows give them."""
    rows = [(at(5), "a", "20 seconds"), (at(9), "a", "1 second"), (at(9), "b", "3 seconds")]
    checkpoint = str(tmp_path)
    query = lambda events: flat(counts(events).results)  # noqa: E731
    with Script(query, ROWS, checkpoint=checkpoint) as script:
        script.rows(rows)
    held = et.read_state(checkpoint, counts(spark.createDataFrame([], ROWS)))
    assert {tuple(row) for row in flat(held).collect()} == {(5, 25, 2), (9, 12, 1)}


def test_another_expression_goes_on_and_one_gap_does_not(tmp_path: Path) -> None:
    """Rows keep the gaps that they came with."""

    def of(gap: Any) -> Callable[[DataFrame], DataFrame]:
        return lambda events: flat(
            et.window(events)
            .event_time("ts", LAG)
            .key_by("key")
            .session(gap)
            .agg(F.count("*").alias("n"))
            .results
        )

    checkpoint = str(tmp_path)
    with Script(of(F.col("gap")), ROWS, checkpoint=checkpoint) as script:
        script.rows([(at(1), "a", "9 seconds")])
    again = of(F.when(F.col("gap").isNotNull(), "2 seconds"))
    with Script(again, ROWS, checkpoint=checkpoint) as script:
        script.rows([(at(1), "read by the run before", "9 seconds")])
        script.rows([(at(5), "a", "9 seconds"), (at(12), "a", "9 seconds")])
        script.rows([(at(99), "a", "9 seconds")]).expect(results=[(1, 10, 2), (12, 14, 1)])
    expected = "gap: of each row in the checkpoint, 5s in this query"
    with (
        pytest.raises(et.errors.CheckpointError, match=expected),
        Script(of("5s"), ROWS, checkpoint=checkpoint) as script,
    ):
        script.rows([(at(100), "a", "9 seconds")])
