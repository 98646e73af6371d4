"""A clock that is set back, or forward: what was measured by it, and what a query says of it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.checkpoints import set_back
from tests.spark.queries import EVENTS, at, counts
from tests.spark.window_runs import settings
from tests.thorough import smoked

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

NO_LAG = WatermarkPolicies.with_fixed_lag("0s")
BY_KEY = counts(NO_LAG, substream="key", substream_idle_timeout="1m")


@pytest.mark.smoke
def test_an_idle_timeout_goes_on_after_the_clock_was_set_back() -> None:
    """A minute of silence is a minute, whatever the clock showed before."""
    with Script(BY_KEY, EVENTS) as script:
        script.rows([(at(1), "a"), (at(1), "b")]).clock("+1h").rows([(at(2), "a"), (at(2), "b")])
        script.clock("-50m").rows([(at(31), "a")]).expect(watermark=at(2))
        script.clock("+50s").rows([(at(32), "a")]).expect(watermark=at(2))
        script.clock("+10s").expect([(0, 4), (10, 0), (20, 0)][:1], watermark=at(32))
        told = et.progress(script.streaming_query)
        assert (told.clock_steps, told.clock_corrected_by.total_seconds()) == (1, 3000)


def test_a_clock_that_was_set_back_while_the_query_rests_lets_it_tick() -> None:
    """No row comes; the silence that was measured before the step counts."""
    with Script(BY_KEY, EVENTS) as script:
        script.rows([(at(1), "a"), (at(1), "b")]).clock("+30s").rows([(at(31), "a")])
        script.clock("-1h").expect(watermark=at(1))
        script.clock("+29s").expect(watermark=at(1))
        script.clock("+1s").expect([(0, 2)], watermark=at(31))


def test_what_was_measured_before_the_clock_was_set_back_survives_a_restart() -> None:
    """The ledger has the corrected clock before the next batch."""
    with Script(BY_KEY, EVENTS) as script:
        script.rows([(at(1), "a"), (at(1), "b")]).clock("+30s").rows([(at(31), "a")])
        script.clock("-1h").restart().clock("+20s").restart().clock("+9s").expect(watermark=at(1))
        script.clock("+1s").expect([(0, 2)], watermark=at(31))
        report = et.read_checkpoint(script.checkpoint)
        assert report.watermark is not None
        assert report.watermark.clock_steps == 1


def test_a_step_back_of_a_second_is_jitter() -> None:
    """Clocks are adjusted by little every now and then: nobody is told."""
    with Script(BY_KEY, EVENTS) as script:
        script.rows([(at(1), "a"), (at(1), "b")]).clock("-1s").rows([(at(2), "a")])
        assert et.progress(script.streaming_query).clock_steps == 0
        script.clock("-1ms").rows([(at(2), "a")])
        assert et.progress(script.streaming_query).clock_steps == 1


REAL_TIME = WatermarkPolicies.limiting_real_time_lag("10s").throttle_by_frame("1s")
BY_BOTH = WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("5m", "10s").throttle_by_frame(
    "1s"
)
IN_ALL = WatermarkPolicies.min_of(
    WatermarkPolicies.limiting_real_time_lag("10s"),
    WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("5m", "10s"),
).throttle_by_frame("1s")


@pytest.mark.parametrize("policy", [REAL_TIME, BY_BOTH, IN_ALL])
def test_a_policy_that_follows_the_clock_waits_for_it(policy: et.WatermarkPolicy) -> None:
    """It stays where it was until the clock that was set back comes there again."""
    with Script(counts(policy), EVENTS, clock=at(30)) as script:
        script.rows([(at(30), "")]).clock(at(90)).expect(watermark=at(80))
        script.clock(at(60)).rows([(at(61), "")]).expect(watermark=at(80))
        script.clock(at(90)).expect(watermark=at(80)).clock(at(91)).expect(watermark=at(81))
        script.restart().clock(at(93)).expect(watermark=at(83))


def test_a_timer_keeps_to_the_multiples_of_its_interval_on_the_clock() -> None:
    """Also of a clock that was set back by something else; nothing comes between two of them."""
    with Script(counts(NO_LAG.emit_every("30s")), EVENTS, clock=at(0)) as script:
        script.clock(at(50)).rows([(at(50), "")]).clock(at(60)).expect(watermark=at(50))
        script.clock(at(13)).rows([(at(70), "")]).clock(at(59)).expect(watermark=at(50))
        script.clock(at(60)).expect(watermark=at(70))


def windows(
    write: Callable[[et.WindowBuilder], et.WindowBuilder],
) -> Callable[[DataFrame], DataFrame]:
    """Count events by windows with settings of a function."""

    def query(events: DataFrame) -> DataFrame:
        window = write(et.window(events).event_time("ts", NO_LAG).key_by("key"))
        return window.tumbling("10s").agg(F.count("*").alias("n")).results.select("key", "n")

    return query


def test_the_timers_of_keys_go_on_after_the_clock_was_set_back() -> None:
    """A key's silence, and the time until an early result."""
    with Script(windows(lambda window: window.key_idle_timeout("1m")), EVENTS) as script:
        script.rows([(at(1), "a")]).clock("+40s").rows([(at(1), "b")]).clock("-1h")
        script.clock("+19s").expect([]).clock("+1s").expect([("a", 1)])
        script.clock("+1m").expect([("b", 1)])


def test_an_early_result_comes_in_time_after_the_clock_was_set_back() -> None:
    """The time until it was measured by the clock before."""
    early = et.WindowTrigger.every("30s")
    with Script(windows(lambda window: window.emit(early)), EVENTS) as script:
        script.rows([(at(1), "a")]).clock("-1h").clock("+29s").expect([])
        script.clock("+1s").expect([("a", 1)])


def jumped(query: Callable[[DataFrame], DataFrame], by: str) -> Script:
    """Run a query whose clock jumps between two batches; it may have ended."""
    script = Script(query, EVENTS, clock=at(30))
    script.rows([(at(30), "a")])
    with contextlib.suppress(et.errors.ClockError):
        script.clock(by, jumps=True)
    return script


LULL = WatermarkPolicies.limiting_lag_and_lull("2s", "5s").throttle_by_frame("1s")


@pytest.mark.parametrize("policy", smoked([REAL_TIME, BY_BOTH, LULL], of=[BY_BOTH]))
def test_a_clock_that_runs_ahead_stops_a_query_whose_policy_follows_it(
    policy: et.WatermarkPolicy,
) -> None:
    """Before the offset of a batch is written; with the right clock it goes on."""
    with jumped(counts(policy), "+10m") as script:
        begun = et.read_checkpoint(script.checkpoint).begun
        with pytest.raises(et.errors.ClockError, match="jumped forward by 10m;"), et.named_errors():
            script.streaming_query.processAllAvailable()
        report = et.read_checkpoint(script.checkpoint)
        assert report.begun == begun == report.committed
        assert report.problems == ()
        script.restart(clock=at(40)).rows([(at(41), "a")])
        assert script.watermark < "2024-01-01T00:00:42Z"


def test_a_clock_that_runs_ahead_by_less_is_followed() -> None:
    """Five minutes unless the watermark or the session says otherwise."""
    with jumped(counts(REAL_TIME), "+5m") as script:
        script.expect(watermark=at(320))
    with jumped(counts(REAL_TIME, max_clock_step="1h"), "+1h") as script:
        script.expect(watermark=at(3620))
    with (
        jumped(counts(REAL_TIME, max_clock_step="1m"), "+61s") as script,
        pytest.raises(et.errors.ClockError, match="allowed are 1m"),
        et.named_errors(),
    ):
        script.streaming_query.processAllAvailable()


def test_a_query_whose_policy_goes_by_rows_goes_on_when_the_clock_runs_ahead() -> None:
    """It warns, as idle timeouts go by the clock."""
    with jumped(BY_KEY, "+10m") as script:
        script.rows([(at(31), "a")]).expect(watermark=at(31))


AT_START = {"spark.eventtide.maxClockStepAtStart": "7d"}


def written(checkpoint: str) -> dict[str, bytes]:
    """Return all files of a checkpoint."""
    files = (file for file in Path(checkpoint).rglob("*") if file.is_file())
    return {str(file): file.read_bytes() for file in files}


def test_time_in_which_a_query_was_down_is_no_step_unless_a_limit_is_set(
    spark: SparkSession,
) -> None:
    """The next start goes on after a month, or is refused where the user wants to be asked."""
    with Script(counts(REAL_TIME), EVENTS, clock=at(30)) as script:
        script.rows([(at(30), "a")]).restart(clock="+30d").stop()
        before = written(script.checkpoint)
        with settings(spark, AT_START):
            with pytest.raises(et.errors.ClockError, match="30d after the last"), et.named_errors():
                script.restart(clock="+30d")
            assert written(script.checkpoint) == before
        script.restart().rows([(at(31), "a")])


@pytest.mark.parametrize("by", ["+30d", "-30d"])
def test_the_clock_at_a_start_is_looked_at_if_a_batch_has_to_be_run_again(
    spark: SparkSession, by: str
) -> None:
    """As after a kill, which may have taken machine and clock; the batch that was begun counts."""
    with Script(counts(REAL_TIME), EVENTS, clock=at(30)) as script:
        script.rows([(at(30), "a")]).clock("+8d").rows([("2024-01-09", "a")])
        batch = script.last_batch
        script.stop()
        set_back(Path(script.checkpoint), batch, ())
        before = written(script.checkpoint)
        with settings(spark, AT_START):
            with pytest.raises(et.errors.ClockError, match="30d "), et.named_errors():
                script.restart(clock=by)
            assert written(script.checkpoint) == before
            script.restart(clock="-30d" if by == "+30d" else "+30d").rows([("2024-01-09", "a")])


@pytest.mark.parametrize(("clock", "left"), [("+20h", 0), ("+2d", 1)])
def test_a_clock_that_may_be_wrong_removes_no_late_rows_if_a_batch_has_to_be_run_again(
    spark: SparkSession, clock: str, left: int
) -> None:
    """They are kept for an hour by a clock that is right."""

    def kept(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", NO_LAG).key_by("key").tumbling("10s")
        return window.late_retention("1h").agg(F.count("*").alias("n")).results

    with (
        settings(spark, {"spark.sql.streaming.minBatchesToRetain": "2"}),
        Script(kept, EVENTS) as script,
    ):
        script.rows([(at(31), "a")], [(at(32), "a")], [(at(1), "late")], [(at(41), "a")])
        assert et.read_late(script.checkpoint).count() == 1
        batch = script.last_batch
        script.stop()
        set_back(Path(script.checkpoint), batch, ())
        script.restart(clock=clock).rows(*([(at(second), "a")] for second in range(50, 54)))
        assert et.read_late(script.checkpoint).count() == left


@pytest.mark.parametrize("setting", ["maxClockStep", "maxClockStepAtStart", "warn.stuckFor"])
def test_a_setting_of_the_session_that_is_no_time_is_refused(
    spark: SparkSession, setting: str
) -> None:
    """Before anything is written: another run on the checkpoint goes on as if nothing were."""
    with Script(counts(REAL_TIME), EVENTS) as script:
        script.rows([(at(1), "a")]).stop()
        before = written(script.checkpoint)
        with settings(spark, {f"spark.eventtide.{setting}": "none"}):
            with pytest.raises(et.errors.InvalidArgumentError, match=setting), et.named_errors():
                script.restart()
            assert written(script.checkpoint) == before
        script.restart().rows([(at(2), "a")])
