"""The quality of a setting: completeness and delay, computed from its results and the truth."""

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
    """The rows read are not the rows in windows, late or open: the numbers would be wrong."""


@dataclass(frozen=True)
class Measured:
    """One setting compared with the truth.

    Attributes
    ----------
    setting : Setting
        The measured setting.
    rows_in, rows_out, rows_open : int
        The measured rows, the rows in emitted windows, and the rows in open windows. In the latter
        two, a row of twelve windows counts twelve times.
    late : tuple of Report
        The rows that were late for a window.
    windows, windows_wrong : int
        The counts in the truth, one per window and destination, and the counts that differ from it,
        including missing counts.
    delays : tuple of (int, int)
        Hours from a window's end to its result, and the number of rows with this delay.
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
        """The share of late rows among all rows, 0 to 1."""
        return len(self.late) / self.rows_in

    @property
    def rows_in_windows(self) -> int:
        """The number of emitted rows, each once, if no row is in only some of its windows."""
        windows = self.setting.windows
        return self.rows_out // (windows.size // windows.every)

    def delay(self, share: float) -> int:
        """Return the hours after which this share of the rows, 0 to 1, was emitted."""
        wanted = share * sum(rows for _, rows in self.delays)
        waited = 0
        for hours, rows in self.delays:
            waited += rows
            if waited >= wanted:
                return hours
        return 0


def truth(reports: DataFrame, flights: Flights, setting: Setting) -> Counter[Window]:
    """Count the same rows with a batch query: no watermark, no late rows."""
    rows = setting.counts(reports).select(F.col("window.end").alias("end"), "dest", "rows")
    ended = rows.where((F.col("end") > flights.first) & (F.col("end") <= flights.last)).collect()
    return Counter({(row.end.astimezone(timezone.utc), row.dest): row.rows for row in ended})


def measure(trace: Trace, flights: Flights, true: Counter[Window]) -> Measured:
    """Compare the results of a query with the truth.

    Raises
    ------
    AccountsError
        For some window, the truth differs from the sum of emitted, late and open rows. Late rows
        are computed from the watermark at each row's arrival, or read from the late log, and not
        from missing rows. So this checks both the results and this module's reading of them.
    """
    results = [r for r in trace.results if flights.first < r.end <= flights.last]
    got: Counter[Window] = Counter()
    for result in results:  # a window that was idle for a while has several, each with other rows
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
    """Count the rows that each window missed, and the rows in windows that are still open."""
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
    """Return the windows that a late row missed: all of them, if the row is in the log."""
    ends = setting.windows.ends(report.scheduled)
    return {end for end in ends if setting.keeps_late_rows or end <= strike.before}


def _check_accounts(
    true: Counter[Window],
    got: Counter[Window],
    late: Counter[Window],
    waiting: Counter[Window],
    name: str,
) -> None:
    accounted = got + late + waiting  # without zero counts
    if accounted != true:
        end, dest = next(w for w in {*true, *accounted} if true[w] != accounted[w])
        window = (end, dest)
        raise AccountsError(
            f"{name}: {true[window]} flights to {dest} in the hour before {end:%d %b %H:%M}, but"
            f" {got[window]} emitted, {late[window]} late and {waiting[window]} waiting."
        )
