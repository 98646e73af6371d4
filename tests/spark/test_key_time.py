"""Keys in their own time: random streams against plain Python, and what is kept over a restart."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.chaos import Chaos, undisturbed
from tests.spark.plain_keys import PlainKeys, Result, Rules
from tests.spark.queries import at
from tests.spark.window_runs import WITHOUT_CODE, settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ROWS = "ts timestamp, key string, number int"


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
        window = window.idle_timeout(f"{rules.timeout}s").heartbeat("100ms")
    results = window.results
    panes = ["pane_timing", "pane_index"] if rules.timeout else [F.lit("on_time"), F.lit(0)]
    bounds = [F.unix_timestamp(f"window.{name}") % 86400 for name in ("start", "end")]
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
    chance = random.Random(rules.size)  # noqa: S311 - no secret
    plain, now, top = PlainKeys(rules), 0, 100
    late: set[int] = set()
    with (
        settings(spark, WITHOUT_CODE),
        Script(lambda events: query(rules, events), ROWS) as script,
    ):
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
                script.rows([(at(ts), key, number) for ts, key, number in rows], partitions=2)
                given, refused = plain.batch(now, rows)
                wanted += given
                late |= set(refused)
            assert (step, found(script)) == (step, sorted(wanted))
        logged = et.read_late(spark, script.checkpoint).select("number").collect()
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
        assert [row.number for row in et.read_late(spark, script.checkpoint).collect()] == [4]
        script.stop().restart(clock=at(75))
        assert found(script) == [("b", 100, 110, "idle", 0, (2,))]
        script.restart(clock=at(200))
        assert found(script) == [("a", 110, 120, "idle", 0, (3,))]


def test_a_driver_that_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """Once at random, and once with its state and its results written and no commit."""
    seed = 9  # keys in their own time
    quiet = undisturbed(spark, tmp_path / "quiet", seed)
    assert len(quiet[0]) > 100
    assert len(quiet[1]) > 20
    chaos, chance = Chaos(tmp_path / "killed", seed), random.Random(seed)  # noqa: S311 - test data
    assert chaos.kill_at_random(chance)
    assert chaos.kill_between("results", "ledger")
    chaos.finish()
    assert chaos.outcome(spark) == quiet
