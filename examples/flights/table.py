"""The printed output: progress of the replay, table of results, timeline of the lull."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from examples.flights.data import NEW_YORK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import Console
    from typing_extensions import Self

    from examples.flights.broker import Carried
    from examples.flights.data import Flights
    from examples.flights.lull import Moment, Side
    from examples.flights.measure import Measured
    from examples.flights.repair import Repaired
    from examples.flights.settings import Setting
    from examples.flights.trace import Trace

__all__ = [
    "KAFKA_TEXT",
    "LULL_TEXT",
    "SLIDING_TEXT",
    "Race",
    "books",
    "intro",
    "kafka_table",
    "lull_table",
    "race_table",
    "result_table",
    "result_text",
    "sliding_table",
]

_YEAR = timedelta(days=365)
_OURS = "bold cyan"


class Race:
    """Shows the replay while it runs: the state of every query, and the progress of the replay.

    Parameters
    ----------
    console : Console
        The console to print to.
    hours : int
        The maximum number of hours of the replay.
    """

    def __init__(self, console: Console, hours: int) -> None:
        self._bar = Progress(BarColumn(40), MofNCompleteColumn(), "hours", TimeElapsedColumn())
        self._task = self._bar.add_task("", total=hours)
        self._live = Live(self._bar, console=console, refresh_per_second=8, transient=True)

    def show(self, traces: Sequence[Trace]) -> None:
        """Show the state after another hour."""
        self._bar.advance(self._task)
        self._live.update(Group(race_table(traces), self._bar))

    def __enter__(self) -> Self:
        """Start the display."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the display; the table of results follows."""
        self._live.stop()


def race_table(traces: Sequence[Trace]) -> Table:
    """Return the state of all queries in the middle of the replay."""
    clock = traces[0].strikes[-1].clock
    read = sum(len(strike.landed) for strike in traces[0].strikes)
    table = _table("watermark", "", "behind the clock", "late so far", "")
    table.title = f"{clock.astimezone(NEW_YORK):%a %d %b %Y, %H:%M} in New York: {read:,} landed"
    for trace in traces:
        last = trace.strikes[-1]
        late = sum(len(strike.late) for strike in trace.strikes)
        behind = (last.clock - last.after).total_seconds() / 3600
        table.add_row(
            *_name(trace.setting, trace.setting.label),
            f"{behind:.1f} h" if _has_one(trace, last.after) else "-",
            f"{late:,}",
            f"{late / max(read, 1):.2%}",
        )
    return table


def _has_one(trace: Trace, watermark: datetime) -> bool:
    """Return whether a query has one watermark, and it is known."""
    clock = trace.strikes[-1].clock
    return trace.setting.idle_timeout is None and watermark > clock - _YEAR


def intro(flights: Flights, settings: Sequence[Setting]) -> str:
    """Return a description of the next steps."""
    rows = sum(1 for _ in flights.measured())
    first, last = (moment.astimezone(NEW_YORK) for moment in (flights.first, flights.last))
    return (
        f"\n[bold]{rows:,} flights[/bold] that left New York from {first:%A %d} to"
        f" {last:%A %d %B %Y}, 4 in the morning. Each is reported when it lands; its event time is"
        " its scheduled departure. Departures are counted by hour and destination."
        f" {len(settings)} streaming queries read the reports side by side, a micro-batch for each"
        " hour of 2013, under a clock that shows the time of the replay.\n"
    )


def result_table(measured: Sequence[Measured]) -> Table:
    """Return the results of all settings, stock Spark first."""
    table = _table("watermark", "")
    for title in ("rows\nin", "in\nwindows", "late", "", "p50", "p90", "p99", "wrong\ncounts"):
        table.add_column(title, justify="right", no_wrap=True)
    for m in measured:
        table.add_row(
            *_name(m.setting, m.setting.name),
            f"{m.rows_in:,}",
            f"{m.rows_out:,}",
            f"{len(m.late):,}",
            f"{m.late_share:.2%}",
            *(str(m.delay(share)) for share in (0.5, 0.9, 0.99)),
            f"{m.windows_wrong:,}",
        )
    return table


_EXPLAINED = {
    "by band": "by band: a watermark for each distance band, instead of one for all rows.",
    "lull": "lull: the watermark advances with the clock when no rows arrive.",
    "by airport": "by airport: Eventtide windows, with a watermark for each destination. After 3"
    " hours without a report, a destination emits its open windows; rows that arrive later give"
    " additional results.",
}


def result_text(measured: Sequence[Measured]) -> str:
    """Return the meaning of the words that occur in the results."""
    names = " ".join(m.setting.name for m in measured)
    explained = [text for word, text in _EXPLAINED.items() if word in names]
    return " ".join(explained) + (
        " p50, p90, p99: hours of 2013 from the end of a window to its result, by rows. Wrong"
        " counts: the counts that differ from a batch query over the same rows. The demo checks for"
        " every count: rows in = rows in windows + rows late.\n"
    )


SLIDING_TEXT = (
    "[bold]The last three hours[/bold], every quarter of an hour: each row is in twelve windows."
    " A row is late if it misses at least one of them. Spark copies each row twelve times and drops"
    " late copies one by one. Eventtide windows store each row once. A late row is in the log and"
    " in none of its windows, so their counts are wrong until et.repair corrects them."
)


def sliding_table(measured: Sequence[Measured], repaired: Repaired) -> Table:
    """Return the results of the sliding windows: two of Spark's, then eventtide's."""
    table = _table("watermark", "")
    for title in ("rows\nin", "late", "in the\nlog", "p50", "p90", "p99", "wrong\ncounts"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("after\nrepair", justify="right", no_wrap=True)
    for m in measured:
        keeps = m.setting.keeps_late_rows
        table.add_row(
            *_name(m.setting, m.setting.name),
            f"{m.rows_in:,}",
            f"{len(m.late):,}",
            f"{len(m.late):,}" if keeps else "-",
            *(str(m.delay(share)) for share in (0.5, 0.9, 0.99)),
            f"{m.windows_wrong:,}",
            f"{repaired.windows_wrong:,}" if keeps else "-",
        )
    return table


def books(m: Measured, repaired: Repaired) -> str:
    """Return the places of the rows of eventtide windows, and the corrections by late rows."""
    return (
        f"Eventtide windows: {m.rows_in:,} rows in = {m.rows_in_windows:,} in twelve windows each"
        f" + {len(m.late):,} in the late log. et.repair corrected {repaired.corrected:,} counts and"
        f" added {repaired.new:,}. After that, {repaired.windows_wrong:,} of {m.windows:,} counts"
        " differ from a batch query.\n"
    )


LULL_TEXT = (
    "[bold]A lull[/bold]: windows of ten minutes, and a lag of five; no row arrives after 10:18."
    " 10:00 is the window that begins at 10:00."
)


def lull_table(moments: Sequence[Moment]) -> Table:
    """Return the timeline of the lull."""
    table = _table("clock", "rows in", "Spark watermark", "emits", "Eventtide watermark", "emits")
    for moment in moments:
        table.add_row(
            _minute(moment.clock),
            str(moment.rows or "-"),
            *_cells(moment.stock, ""),
            *_cells(moment.ours, _OURS),
        )
    return table


KAFKA_TEXT = (
    "[bold]Through Kafka[/bold]: the same flights, and the flights of the next day until all of the"
    " first day have landed. Each distance band has a partition; windows and lag are one hour."
    " Stock Spark has one watermark for all partitions, Eventtide one for each."
)


def kafka_table(carried: Sequence[Carried]) -> Table:
    """Return the places of the sent rows."""
    table = _table("windows", "rows sent", "in windows", "late, kept", "lost")
    for one in carried:
        numbers = (one.sent, one.counted, one.logged, one.lost)
        table.add_row(one.name, *(f"{number:,}" for number in numbers))
    return table


def _table(*titles: str) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=0,  # the lines of the box, which are blanks, separate the columns
        pad_edge=False,
        title_justify="left",
        title_style="bold",
    )
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def _name(setting: Setting, name: str) -> tuple[Text, Text]:
    style = _OURS if setting.is_ours else ""
    return Text(setting.side, style), Text(name, style)


def _cells(side: Side, style: str) -> tuple[str, Text]:
    out = ", ".join(f"{_minute(start)}: {rows} rows" for start, rows in side.out)
    mark = _minute(side.watermark) if side.watermark else "-"
    return mark, Text(out, style)


def _minute(moment: datetime) -> str:
    return f"{moment:%H:%M}"
