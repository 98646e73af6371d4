"""Policies of users' own, in Python and in a jar: queries, errors, restarts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import (
    CheckpointError,
    InvalidArgumentError,
    PolicyError,
)
from eventtide.policies import BatchTimes, PythonPolicy
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.events import Disorder, cut
from tests.spark.policy_jar import compiled
from tests.spark.queries import EVENTS, at, counts
from tests.spark.window_runs import WindowRun, settings
from tests.unit.own_policies import BROKEN, Broken, Trimmed

if TYPE_CHECKING:
    from eventtide import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[2]
FIVE = timedelta(seconds=5)
TRIMMED = Trimmed(FIVE, timedelta(seconds=20))


@pytest.mark.smoke
def test_it_moves_the_watermark_of_a_query() -> None:
    """By the rows on time of each batch; a restart goes on with its state."""
    with Script(counts(TRIMMED), EVENTS) as script:
        script.rows([(at(7), "a"), (at(12), "a")]).expect(watermark=at(7)[:19])
        script.rows([(at(600), "a")]).expect(watermark=at(27)[:19], results=[(0, 1), (10, 1)])
        script.stop().restart()
        script.rows([(at(601), "a")]).expect(watermark=at(47)[:19])
        script.clock("+1h").expect(watermark=at(47)[:19])


def test_each_substream_has_its_own_state() -> None:
    """One object serves them all."""
    with Script(counts(TRIMMED, substream="key"), EVENTS) as script:
        script.rows([(at(10), "a"), (at(20), "b")]).expect(watermark=at(5)[:19])
        script.rows([(at(900), "a")]).expect(watermark=at(15)[:19])
        script.rows([(at(900), "b")]).expect(watermark=at(25)[:19])


def test_it_is_combined_and_throttled_like_the_others() -> None:
    """The clock moves the other one."""
    policy = WatermarkPolicies.max_of(TRIMMED, WatermarkPolicies.limiting_real_time_lag("10s"))
    with Script(counts(policy.throttle_by_frame("10s")), EVENTS) as script:
        script.rows([(at(29), "a")]).expect(watermark=at(20)[:19])
        script.clock(at(45)).expect(watermark=at(30)[:19])


def by_site(policy: et.WatermarkPolicy) -> Any:
    """Return windows in the time of a policy."""

    def window(events: DataFrame) -> WindowBuilder:
        rows = et.window(events).event_time("ts", policy).key_by("user")
        return rows.sliding("12s", every="4s").agg(F.count("*").alias("n"))

    return window


def test_set_back_to_any_step_it_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """As after a kill: what a batch had written is lost, from the last thing to the first."""
    batches = cut(Disorder(seed=5, late_by=40, gap=0.8).events(120), seed=5, batches=4)
    run = WindowRun(spark, by_site(Trimmed(timedelta(seconds=3))), batches)
    run.gives_the_same_again(tmp_path)


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_wrong_with_it_stops_the_query(how: str) -> None:
    """By name, before the watermark is written; a policy that is right goes on."""

    class Mended(PythonPolicy):
        name: ClassVar[str] = "Mended"
        broken: ClassVar[bool] = True
        how: str

        def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
            """Do as `Broken` does, until it is mended."""
            if self.broken:
                return Broken(self.how).advance(times, state)
            return times.highest, 1

    said = {"goes back": "moved its watermark back"}.get(how, BROKEN[how])
    with Script(counts(Mended(how)), EVENTS) as script:
        script.rows([(at(7), "a")]).expect(watermark=at(7)[:19])
        with pytest.raises(PolicyError, match="python:Mended") as failed:
            script.rows([(at(30), "a")])
        assert said in str(failed.value)
        assert failed.value.condition == "POLICY_FAILED"
        Mended.broken = False
        script.restart().expect(watermark=at(30)[:19], results=[(0, 1)])


def test_one_that_blocks_stops_the_query(spark: SparkSession) -> None:
    """After `policyTimeout`, whatever it waits for."""
    free = threading.Event()

    class Blocking(PythonPolicy):
        def advance(self, times: BatchTimes, state: Any) -> tuple[Any, Any]:
            """Wait at the second batch."""
            if state is not None:
                free.wait(60)
            return times.highest, 1

    with settings(spark, {"spark.eventtide.policyTimeout": "1s"}):  # noqa: SIM117 - see above
        with Script(counts(Blocking()), EVENTS, session=spark) as script:
            script.rows([(at(7), "a")])
            with pytest.raises(
                PolicyError, match=r"python:Blocking in a batch took more than 1s"
            ) as failed:
                script.rows([(at(30), "a")])
            assert failed.value.condition == "POLICY_BLOCKED"
            free.set()
            script.restart().expect(watermark=at(30)[:19], results=[(0, 1)])


def test_a_wrong_timeout_is_refused(spark: SparkSession) -> None:
    """As every setting of the session."""
    with (
        settings(spark, {"spark.eventtide.policyTimeout": "soon"}),
        pytest.raises(InvalidArgumentError, match="policyTimeout"),
        Script(counts(TRIMMED), EVENTS, session=spark) as script,
    ):
        script.rows([(at(7), "a")])


def test_another_class_cannot_go_on_from_its_state(tmp_path: Path) -> None:
    """Other parameters can."""

    class Other(Trimmed):
        pass

    def script(policy: et.WatermarkPolicy) -> Script:
        return Script(counts(policy), EVENTS, checkpoint=str(tmp_path))

    with script(TRIMMED) as before:
        before.rows([(at(40), "a")]).expect(watermark=at(35)[:19])
    with script(Trimmed(timedelta(seconds=1), timedelta(seconds=20))) as after:
        after.rows([(at(40), "a")], [(at(50), "a")]).expect(watermark=at(49)[:19])
    with pytest.raises(CheckpointError, match=r"policy: python:Trimmed .* python:Other"):
        script(Other(FIVE))


def test_it_is_not_for_the_time_of_keys(spark: SparkSession) -> None:
    """Their watermarks are computed in tasks."""
    events = spark.readStream.format("rate").load()
    window = et.window(events).event_time("timestamp", TRIMMED).key_by("value")
    window = window.watermark_scope("key").tumbling("10s").agg(F.count("*").alias("n"))
    with pytest.raises(InvalidArgumentError, match="not on the driver only"):
        _ = window.results


JOB = """
import sys
import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import SparkSession, functions as F
from tests.spark.queries import EVENTS, at, counts

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.shuffle.partitions", "1")
builder = builder.config("spark.sql.session.timeZone", "UTC")
spark = et.configure(builder.config("spark.jars", sys.argv[1])).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
limited = WatermarkPolicies.from_jar("limited_lag", lag="5s", limit="20000 days")

with Script(counts(limited, substream="key"), EVENTS, session=spark) as script:
    script.rows([(at(7), "a"), (at(31), "b")]).expect(watermark=at(2)[:19])
    script.rows([(at(41), "a")]).expect(watermark=at(26)[:19], results=[(0, 1)])
    script.stop().restart().rows([(at(51), "b")]).expect(watermark=at(36)[:19])

for written in (
    "limited_lag('5s', limit => '20000 days')",
    "'limited_lag', limit => INTERVAL '20000' DAY, lag => '5s'",
):
    def in_sql(events):
        rows = f"eventtide_watermark(TABLE({{events}}), ts, {written}, substream => key)"
        marked = spark.sql("SELECT * FROM " + rows, events=events)
        return marked.groupBy(F.window("ts", "10 seconds")).count().select("count")

    with Script(in_sql, EVENTS, session=spark) as script:
        script.rows([(at(7), "a"), (at(31), "b")]).expect(watermark=at(2)[:19])

def by_key(policy):
    def query(events):
        window = et.window(events).event_time("ts", policy).key_by("key").watermark_scope("key")
        counts = window.tumbling("10s").agg(F.count("*").alias("n")).results
        return counts.select(F.unix_timestamp("window.start") % 3600, "key", "n")
    return query

with Script(by_key(limited), EVENTS, session=spark) as script:
    script.rows([(at(7), "a"), (at(7), "b"), (at(31), "b")]).expect(results=[(0, "b", 1)])

throwing = WatermarkPolicies.from_jar("throwing")
for query in counts(throwing), by_key(throwing):
    with Script(query, EVENTS, session=spark) as script:
        script.rows([(at(7), "a")])
        try:
            script.rows([(at(13), "a")])
        except et.errors.PolicyError as error:
            print(error)
        else:
            raise SystemExit("not refused")

with Script(counts(throwing), EVENTS, session=spark) as script:
    script.rows([(at(7), "a")])
    try:
        script.rows([(at(19), "a")])
    except et.errors.PolicyError as error:
        print(error)
    print("The last report is of batch", et.progress(script.streaming_query).batch_id)

spark.conf.set("spark.eventtide.policyTimeout", "1s")
with Script(counts(throwing), EVENTS, session=spark) as script:
    try:
        script.rows([(at(17), "a")])
    except et.errors.PolicyError as error:
        print(error)
for name, values in ("limitless", {}), ("limited_lag", {"lag": "5s"}), ("limited_lag", {"lag": 5}):
    try:
        Script(counts(WatermarkPolicies.from_jar(name, **values)), EVENTS, session=spark)
    except et.errors.InvalidArgumentError as error:
        print(error)
"""


@pytest.mark.long
def test_one_of_a_jar(tmp_path: Path) -> None:
    """The laws; the time of a query and of keys; what fails, blocks or does not exist."""
    job = tmp_path / "job.py"
    job.write_text(JOB, "utf-8")
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, job, compiled(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    failed = "The policy throwing failed: observe failed with java.lang.IllegalStateException: unlu"
    assert [failed in line for line in said] == [True, True, *[False] * 6]
    for part, line in zip(
        [
            "The policy throwing failed: dueAt failed with java.lang.IllegalStateException: unl",
            "The last report is of batch",
            "The calls of the policy throwing in a batch took more than 1s",
            "'limitless'; allowed are with_fixed_lag, ",
            "'limit' is missing",
            "lag",
        ],
        said[2:],
        strict=True,
    ):
        assert part in line
