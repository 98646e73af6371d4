"""The page of `eventtide timeline`: its data, and what a browser makes of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.testing import Script
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.browser import BROWSER, shown
from tests.spark.queries import at

if TYPE_CHECKING:
    from pathlib import Path

    from eventtide.windows import WindowBuilder
    from pyspark.sql import DataFrame, SparkSession

MOST_BYTES = 2 * 2**20
HOSTILE = "</script><img src=x onerror=alert(1)>"


def counts(events: DataFrame) -> WindowBuilder:
    """Return windows of ten seconds over the substreams in `user`."""
    policy = WatermarkPolicies.with_fixed_lag("5s")
    window = et.window(events).event_time("ts", policy, substream="user", name="clicks")
    return window.tumbling("10s").agg(F.count("*").alias("rows"))


@pytest.fixture(scope="module")
def page(spark: SparkSession) -> str:
    """Return the page of a query with late rows and a hostile name."""
    from eventtide import _jvm  # noqa: PLC0415 - a client of Spark Connect has no py4j

    users = ["a", "b", HOSTILE]
    with Script(counts, "ts timestamp, user string") as script:
        for second in range(10, 310, 10):
            late = [(at(0), "a")] if second == 200 else []
            script.clock("+10s").rows(
                [(at(second - i), user) for i, user in enumerate(users)] + late
            )
        return _jvm.timeline(spark, script.checkpoint)


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
    assert len(page.encode()) < MOST_BYTES
    assert not re.search(r'(src|href)="', page)


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
@pytest.mark.parametrize("width", [1200, 400])
def test_a_browser_shows_charts_and_the_table(page: str, tmp_path: Path, width: int) -> None:
    """The substream that holds the watermark is marked; a name is text, whatever it is."""
    file = tmp_path / "timeline.html"
    file.write_text(page, encoding="utf-8")
    dom = shown(file.as_uri(), width)
    assert dom.count('<svg role="img"') == 2
    [holder] = re.findall(r'<tr class="holder">(.*?)</tr>', dom)
    assert holder.startswith("<td>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</td>")
    assert "<img" not in dom
