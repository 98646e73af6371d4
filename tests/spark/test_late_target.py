"""The policy that learns its lag: what it lets be late, alone and under a window."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import InvalidArgumentError, UnsupportedPlanError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import Disorder, cut
from tests.spark.queries import EVENTS, at
from tests.spark.window_runs import WITHOUT_CODE, WindowRun, late_rows, scripted, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from eventtide import WatermarkPolicy
    from eventtide.windows import WindowBuilder
    from eventtide.windows._profiles import LateRule
    from pyspark.sql import DataFrame, SparkSession


def stream(rows: int, seed: int = 3) -> list[tuple[str, str]]:
    """Return rows of ten a second, behind by half a minute on average."""
    random = Random(seed)  # noqa: S311 - test data
    delays = [random.expovariate(1 / 30) for _ in range(rows)]
    return [(at(1000 + i / 10 - delay), "a") for i, delay in enumerate(delays)]


def windows(
    policy: WatermarkPolicy, rule: LateRule, size: str = "1s"
) -> Callable[[DataFrame], WindowBuilder]:
    """Return tumbling windows, in which a row is late by a rule."""

    def query(events: DataFrame) -> WindowBuilder:
        window = et.window(events).event_time("ts", policy)
        return window.tumbling(size).late_rule(rule).agg(F.count("*").alias("rows"))

    return query


def late_share(policy: WatermarkPolicy, rule: LateRule, size: str = "1s") -> float:
    """Return the share of late rows of a run, which accounts for each row."""
    rows = stream(6000)
    with Script(windows(policy, rule, size), EVENTS) as script:
        script.rows(*(rows[i : i + 100] for i in range(0, len(rows), 100)))
        progress = et.progress(script.streaming_query)
    late = sum(progress.late.values())
    assert progress.on_time + late == len(rows)
    return late / len(rows)


@pytest.mark.parametrize("rule", ["behind_watermark", "window_closed"])
def test_the_share_of_late_rows_is_the_target(rule: LateRule) -> None:
    """By the rule of the window: a row that is behind, or one that misses its window."""
    policy = WatermarkPolicies.with_late_target("5%", start="2m", memory=1000, budget="forever")
    assert 0.04 < late_share(policy, rule) < 0.06


def test_windows_that_are_longer_need_less_lag() -> None:
    """A row is late when its window has closed, so few are late under windows of a minute."""
    policy = WatermarkPolicies.with_late_target("5%", start="2m", memory=1000)
    lags = []
    for size in "1s", "60s":
        with Script(windows(policy, "window_closed", size), EVENTS) as script:
            rows = stream(3000)
            script.rows(*(rows[i : i + 100] for i in range(0, len(rows), 100)))
            progress = et.progress(script.streaming_query)
            top = progress.inputs[0].substreams[0].top
            assert top is not None
            assert progress.emitted is not None
            lags.append(top - progress.emitted)
    assert lags[1] < lags[0] - timedelta(seconds=10)


def test_a_target_of_nothing_loses_only_what_is_further_behind_than_all_before() -> None:
    """The lag is the longest disorder so far."""
    policy = WatermarkPolicies.with_late_target(0, start="2m")
    assert late_share(policy, "behind_watermark") < 0.005


def test_a_large_first_batch_does_not_end_the_start() -> None:
    """Nothing is known of its rows, so they are not taken to be in order."""
    policy = WatermarkPolicies.with_late_target("1%", start="5m")
    rows = stream(6000)
    with Script(windows(policy, "behind_watermark"), EVENTS) as script:
        script.rows(*(rows[i : i + 2000] for i in range(0, 6000, 2000)))
        assert sum(et.progress(script.streaming_query).late.values()) < 60


def test_a_target_inside_of_by_substream_is_refused() -> None:
    """The late rows of all substreams count."""
    policy = WatermarkPolicies.by_substream(
        {
            "a*": WatermarkPolicies.with_late_target("1%"),
            "*": WatermarkPolicies.with_fixed_lag("0s"),
        }
    )
    with pytest.raises(InvalidArgumentError, match="outside of it"):
        Script(windows(policy, "behind_watermark"), EVENTS)


def test_rows_are_late_while_the_watermark_waits_for_a_lag_that_has_grown() -> None:
    """Without a start, the first batch moves it too far; it never goes back."""
    policy = WatermarkPolicies.with_late_target(0)
    assert 0.02 < late_share(policy, "behind_watermark") < 0.06


def test_the_lag_is_learnt_again_after_a_restart() -> None:
    """From the ledger: a run with restarts has the watermark of one without."""
    policy = WatermarkPolicies.with_late_target("5%", memory=500)
    rows = [stream(2000)[i : i + 100] for i in range(0, 2000, 100)]
    seen = []
    for restarts in False, True:
        with Script(windows(policy, "behind_watermark"), EVENTS) as script:
            for batch in rows:
                script.rows(batch, [])
                if restarts:
                    script.restart()
            seen.append(et.progress(script.streaming_query).emitted)
    assert seen[0] == seen[1] is not None


def by_key(events: DataFrame) -> WindowBuilder:
    """Return windows in the time of keys, which have one learnt lag."""
    policy = WatermarkPolicies.with_late_target("5%", start="5s", memory=100)
    window = et.window(events).event_time("ts", policy).key_by("user").watermark_scope("key")
    return window.tumbling("10s").agg(F.sort_array(F.collect_list("id")).alias("ids"))


def test_windows_by_key_give_the_same_however_often_a_batch_is_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    """From the last batch to the first, with late rows and a lag that changes."""
    events = Disorder(seed=5, late_by=40.0, gap=0.6).events(400)
    with settings(spark, WITHOUT_CODE):
        run = WindowRun(spark, by_key, cut(events, seed=5, batches=6))
        run.gives_the_same_again(tmp_path)


def test_windows_by_key_give_the_same_in_any_number_of_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Tasks have the lag of the batch, and the driver has the rows of all tasks."""
    events = Disorder(seed=6, late_by=40.0, gap=0.6).events(400)
    run = WindowRun(spark, by_key, cut(events, seed=6, batches=6))
    found = []
    for partitions in (1, 4):
        with settings(spark, {"spark.sql.shuffle.partitions": partitions, **WITHOUT_CODE}):
            checkpoint = tmp_path / str(partitions)
            found.append((run.to_the_end(checkpoint), late_rows(spark, checkpoint)))
    assert found[0] == found[1]


def test_windows_by_key_need_a_query_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    """The late rows of one window alone correct the lag."""
    with scripted(spark, []) as one, scripted(spark, []) as other:
        results = by_key(one).results.unionByName(by_key(other).results)
        writer = results.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
        match = "2 windows over 2 watermarks"
        with pytest.raises(UnsupportedPlanError, match=match), et.named_errors():
            writer.start()


@pytest.mark.parametrize("target", ["5", "101%", "-1%", "0.00001%", 2, None, True])
def test_a_target_that_is_no_share_is_refused(target: object) -> None:
    """Before anything starts, with an example."""
    with pytest.raises(InvalidArgumentError, match=r"target=.*Try: target='0\.1%'"):
        WatermarkPolicies.with_late_target(target)  # type: ignore[arg-type] # what is tested
