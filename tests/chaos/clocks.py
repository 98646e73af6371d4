"""A clock that is set forward and back, under every policy; time is scripted.

The clock goes on for some batches, jumps, stays wrong for a while, is corrected, and goes on. It
jumps within a run, or is wrong from one start on; and a limit of the clock's steps is set or not.
A query may refuse to go on, or to start, by `ClockError` alone: then the right clock and a plain
restart have to suffice. A policy that follows the clock may go where it goes; the books have to
balance all the same: each row is once in the results or in the files of the late log. The watermark
never goes back. A policy that goes by rows gives the results of a quiet run, before the last rows
and in all; in a quiet run, the silent substream has become idle before the last rows.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from threading import Timer
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import WatermarkPolicies
from eventtide.errors import ClockError
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.chaos.late_log import LateLog
from tests.chaos.session import session
from tests.chaos.trial import said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eventtide import WatermarkPolicy, WindowBuilder
    from pyspark.sql import DataFrame, Row, SparkSession

    from tests.chaos.figures import Figures, Limits, Trial

    Reached = tuple[str, Counter[str]]

P = WatermarkPolicies
POLICIES: dict[str, WatermarkPolicy] = {
    "with_fixed_lag": P.with_fixed_lag("5s"),
    "max_event_time": P.max_event_time(),
    "min_event_time": P.min_event_time(),
    "limiting_lag_and_delay": P.limiting_lag_and_delay("5s", max_delay="20s"),
    "limiting_lag_and_lull": P.limiting_lag_and_lull("5s", max_lull="30s"),
    "limiting_real_time_lag": P.limiting_real_time_lag("10s"),
    "limiting_timestamp_and_wall_clock_lag": P.limiting_timestamp_and_wall_clock_lag("5s", "20s"),
    "min_of": P.min_of(P.with_fixed_lag("5s"), P.limiting_real_time_lag("10s")),
    "max_of": P.max_of(P.with_fixed_lag("5s"), P.limiting_real_time_lag("30s")),
    "guard_future": P.with_fixed_lag("5s").guard_future("1m", on="late"),
    "emit_every": P.with_fixed_lag("5s").emit_every("10s"),
    "with_late_target": P.with_late_target("10%", "1m"),
    "with_ingestion_time": P.with_ingestion_time(),
    "storm": P.storm("5s"),
    "min_event_time_of_all": P.min_event_time_of_all(),
    "watermark_from": P.watermark_from("mark"),
    "by_substream": P.by_substream(
        {"a": P.limiting_real_time_lag("10s"), "*": P.with_fixed_lag("5s")}
    ),
    "throttle_by_frame": P.with_fixed_lag("5s").throttle_by_frame("10s"),
    "throttle_by_min_step": P.with_fixed_lag("5s").throttle_by_min_step("10s"),
}
BY_ROWS = (
    *("with_fixed_lag", "max_event_time", "min_event_time", "with_late_target", "storm"),
    *("min_event_time_of_all", "watermark_from", "throttle_by_frame", "throttle_by_min_step"),
)
JUMPS = {
    "an hour ahead": ["+1h"],
    "an hour back": ["-1h"],
    "ten years ahead": ["+3650d"],
    "ten years back": ["-3650d"],
    "back and forth": ["-1h", "+2h", "-1h"],
    "forth and back": ["+3650d", "-7300d", "+3650d"],
}
WITHIN, BETWEEN = "within a run", "between runs"
AT_START = "spark.eventtide.maxClockStepAtStart"
SCHEMA = "ts timestamp, sensor string, id int"
HALVES = 10  # of a minute
WRONG, RESTART, SILENT = 3, 7, 6  # at which of them the clock is wrong, and so on
LAST = 2  # rows that may be in a window which is still open
LAST_OF_B = 149  # seconds, at which the second sensor has its last row before it is silent
PATIENCE = 300.0  # seconds: thirty times what a case takes
NOON = datetime(2024, 5, 1, 12)  # noqa: DTZ001 - text in UTC


@dataclass(frozen=True)
class Case:
    """A policy and what the clock does to it.

    Attributes
    ----------
    kind, jump : str
        Of `POLICIES` and `JUMPS`.
    where : str
        `WITHIN` or `BETWEEN`.
    limited : bool
        Whether a limit is set that an hour meets: at a start there is none otherwise, within a run
        it is five minutes. Where it is not set within a run, it is ten days.
    """

    kind: str
    jump: str
    where: str
    limited: bool


def query(case: Case) -> Callable[[DataFrame], WindowBuilder]:
    """Count by windows; a sensor that is silent for a minute is waited for no more."""

    def made(events: DataFrame) -> WindowBuilder:
        marked = events.withColumn("mark", F.expr("ts - INTERVAL 5 SECONDS"))
        window = et.window(marked).event_time(
            "ts",
            POLICIES[case.kind],
            substream="sensor",
            expected=["a", "b"] if case.kind == "storm" else None,
            substream_idle_timeout="1m",
            max_clock_step="5m" if case.limited else "10d",
        )
        ids = F.sort_array(F.collect_list("id")).alias("ids")
        return window.key_by("sensor").tumbling("10s").agg(ids)

    return made


class Play:
    """One script: rows each half minute; the second sensor is silent from the third minute on."""

    def __init__(self, case: Case, jumps: list[str]) -> None:
        self._case, self._jumps = case, jumps
        self.results: list[Row] = []
        self.violations: list[str] = []
        self.refusals = 0
        self.before_last: Reached = "", Counter()
        self._rows, self._mark = 0, ""

    def run(self) -> None:
        """Play it, and keep what does not hold."""
        with Script(query(self._case), SCHEMA, clock=_at(0)) as script:
            for half in range(1, HALVES):
                script.clock(_at(half * 30))
                if half == WRONG:
                    self._wrong(script)
                if half == RESTART:
                    script.restart()
                self._give(script, half * 30 - 1, "ab" if half < SILENT else "a")
            self.before_last = script.watermark, Counter(map(str, self.results))
            for hours in 1, 2:  # closes what time can close
                script.clock(_at(HALVES * 30 + 3600 * hours))
                self._give(script, HALVES * 30 + 3600 * hours, "ab")
            self.results += script.clock("+1m").results()
            self._balance(script)

    def _give(self, script: Script, second: int, sensors: str) -> None:
        script.rows([(_at(second), sensor, self._rows + n) for n, sensor in enumerate(sensors)])
        self._rows += len(sensors)
        if script.watermark < self._mark:
            self.violations.append(f"watermark: {script.watermark} after {self._mark}")
        self._mark = script.watermark
        self.results += script.results()

    def _wrong(self, script: Script) -> None:
        for jump in self._jumps:
            self._unless_refused(script, jump)
            self._give(script, WRONG * 30 - 2, "ab")
        self._unless_refused(script, _at(WRONG * 30), within=True)

    def _unless_refused(self, script: Script, clock: str, *, within: bool = False) -> None:
        """Set the clock; where the query does not go on with it, go on with the right one."""
        try:
            with et.named_errors():
                if within or self._case.where == WITHIN:
                    script.clock(clock, jumps=True)
                else:
                    script.restart(clock=clock)
                script.streaming_query.processAllAvailable()
        except ClockError:
            self.refusals += 1
            script.restart(clock=_at(WRONG * 30))

    def _balance(self, script: Script) -> None:
        told = et.progress(script.streaming_query)
        refused = told.bad_time + told.future
        known = told.on_time + sum(told.late.values()) + refused
        if known != self._rows:
            parts = f"{told.on_time} in windows, {dict(told.late)} late, {refused} refused"
            self.violations.append(f"conservation: {self._rows} rows read, {parts}")
        self.violations += self._astray(LateLog(Path(script.checkpoint)).ids())

    def _astray(self, late: list[int]) -> Iterator[str]:
        """Yield which rows are not exactly once in results or files, but for the last ones."""
        times = Counter(late)
        times.update(n for row in self.results for n in row.ids)
        if twice := [n for n, found in times.items() if found > 1]:
            yield f"conservation: {len(twice)} rows are given twice, such as {min(twice)}"
        if lost := set(range(self._rows - LAST)) - times.keys():
            yield f"conservation: {len(lost)} rows are nowhere, such as {min(lost)}"


@cache
def quiet(policy: str, jumps: int) -> Play:
    """Return a play where the clock is always right, and the silent sensor is idle in time."""
    play = Play(Case(policy, "none", WITHIN, limited=False), ["+0s"] * jumps)
    play.run()
    if (reached := play.before_last[0]) <= f"{_at(LAST_OF_B).replace(' ', 'T')}Z":
        play.violations.append(f"idle: the watermark of a quiet run has reached {reached} only")
    return play


def differences(play: Play, beside: Play) -> Iterator[str]:
    """Yield in what a play differs from one where the clock is always right."""
    (mark, early), (quiet_mark, quiet_early) = play.before_last, beside.before_last
    if mark != quiet_mark:
        yield f"watermark: {mark} before the last rows, {quiet_mark} in a quiet run"
    got, wanted = (Counter(map(str, each.results)) for each in (play, beside))
    for name, ours, theirs in ("results", got, wanted), ("early results", early, quiet_early):
        if differ := (ours - theirs) | (theirs - ours):
            yield f"{name}: {len(differ)} differ, such as {min(differ)}"


def refusals(case: Case) -> int | None:
    """Return how often a limit has to refuse; None where it depends on more than the limit."""
    jumps = len(JUMPS[case.jump])
    if case.where == BETWEEN:  # each start is limited, and the right clock after a wrong one
        return (3 if jumps > 1 else 1) if case.limited else None
    follows_clock = case.kind not in {*BY_ROWS, "guard_future", "emit_every"}
    is_too_far = case.limited or any("0d" in each for each in JUMPS[case.jump])
    return (2 if jumps > 1 else 1) if follows_clock and is_too_far else 0


def one(spark: SparkSession, case: Case) -> Play:
    """Play a case, which keeps what does not hold."""
    play = Play(case, JUMPS[case.jump])
    if case.limited and case.where == BETWEEN:
        spark.conf.set(AT_START, "5m")
    try:
        play.run()
        if (wanted := refusals(case)) not in {None, play.refusals}:
            play.violations.append(f"limit: it has refused {play.refusals} times, not {wanted}")
        if case.kind in BY_ROWS:
            beside = quiet(case.kind, len(JUMPS[case.jump]))
            play.violations += [*beside.violations, *differences(play, beside)]
    except et.EventtideError as error:
        play.violations.append(f"plain restart: {said(error)}")
    except Exception as error:  # noqa: BLE001 - it is a violation
        play.violations.append(f"unnamed error: {said(error)}")
    finally:
        spark.conf.unset(AT_START)
    return play


def _at(seconds: int) -> str:
    return str(NOON + timedelta(seconds=seconds))


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Try all cases in an order that the seed gives, as far as they are not done."""
    spark, failed = session(), list[dict[str, Any]]()
    spark.conf.set("spark.sql.streaming.forceDeleteTempCheckpointLocation", "true")
    done = figures.done()
    cases = [Case(*each) for each in product(POLICIES, JUMPS, (WITHIN, BETWEEN), (False, True))]
    Random(limits.seed).shuffle(cases)  # noqa: S311 - test data
    left = [case for case in cases if tuple(asdict(case).values()) not in done]
    for case in left[: limits.trials]:
        if time.monotonic() > limits.until:
            break
        at, about = time.monotonic(), asdict(case) | {"seed": limits.seed}
        hung = Timer(PATIENCE, _hung, (figures, about))
        hung.start()
        play = one(spark, case)
        hung.cancel()
        about |= {"refusals": play.refusals, "violations": play.violations}
        trial = figures.add(**about, seconds=round(time.monotonic() - at, 1))
        if play.violations:
            failed.append(trial)
    return failed


def _hung(figures: Figures, about: Trial) -> None:
    """Note a case that does not end, and end the process: the next one goes on."""
    figures.add(**about, violations=["it hangs"], seconds=PATIENCE)
    os._exit(1)
