"""What a setting is worth: completeness and delay, computed from its results and the truth."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from examples.flights.data import HOUR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from examples.flights.data import Flights, Report
    from examples.flights.settings import Setting
    from examples.flights.trace import Strike, Trace

__all__ = ["AccountsError", "Measured", "Window", "measure", "truth"]

Window: TypeAlias = tuple[datetime, str]
"""The end of a window, and a destination."""


class AccountsError(AssertionError):
    """Rows in are not rows in windows, late and open: the numbers would not be honest."""


@dataclass(frozen=True)
class Measured:
    """One setting beside the truth.

    Attributes
    ----------
    setting : Setting
        What was measured.
    rows_in, rows_out, rows_open : int
        Rows that are measured; those in windows that came out; those in windows still open. In the
        latter two a row of twelve windows is there twelve times.
    late : tuple of Report
        The rows that came too late for a window.
    windows, windows_wrong : int
        Counts (one a window and destination) that the truth has, and those that differ from it,
        missing ones included.
    delays : tuple of (int, int)
        Hours from a window's end to its result, and how many rows waited that long.
    """

    setting: Setting
    rows_in: int
    rows_out: int
    rows_open: int
    late: tuple[Report, ...]
    windows: int
    windows_wrong: int
    delays: tuple[tuple[int, int], ...]

    @property
    def late_share(self) -> float:
        """Late rows as a part of all rows, 0 to 1."""
        return len(self.late) / self.rows_in

    @property
    def rows_in_windows(self) -> int:
        """How many rows came out, each once, where none is in some of its windows only."""
        windows = self.setting.windows
        return self.rows_out // (windows.size // windows.every)

    def delay(self, share: float) -> int:
        """Return after how many hours that share of the rows, 0 to 1, was out."""
        wanted = share * sum(rows for _, rows in self.delays)
        waited = 0
        for hours, rows in self.delays:
            waited += rows
            if waited >= wanted:
                return hours
        return 0


def truth(reports: DataFrame, flights: Flights, setting: Setting) -> Counter[Window]:
    """Count the same rows with a batch query: no watermark, nothing late."""
    rows = setting.counts(reports).select(F.col("window.end").alias("end"), "dest", "rows")
    ended = rows.where((F.col("end") > flights.first) & (F.col("end") <= flights.last)).collect()
    return Counter({(row.end.astimezone(timezone.utc), row.dest): row.rows for row in ended})


def measure(trace: Trace, flights: Flights, true: Counter[Window]) -> Measured:
    """Compare what came out of a query with the truth.

    Raises
    ------
    AccountsError
        For any window, the truth is not what came out plus what was late plus what is open. Late
        is worked out from the watermark that each row met, or read from the late log, and not
        from what is missing: so this is a check of the results and of our reading of them.
    """
    results = [r for r in trace.results if flights.first < r.end <= flights.last]
    got: Counter[Window] = Counter()
    for result in results:  # a window that was silent for a while has several, of other rows each
        got[result.end, result.dest] += result.rows
    missed, waiting = _apart(trace, flights)
    _check_accounts(true, got, missed, waiting, trace.setting.name)
    delays: Counter[int] = Counter()
    for result in results:
        delays[(result.out - result.end) // HOUR] += result.rows
    return Measured(
        setting=trace.setting,
        rows_in=sum(1 for _ in flights.measured()),
        rows_out=got.total(),
        rows_open=waiting.total(),
        late=tuple(r for s in trace.strikes for r in s.late if flights.is_measured(r)),
        windows=len(true),
        windows_wrong=sum(got[window] != rows for window, rows in true.items()),
        delays=tuple(sorted(delays.items())),
    )


def _apart(trace: Trace, flights: Flights) -> tuple[Counter[Window], Counter[Window]]:
    """Count the rows that each window missed, and those that wait in one that is still open."""
    missed: Counter[Window] = Counter()
    waiting: Counter[Window] = Counter()
    last = trace.strikes[-1].after
    for strike in trace.strikes:
        late = Counter(strike.late)
        for report in strike.landed:
            gone = _gone(report, strike, trace.setting) if late[report] else set()
            late[report] -= bool(late[report])
            for end in trace.setting.windows.ends(report.scheduled):
                if end in gone:
                    missed[end, report.dest] += end <= flights.last
                elif end > last:
                    waiting[end, report.dest] += end <= flights.last
    return missed, waiting


def _gone(report: Report, strike: Strike, setting: Setting) -> set[datetime]:
    """Return the windows that a late row missed: all of them, if it is in the log instead."""
    ends = setting.windows.ends(report.scheduled)
    return {end for end in ends if setting.keeps_late_rows or end <= strike.before}


def _check_accounts(
    true: Counter[Window],
    got: Counter[Window],
    late: Counter[Window],
    waiting: Counter[Window],
    name: str,
) -> None:
    accounted = got + late + waiting  # without those that are 0
    if accounted != true:
        end, dest = next(w for w in {*true, *accounted} if true[w] != accounted[w])
        window = (end, dest)
        raise AccountsError(
            f"{name}: {true[window]} flights to {dest} in the hour before {end:%d %b %H:%M}, but"
            f" {got[window]} came out, {late[window]} were late, {waiting[window]} are waiting."
        )
