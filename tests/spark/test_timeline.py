"""The page of `eventtide timeline`: its data, and what a browser makes of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.cli._recorded import times
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.browser import BROWSER, shown
from tests.spark.queries import at

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

MOST_BYTES = 2 * 2**20
YEAR = 1_704_067_200  # the first second of 2024
HOSTILE = "</script><img src=x onerror=alert(1)>"


def counts(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds over the substreams in `user`."""
    policy = WatermarkPolicies.with_fixed_lag("5s")
    window = et.window(events).event_time("ts", policy, substream="user", name="clicks")
    return window.tumbling("10s").agg(F.count("*").alias("rows"))


@pytest.fixture(scope="module")
def page(spark: SparkSession) -> str:
    """Return the page of a query with late rows, a hostile name and a sample of its rows."""
    from eventtide import _jvm  # noqa: PLC0415 - a client of Spark Connect has no py4j

    users = ["a", "b", HOSTILE]
    with Script(counts, "ts timestamp, user string") as script:
        for second in range(10, 310, 10):
            late = [(at(0), "a")] if second == 200 else []
            script.clock("+10s").rows(
                [(at(second - i), user) for i, user in enumerate(users)] + late
            )
        read = spark.range(10, 100_000, 10).select(
            F.timestamp_seconds(F.col("id") + YEAR).alias("ts")
        )
        rows = read.select("ts", (F.col("ts") + F.expr("interval 1 second")).alias("seen"))
        return _jvm.timeline(spark, script.checkpoint, times(rows, "ts", "seen"))


def test_the_data_has_each_batch_and_substream(page: str) -> None:
    """And the page needs no network."""
    [text] = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL
    )
    data = json.loads(text)
    watermarks = [batch["watermark"] for batch in data["batches"] if batch["watermark"]]
    assert watermarks == sorted(watermarks)
    assert data["batches"][-1]["late"] == {"window_closed": 1}
    assert data["blame"].startswith(f"'{HOSTILE}' holds the watermark")
    [clicks] = data["inputs"]
    assert clicks["name"] == "clicks"
    assert clicks["lags"]["now"] == 5_000_000
    assert {one["name"] for one in clicks["substreams"]} == {"a", "b", HOSTILE}
    ends = [batch["at"] for batch in data["batches"] if batch["at"]]
    assert 20 < len(data["rows"]) <= 30  # of ten thousand, those that arrived during the batches
    assert all(min(ends) <= arrival <= max(ends) for arrival, _ in data["rows"])
    assert all(arrival == time + 1_000_000 for arrival, time in data["rows"])
    assert len(page.encode()) < MOST_BYTES
    assert not re.search(r'(src|href)="', page)


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
@pytest.mark.parametrize("width", [1200, 400])
def test_a_browser_shows_charts_and_the_table(page: str, tmp_path: Path, width: int) -> None:
    """The substream that holds the watermark is marked; a name is text, whatever it is."""
    file = tmp_path / "timeline.html"
    file.write_text(page, encoding="utf-8")
    dom = shown(file.as_uri(), width)
    assert dom.count('<svg role="img"') == 3
    assert re.search(r">now: 5s<", dom)  # a mark beyond what rows needed
    [rows] = re.findall(r'<g class="rows">(.*?)</g>', dom)
    assert 0 < rows.count("<circle") <= 30
    [holder] = re.findall(r'<tr class="holder">(.*?)</tr>', dom)
    assert holder.startswith("<td>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</td>")
    assert "<img" not in dom
