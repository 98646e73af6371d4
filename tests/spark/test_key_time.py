"""Keys in their own time: random streams against plain Python, and what is kept over a restart."""

from __future__ import annotations

import json
import random
from datetime import datetime
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.chaos import Chaos, undisturbed
from tests.spark.chaos_query import HANDLED
from tests.spark.plain_keys import CountKey, Key, PlainKeys, Result, Rules, SessionKey
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WindowBuilder
    from eventtide.windows._key_time import IdleClock
    from pyspark.sql import Column, DataFrame, SparkSession

ROWS = "ts timestamp, key string, number int"
HIGHEST = WatermarkPolicies.max_event_time()


def query(rules: Rules, events: DataFrame) -> DataFrame:
    """Return the results of a window with these rules: key, start, end, timing, index, rows."""
    policy = (
        WatermarkPolicies.max_event_time() if rules.highest else WatermarkPolicies.min_event_time()
    )
    window = (
        et.window(events)
        .event_time("ts", policy)
        .key_by("key")
        .watermark_scope("key")
        .sliding(f"{rules.size}s", every=f"{rules.slide}s")
        .delay(f"{rules.delay}s")
        .late_rule(rules.late_rule)  # type: ignore[arg-type] # one of them
        .agg(F.sort_array(F.collect_list("number")).alias("rows"))
    )
    if rules.timeout is not None:
        window = window.key_idle_timeout(f"{rules.timeout}s").heartbeat("100ms")
    return parts(window.results)


def sessions(events: DataFrame) -> DataFrame:
    """Return the sessions of each key."""
    window = et.window(events).event_time("ts", HIGHEST).key_by("key").watermark_scope("key")
    numbers = F.sort_array(F.collect_list("number")).alias("rows")
    window = window.session("6s").key_idle_timeout("1h").emit("at_window_end")
    return parts(window.agg(numbers).results)


def counts(events: DataFrame) -> DataFrame:
    """Return windows of five rows, each two rows."""
    window = et.window(events).event_time("ts", HIGHEST).key_by("key").by_count(5, every=2)
    numbers = F.sort_array(F.collect_list("number")).alias("rows")
    return parts(window.key_idle_timeout("9s").heartbeat("100ms").agg(numbers).results)


def parts(results: DataFrame) -> DataFrame:
    """Return key, start, end, timing, index and rows of results."""
    panes = [F.lit("on_time"), F.lit(0)]
    if "pane_timing" in results.columns:
        panes = [F.col("pane_timing"), F.col("pane_index")]
    bounds = [F.col(f"window.{name}") for name in ("start", "end")]
    if dict(results.select(*bounds).dtypes)["start"] != "bigint":
        bounds = [F.unix_timestamp(bound) % 86400 for bound in bounds]
    return results.select("key", *bounds, *panes, "rows")


RULES = [
    Rules(size=10, slide=10, delay=0, highest=True, timeout=None),
    Rules(size=10, slide=5, delay=3, highest=False, timeout=12, late_rule="frame_closed"),
    Rules(size=8, slide=8, delay=0, highest=False, timeout=7, late_rule="behind_watermark"),
    Rules(size=12, slide=4, delay=2, highest=True, timeout=9),
]


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
def test_a_query_does_what_the_rules_say(spark: SparkSession, rules: Rules) -> None:
    """In every batch, and whenever the clock goes on without rows."""
    plain = PlainKeys(lambda: Key(rules))
    compare(spark, lambda events: query(rules, events), plain, rules.size, partitions=2)


def test_sessions_are_what_the_rules_say(spark: SparkSession) -> None:
    """A row between two makes them one; a late one is in none."""
    compare(spark, sessions, PlainKeys(lambda: SessionKey(6)), 1, partitions=2)


def test_counts_are_what_the_rules_say(spark: SparkSession) -> None:
    """In the order of arrival, and anew after a silence."""
    compare(spark, counts, PlainKeys(lambda: CountKey(5, 2, 9)), 2, partitions=1)


def compare(
    spark: SparkSession,
    query: Callable[[DataFrame], DataFrame],
    plain: PlainKeys,
    seed: int,
    partitions: int,
) -> None:
    """Let a query and plain Python have the same random rows and times."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    now, top = 0, 100
    late: set[int] = set()
    with settings(spark, WITHOUT_CODE), Script(query, ROWS) as script:
        for step in range(12):
            now += chance.randint(0, 6)
            script.clock(at(now))
            wanted = plain.clock(now)
            if chance.random() < 0.8:
                top += chance.randint(0, 8)
                rows = [
                    (top - chance.randint(0, 25), chance.choice("abc"), step * 10 + n)
                    for n in range(chance.randint(1, 5))
                ]
                timed = [(at(ts), key, number) for ts, key, number in rows]
                script.rows(timed, partitions=partitions)
                given, refused = plain.batch(now, rows)
                wanted += given
                late |= set(refused)
            assert (step, found(script)) == (step, sorted(wanted))
        logged = et.read_late(script.checkpoint).select("number").collect()
        assert {row.number for row in logged} == late


def found(script: Script) -> list[Result]:
    """Return what came out since the last call."""
    rows: list[Any] = script.results()
    return sorted((row[0], row[1], row[2], row[3], row[4], tuple(row[5])) for row in rows)


def test_a_restart_keeps_watermarks_and_deadlines(spark: SparkSession) -> None:
    """A row is as late as before, and who has been silent meanwhile is closed at once."""
    rules = Rules(size=10, slide=10, delay=0, highest=True, timeout=60)
    with Script(lambda events: query(rules, events), ROWS, session=spark) as script:
        script.rows([(at(105), "a", 1), (at(107), "b", 2)]).rows([(at(118), "a", 3)])
        assert found(script) == [("a", 100, 110, "on_time", 0, (1,))]
        script.stop().waiting([(at(109), "a", 4)]).restart(clock=at(30))
        assert found(script) == []
        assert [row.number for row in et.read_late(script.checkpoint).collect()] == [4]
        script.stop().restart(clock=at(75))
        assert found(script) == [("b", 100, 110, "idle", 0, (2,))]
        script.restart(clock=at(200))
        assert found(script) == [("a", 110, 120, "idle", 0, (3,))]


ANOTHER = {
    "none before": (None, "20s"),
    "a shorter one": ("10m", "20s"),
    "none after": ("20s", None),
}


def waiting(
    timeout: str | None, clock: IdleClock = "processing_time"
) -> Callable[[DataFrame], DataFrame]:
    """Return a query that closes idle keys after a while."""

    def query(events: DataFrame) -> DataFrame:
        policy = WatermarkPolicies.max_event_time()
        window = et.window(events).event_time("ts", policy).key_by("key").tumbling("10s")
        window = window.watermark_scope("key").heartbeat("100ms")
        if timeout is not None:
            window = window.key_idle_timeout(timeout, clock=clock)
        window = window.emit("at_window_end")  # so that results look alike
        return window.agg(F.count("*").alias("n")).results.select("key", "n", "pane_timing")

    return query


def test_a_timeout_that_is_new_needs_no_row(spark: SparkSession, tmp_path: Path) -> None:
    """A stream that is over, and a run that looks for what is silent."""
    folder = str(tmp_path)
    with Script(waiting(None), ROWS, session=spark, checkpoint=folder) as script:
        script.rows([(at(101), "a", 1)])
    with Script(waiting("20s"), ROWS, session=spark, checkpoint=folder, clock=at(30)) as script:
        script.rows([(at(101), "read by the run before", 1)]).clock(at(31))
        assert [tuple(row) for row in script.results()] == [("a", 1, "idle")]


def by_lag(lag: str) -> Callable[[DataFrame], DataFrame]:
    """Return a query that counts the rows of each key by a lag of its own."""

    def query(events: DataFrame) -> DataFrame:
        policy = WatermarkPolicies.with_fixed_lag(lag)
        window = et.window(events).event_time("ts", policy).key_by("key").tumbling("10s")
        window = window.watermark_scope("key").agg(F.count("*").alias("n"))
        return window.results.select("key", F.unix_timestamp("window.end") % 86400, "n")

    return query


def test_a_lag_that_is_shorter_in_another_run(spark: SparkSession, tmp_path: Path) -> None:
    """A key that has no row in the first batch of the run is judged by it in the next one."""
    folder = str(tmp_path)
    with Script(by_lag("10m"), ROWS, session=spark, checkpoint=folder) as script:
        script.rows([(at(1000), "ahead", 1), (at(1000), "b", 2)])
    with Script(by_lag("0s"), ROWS, session=spark, checkpoint=folder) as script:
        script.rows([(at(1000), "read by the run before", 1)], [(at(1001), "b", 3)])
        assert script.results() == []
        script.rows([(at(980), "ahead", 4), (at(1011), "ahead", 5)])
        assert [tuple(row) for row in script.results()] == [("ahead", 1010, 1)]
        late = et.read_late(folder).collect()
        assert [row["number"] for row in late] == [4]


def test_a_timeout_by_another_clock_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """When a key was last seen is known by one clock only."""
    folder = str(tmp_path)
    with Script(waiting("20s"), ROWS, session=spark, checkpoint=folder) as script:
        script.rows([(at(101), "a", 1)])
    with pytest.raises(et.errors.CheckpointError, match="clock of key_idle_timeout: none in the"):
        Script(waiting("20s", "event_time"), ROWS, session=spark, checkpoint=folder)


@pytest.mark.parametrize(("before", "after"), ANOTHER.values(), ids=ANOTHER)
def test_a_timeout_that_changes_is_that_of_silent_keys_too(
    spark: SparkSession, tmp_path: Path, before: str | None, after: str | None
) -> None:
    """Both are by then, before the next row comes."""
    folder = str(tmp_path)
    with Script(waiting(before), ROWS, session=spark, checkpoint=folder) as script:
        script.rows([(at(101), "quiet", 1), (at(101), "busy", 2)])
    with Script(waiting(after), ROWS, session=spark, checkpoint=folder, clock=at(30)) as script:
        script.rows([(at(101), "read by the run before", 2)], [(at(102), "busy", 3)])
        script.clock(at(31))
        silent = [("busy", 1, "idle"), ("quiet", 1, "idle")] if after else []
        assert sorted(tuple(row) for row in script.results()) == silent


SITES = "ts timestamp, key string, site string, number int"


def by_site(events: DataFrame, group: str | Column = "site") -> et.WindowBuilder:
    """Return a window of ten seconds with a watermark for each group of keys."""
    return (
        et.window(events)
        .event_time("ts", WatermarkPolicies.max_event_time())
        .key_by("key", group)
        .watermark_scope([group])
        .tumbling("10s")
        .agg(F.sort_array(F.collect_list("number")).alias("rows"))
    )


def flat(results: DataFrame) -> DataFrame:
    """Return key, site, start and rows of results, and their watermark where there is one."""
    times = [F.unix_timestamp("window.start")]
    if "_watermark" in results.columns:
        times.append(F.unix_timestamp("_watermark"))
    return results.select("key", "site", *(time % 86400 for time in times), "rows")


def test_the_keys_of_a_group_have_one_watermark(spark: SparkSession) -> None:
    """A fast key closes windows of its group and of no other, over a restart too."""
    with Script(lambda events: flat(by_site(events).results), SITES, session=spark) as script:
        script.rows([(at(101), "a", "x", 1), (at(103), "b", "x", 2), (at(102), "a", "y", 3)])
        script.expect(results=[])
        script.rows([(at(115), "a", "x", 4)])
        script.expect(results=[("a", "x", 100, [1]), ("b", "x", 100, [2])])
        held = et.read_state(script.checkpoint, by_site(spark.createDataFrame([], SITES)))
        assert sorted(map(tuple, flat(held).collect())) == [
            ("a", "x", 110, 115, [4]),
            ("a", "y", 100, 102, [3]),
        ]
        script.stop().waiting([(at(104), "b", "x", 5), (at(104), "b", "y", 6)]).restart()
        script.expect(results=[])
        assert [row.number for row in et.read_late(script.checkpoint).collect()] == [5]
        script.rows([(at(121), "c", "y", 7), (at(122), "c", "x", 8)])
        script.expect(results=[("a", "y", 100, [3]), ("b", "y", 100, [6]), ("a", "x", 110, [4])])


def test_the_state_shows_the_watermark_by_which_the_next_rows_are_late(
    spark: SparkSession,
) -> None:
    """Also of a policy whose clock is ahead of the rows of the key."""

    def hours(events: DataFrame) -> WindowBuilder:
        policy = WatermarkPolicies.limiting_real_time_lag("5s")
        window = et.window(events).event_time("ts", policy).key_by("key").watermark_scope("key")
        return window.tumbling("1h").late_rule("behind_watermark").agg(F.count("*").alias("n"))

    with Script(hours, ROWS, clock=at(200)) as script:
        script.rows([(at(160), "a", 1)])
        held = et.read_state(script.checkpoint, hours(spark.createDataFrame([], ROWS)))
        assert [row["_watermark"] for row in held.collect()] == [datetime.fromisoformat(at(160))]
        script.rows([(at(170), "a", 2), (at(159), "a", 3)])
        assert [row.number for row in et.read_late(script.checkpoint).collect()] == [3]


def test_a_group_is_told_by_an_expression(spark: SparkSession) -> None:
    """Also by one that is the same for all rows."""
    rows = [(at(101), "a", "x", 1), (at(102), "b", "X", 2), (at(115), "c", "y", 3)]

    def upper(events: DataFrame) -> DataFrame:
        site = F.upper("site").alias("site")
        return flat(by_site(events, site).results)

    def constant(events: DataFrame) -> DataFrame:
        return flat(by_site(events.withColumn("site", F.lit("z"))).results)

    with settings(spark, WITHOUT_CODE):
        with Script(upper, SITES) as script:
            script.rows(rows).expect(results=[])
            script.rows([(at(110), "a", "x", 4)])
            script.expect(results=[("a", "X", 100, [1]), ("b", "X", 100, [2])])
            lower = by_site(spark.createDataFrame([], SITES), F.lower("site").alias("site"))
            with pytest.raises(et.errors.CheckpointError, match=r"lower\(site\) STRING"):
                et.read_state(script.checkpoint, lower)
        with Script(constant, SITES) as script:
            script.rows(rows, partitions=2)
            script.expect(results=[("a", "z", 100, [1]), ("b", "z", 100, [2])])


@pytest.mark.smoke
@pytest.mark.parametrize("by", ["all", "group"])
def test_a_key_that_is_never_null(spark: SparkSession, by: str) -> None:
    """A scan of an index begins at no key, which Spark 4.2 would not encode."""

    def query(events: DataFrame) -> DataFrame:
        window = by_site(events, F.coalesce("site", F.lit("?")).alias("site"))
        return flat((window if by == "group" else window.watermark_scope("global")).results)

    with Script(query, SITES, session=spark) as script:
        script.rows([(at(101), "a", "x", 1)]).rows([(at(102), "b", "x", 2)])
        script.rows([(at(111), "a", "x", 3)]).rows([(at(121), "a", "x", 4)])
        script.expect(results=[("a", "x", 100, [1]), ("b", "x", 100, [2]), ("a", "x", 110, [3])])


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (
            lambda: F.lower("site"),
            r"lower\(site\) is not a key of the window.*the keys are: key, site",
        ),
        (lambda: F.create_map("key", "number"), r"map\(key, number\) has no order"),
    ],
)
def test_columns_that_tell_no_groups(
    spark: SparkSession, group: Callable[[], Column], reason: str
) -> None:
    """A key would be in two groups, or rows of a group would not come together."""
    window = by_site(spark.createDataFrame([], SITES)).watermark_scope([group()])
    with pytest.raises(et.errors.InvalidArgumentError, match=reason):
        _ = window.results


@pytest.mark.chaos
def test_a_driver_that_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """With results written and no commit; late rows come to their handler too.

    By key and frame; `dev/chaos` has groups, and kills anywhere.
    """
    seed = 6
    quiet = undisturbed(spark, tmp_path / "quiet", seed)
    assert len(quiet[0]) > 100
    assert len(quiet[1]) > 20
    chaos = Chaos(tmp_path / "killed", seed)
    assert chaos.kill_between("results", "ledger")
    chaos.finish()
    assert chaos.outcome(spark) == quiet
    assert handled(chaos.folder) == logged(spark, chaos.folder)


def handled(folder: Path) -> dict[int, list[int]]:
    """Return the ids of the late rows that the handler was given, batch by batch."""
    files = (folder / HANDLED).iterdir()
    return {int(file.name): json.loads(file.read_text("utf-8")) for file in files}


def logged(spark: SparkSession, folder: Path) -> dict[int, list[int]]:
    """Return those of the late log."""
    late = et.read_late(folder / "checkpoint", spark=spark).groupBy("_batch_id")
    rows = late.agg(F.sort_array(F.collect_list("id")).alias("ids")).collect()
    return {row["_batch_id"]: row["ids"] for row in rows}
