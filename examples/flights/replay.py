"""The replay: streaming queries that read the reports hour by hour, in the order of landing.

All settings run side by side as real streaming queries, each with a checkpoint of its own, on
Spark's own engine, and read the same rows in the same micro-batches. Only their clock is scripted:
it shows the time of the replay, so that "no report for an hour" means an hour of 2013.

**Why hours, and why a few days.** The watermark moves between micro-batches, so the period decides
what can be seen: with daily batches a whole year would fit into the time, but every delay would be
a multiple of a day and stock Spark would hardly lose a row, since most arrive in the batch of
their own departure. A micro-batch costs about a tenth of a second however few rows it has. An hour
is the length of the windows that are counted, and a few days of hours fit, with all settings. One
day is much like another in this: what a setting loses differs little from month to month.

**What an hour is.** The clock strikes; whatever is due by the clock alone happens; then the
reports that landed in the hour before arrive together, as one micro-batch; then the queries run
until they have nothing left to do. So every delay is a whole number of hours, for all alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import eventtide as et
from eventtide import _jvm
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

from examples.flights import session
from examples.flights.data import HOUR
from examples.flights.measure import AccountsError
from examples.flights.trace import Result, Strike, Top, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from examples.flights.data import Flights, Report
    from examples.flights.settings import Setting

__all__ = ["SCHEMA", "counts", "feed", "replay"]

SCHEMA = StructType(
    [
        StructField("ts", TimestampType()),
        StructField("dest", StringType()),
        StructField("band", StringType()),
    ]
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def counts(stream: DataFrame, setting: Setting) -> DataFrame:
    """Count departures by window and destination: the query of a setting.

    Returns
    -------
    DataFrame
        ``end`` of the window, ``dest``, ``rows``, and ``out``: the clock of the batch that put the
        row out, which Spark keeps in the checkpoint and repeats when a batch runs again.
    """
    return setting.counts(stream).select(
        F.col("window.end").alias("end"), "dest", "rows", F.current_timestamp().alias("out")
    )


def feed(reports: DataFrame, hour: datetime) -> DataFrame:
    """Return the micro-batch of one hour."""
    return reports.where(F.col("hour") == hour).select("ts", "dest", "band")


def replay(
    reports: DataFrame,
    flights: Flights,
    settings: Sequence[Setting],
    folder: Path,
    watch: Callable[[Sequence[Trace]], None],
) -> list[Trace]:
    """Run all settings side by side until each has closed the last window that is measured.

    Nothing is closed by force: the stream goes on with the flights of the next day, which are not
    measured, and ends when every flight that is measured has landed and no window of theirs waits.

    Parameters
    ----------
    reports : DataFrame
        The flights as `Flights.on_disk` returns them.
    flights : Flights
        The same, hour by hour.
    settings : sequence of Setting
        What runs.
    folder : Path
        Where the checkpoints go, one folder each.
    watch : callable
        Is given the traces, without results, after every hour.
    """
    script = _jvm.script(reports.sparkSession, SCHEMA)
    lanes = [
        _Lane(script, setting, folder / str(i), flights.first) for i, setting in enumerate(settings)
    ]
    traces = [lane.trace for lane in lanes]
    silent = (setting.idle_timeout or timedelta() for setting in settings)
    enough = flights.all_landed + max(silent, default=timedelta()) + HOUR
    try:
        for hour, landed in flights.by_hour.items():
            for lane in lanes:
                lane.query.set_clock_ms(_millis(hour))
            for lane in lanes:
                lane.strike()
            if landed:
                script.add_frame(feed(reports, hour))
            for lane in lanes:
                lane.settle(hour, landed)
            watch(traces)
            if hour >= enough and all(t.strikes[-1].after >= flights.last for t in traces):
                break
        for lane in lanes:
            lane.collect()
    finally:
        for lane in lanes:
            lane.query.stop()
        script.close()
    return traces


class _Lane:
    """One setting and its query."""

    def __init__(
        self,
        script: _jvm.ScriptHandle,
        setting: Setting,
        checkpoint: Path,
        start: datetime,
    ) -> None:
        self.trace = Trace(setting, checkpoint)
        self._stream = script.stream()
        result = counts(self._stream, setting)
        self.query = _jvm.scripted_query(result, "append", str(checkpoint), _millis(start))
        with session.state_store(result.sparkSession, ordered=setting.keeps_late_rows):
            self.query.start(available_now=False)
        self._before = _EPOCH

    def strike(self) -> None:
        """Let happen what is due by the clock alone."""
        if self.trace.setting.is_ours:  # stock Spark's watermark has no clock
            self.query.await_idle()
        self._before = self._watermark()

    def settle(self, hour: datetime, landed: Sequence[Report]) -> None:
        """Let the query read what has arrived, and note where it stands."""
        self.query.await_idle()
        self.trace.strikes.append(
            Strike(
                clock=hour,
                before=self._before,
                after=self._watermark(),
                landed=tuple(landed),
                late=tuple(r for r in landed if self._first_end(r) <= self._before),
                tops=self._tops() if self.trace.setting.is_ours else (),
            )
        )

    def collect(self) -> None:
        """Read the rows that came out."""
        for row in self.query.new_results().collect():
            self.trace.results.append(Result(_utc(row.end), row.dest, row.rows, _utc(row.out)))
        if self.trace.setting.keeps_late_rows:
            self._read_late_log()

    def _read_late_log(self) -> None:
        """Take for late what is in the log, and not what the watermark lets one expect."""
        log = et.read_late(self.trace.checkpoint).collect()
        logged = Counter((_utc(row.ts), row.dest, row.band) for row in log)
        self._balance(len(log))
        strikes = self.trace.strikes
        for i, strike in enumerate(strikes):
            late = [r for r in strike.landed if _take(logged, (r.scheduled, r.dest, r.band))]
            strikes[i] = replace(strike, late=tuple(late))

    def _balance(self, logged: int) -> None:
        """Check the query's own books: it has counted every row once, and logged the late ones."""
        books = et.progress(self.query.query())
        read = sum(len(strike.landed) for strike in self.trace.strikes)
        if (books.on_time + logged, sum(books.late.values())) != (read, logged):
            name = self.trace.setting.label
            raise AccountsError(
                f"{name}: {read} rows in, {books.on_time} on time, {logged} logged."
            )

    def _first_end(self, report: Report) -> datetime:
        return self.trace.setting.windows.ends(report.scheduled)[0]

    def _tops(self) -> tuple[Top, ...]:
        if self.query.last_batch_id() < 0:  # nothing has landed yet
            return ()
        inputs = et.progress(self.query.query()).inputs
        return tuple(Top(s.name, s.top, s.state == "idle") for s in inputs[0].substreams)

    def _watermark(self) -> datetime:
        return _EPOCH + timedelta(milliseconds=self.query.watermark_ms())


def _take(counted: Counter[Any], one: object) -> bool:
    """Take one of a kind, if there is one left."""
    has = counted[one] > 0
    counted[one] -= has
    return has


def _millis(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(timezone.utc)  # PySpark returns the local time of this machine
