"""The replay: streaming queries that read the reports hour by hour, in the order of landing.

All settings run in parallel as real streaming queries on Spark's engine, each with its own
checkpoint. They read the same rows in the same micro-batches. Only their clock is scripted: it
shows the time of the replay, so that "no report for an hour" means an hour of 2013.

**Why hours, and why a few days.** The watermark moves between micro-batches, so the period limits
the visible effects. Daily batches of a whole year would fit into the time, but every delay would be
a multiple of a day. Stock Spark would hardly lose a row, because most rows arrive in the batch of
their departure. A micro-batch costs about a tenth of a second, even with few rows. An hour is the
length of the counted windows, and a few days of hours fit, with all settings. Days are similar in
this respect: the lost rows of a setting differ little from month to month.

**What an hour is.** First the clock advances by an hour, and its effects without rows take place.
Then the reports that landed in the previous hour arrive together, as one micro-batch. Then the
queries run until they have no more work. So every delay is a whole number of hours, for all
settings.
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
        ``end`` of the window, ``dest``, ``rows``, and ``out``: the clock of the batch that emitted
        the row, which Spark keeps in the checkpoint and repeats in a replayed batch.
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
    """Run all settings in parallel until each has closed the last measured window.

    No window is closed by force: the stream continues with the flights of the next day, which are
    not measured. It ends when every measured flight has landed and all measured windows have
    closed.

    Parameters
    ----------
    reports : DataFrame
        The flights as `Flights.on_disk` returns them.
    flights : Flights
        The same flights, hour by hour.
    settings : sequence of Setting
        The settings to run.
    folder : Path
        The folder of the checkpoints, with one subfolder per setting.
    watch : callable
        A function that is called with the traces, without results, after every hour.
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
        """Run the batch that the clock alone requests."""
        if self.trace.setting.is_ours:  # stock Spark's watermark has no clock
            self.query.await_idle()
        self._before = self._watermark()

    def settle(self, hour: datetime, landed: Sequence[Report]) -> None:
        """Let the query read the arrived rows, and record its state."""
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
        """Read the emitted rows."""
        for row in self.query.new_results().collect():
            self.trace.results.append(Result(_utc(row.end), row.dest, row.rows, _utc(row.out)))
        if self.trace.setting.keeps_late_rows:
            self._read_late_log()

    def _read_late_log(self) -> None:
        """Use the rows in the log as late rows, not the rows that the watermark suggests."""
        log = et.read_late(self.trace.checkpoint).collect()
        logged = Counter((_utc(row.ts), row.dest, row.band) for row in log)
        self._balance(len(log))
        strikes = self.trace.strikes
        for i, strike in enumerate(strikes):
            late = [r for r in strike.landed if _take(logged, (r.scheduled, r.dest, r.band))]
            strikes[i] = replace(strike, late=tuple(late))

    def _balance(self, logged: int) -> None:
        """Check the query's counts: it has counted every row once, and logged the late rows."""
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
        if self.query.last_batch_id() < 0:  # no flight has landed yet
            return ()
        inputs = et.progress(self.query.query()).inputs
        return tuple(Top(s.name, s.top, s.state == "idle") for s in inputs[0].substreams)

    def _watermark(self) -> datetime:
        return _EPOCH + timedelta(milliseconds=self.query.watermark_ms())


def _take(counted: Counter[Any], one: object) -> bool:
    """Remove one item of a kind, if there is one left."""
    has = counted[one] > 0
    counted[one] -= has
    return has


def _millis(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(timezone.utc)  # PySpark returns the local time of this machine
