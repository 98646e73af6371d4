"""What a setting is worth: completeness and delay, computed from its results and the truth."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from eventtide.lab.data import HOUR, window_end

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from eventtide.lab.data import Flights, Report
    from eventtide.lab.replay import Trace
    from eventtide.lab.settings import Setting

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
        Rows that are measured; those in windows that came out; those in windows still open.
    late : tuple of Report
        The rows that came too late for their window.
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

    def delay(self, share: float) -> int:
        """Return after how many hours that share of the rows, 0 to 1, was out."""
        wanted = share * sum(rows for _, rows in self.delays)
        waited = 0
        for hours, rows in self.delays:
            waited += rows
            if waited >= wanted:
                return hours
        return 0


def truth(reports: DataFrame, flights: Flights) -> Counter[Window]:
    """Count the same rows with a batch query: no watermark, nothing late."""
    rows = (
        reports.where((F.col("ts") >= flights.first) & (F.col("ts") < flights.last))
        .groupBy(F.window("ts", "1 hour"), "dest")
        .agg(F.count("*").alias("rows"))
        .select(F.col("window.end").alias("end"), "dest", "rows")
        .collect()
    )
    return Counter({(row.end.astimezone(timezone.utc), row.dest): row.rows for row in rows})


def measure(trace: Trace, flights: Flights, true: Counter[Window]) -> Measured:
    """Compare what came out of a query with the truth.

    Raises
    ------
    AccountsError
        For any window, the truth is not what came out plus what was late plus what is open. Late
        is worked out from the watermark that each row met, and not from what is missing, so this
        is a check of Spark's results and of our reading of them.
    """
    results = [r for r in trace.results if flights.first < r.end <= flights.last]
    got = Counter({(r.end, r.dest): r.rows for r in results})
    late = [r for strike in trace.strikes for r in strike.late if flights.is_measured(r)]
    waiting = _open(trace, flights)
    _check_accounts(true, got, _windows(late), _windows(waiting), trace.setting.name)
    delays: Counter[int] = Counter()
    for result in results:
        delays[(result.out - result.end) // HOUR] += result.rows
    return Measured(
        setting=trace.setting,
        rows_in=true.total(),
        rows_out=got.total(),
        rows_open=len(waiting),
        late=tuple(late),
        windows=len(true),
        windows_wrong=sum(got[window] != rows for window, rows in true.items()),
        delays=tuple(sorted(delays.items())),
    )


def _open(trace: Trace, flights: Flights) -> list[Report]:
    """Return the rows that wait in a window which has not closed yet."""
    last = trace.strikes[-1].after
    read = (report for strike in trace.strikes for report in strike.landed)
    return [r for r in read if flights.is_measured(r) and window_end(r.scheduled) > last]


def _windows(reports: Iterable[Report]) -> Counter[Window]:
    return Counter((window_end(report.scheduled), report.dest) for report in reports)


def _check_accounts(
    true: Counter[Window],
    got: Counter[Window],
    late: Counter[Window],
    waiting: Counter[Window],
    name: str,
) -> None:
    accounted = got + late + waiting
    if accounted != true:
        end, dest = next(w for w in {*true, *accounted} if true[w] != accounted[w])
        window = (end, dest)
        raise AccountsError(
            f"{name}: {true[window]} flights to {dest} in the hour before {end:%d %b %H:%M}, but"
            f" {got[window]} came out, {late[window]} were late, {waiting[window]} are waiting."
        )
