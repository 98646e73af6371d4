"""The tab Eventtide of Spark's UI, of a query that runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from tests.pages import ROOT
from tests.spark.browser import BROWSER, driven, shown
from tests.spark.kafka import PATIENCE
from tests.spark.ui_job import CROWD, HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of the tab of a query in a process of its own."""
    folder = tmp_path_factory.mktemp("ui")
    job = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.spark.ui_job", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert job.stdout is not None
    try:
        yield next(line for line in job.stdout if line.startswith("http")).strip() + "/eventtide/"
    finally:
        job.kill()
        job.communicate()


def fetched(address: str) -> str:
    """Return what is at an address."""
    with urlopen(address) as answer:  # noqa: S310 - of this machine
        return str(answer.read().decode())


def data(tab: str, query: str = "", more: str = "") -> dict[str, Any]:
    """Return what the page asks for."""
    answer: dict[str, Any] = json.loads(fetched(f"{tab}json/?query={query}{more}"))
    return answer


def test_the_page_has_files_only(tab: str) -> None:
    """Spark's content policy allows no script in a page; each file is served."""
    page = fetched(tab)
    [main] = re.findall(r"<main[^>]*>", page)
    assert 'data-url="/eventtide/json/"' in main
    own = re.findall(r'(?:src|href)="(/(?:eventtide/.+?|static/d3.min.js))"', page)
    assert len(own) == 7
    for file in own:
        assert fetched(tab.replace("/eventtide/", file))


def test_the_data_follow_the_query(tab: str) -> None:
    """The chosen query, or the first one for an id that is not known."""
    first = data(tab)
    query, _ = first["queries"]
    assert (query["title"], query["running"]) == ("visits", True)
    assert first["query"]["blame"].startswith(f"'{HOSTILE}' holds the watermark")
    until = time.monotonic() + PATIENCE
    while len(data(tab, query["id"])["query"]["batches"]) <= len(first["query"]["batches"]):
        assert time.monotonic() < until
        time.sleep(0.2)
    assert data(tab, "no%20such%20query")["query"]["id"] == query["id"]


def test_a_search_finds_a_substream_that_is_not_listed(tab: str) -> None:
    """A report lists ten thousand: those furthest behind and the leader."""
    _, query = data(tab)["queries"]
    [listed] = data(tab, query["id"])["query"]["inputs"]
    assert listed["substreamCount"] >= CROWD > len(listed["substreams"])
    names = {one["name"] for one in listed["substreams"]}
    hidden = next(name for name in map("s{:05d}".format, range(CROWD)) if name not in names)
    [found] = data(tab, query["id"], f"&search-0={hidden}")["query"]["inputs"]
    assert [one["name"] for one in found["substreams"]] == [hidden]
    assert found["highest"] >= found["substreams"][0]["top"]
    [many] = data(tab, query["id"], "&search-0=s0")["query"]["inputs"]
    assert len(many["substreams"]) == 201  # one more than the table shows
    [none] = data(tab, query["id"], "&search-0=nobody&search-7=s0")["query"]["inputs"]
    assert none["substreams"] == []


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
def test_a_reader_finds_one_of_many_substreams(tab: str) -> None:
    """What is typed stays, while the page is updated."""
    _, query = data(tab)["queries"]
    with driven(f"{tab}#{query['id']}", width=1200) as page:
        page.wait_for_selector("text=The first 200 are shown")
        for name in f"s{CROWD - 1:05d}", "s00000":
            page.get_by_role("searchbox").fill("")
            page.get_by_role("searchbox").press_sequentially(name)
            row = page.locator("tbody tr", has_text=name)
            row.wait_for()
            before = row.locator("td").last.inner_text()
            page.wait_for_function(
                "rows => document.querySelector('tbody tr td:last-child').innerText !== rows",
                arg=before,
            )
            assert page.get_by_role("searchbox").input_value() == name
            assert page.locator("tbody tr").count() == 1


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
def test_a_browser_shows_it(tab: str) -> None:
    """A name is text, whatever it is; the substream that holds the watermark is marked."""
    dom = shown(tab, width=1200)
    [holder] = re.findall(r'<tr class="holder">(.*?)</tr>', dom)
    assert holder.startswith("<td>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</td>")
    assert "<img src=x" not in dom
    assert '<svg role="img"' in dom
    [windows] = re.findall(r'data-part="windows".*?<tbody>(.*?)</tbody>', dom, re.DOTALL)
    assert re.match(r"<tr><td>tumbling\(", windows)
    assert "<td>window [" in windows


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
def test_a_reader_sorts_and_searches(tab: str) -> None:
    """The order and the search stay from one update to the next."""
    with driven(tab, width=1200) as page:
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.wait_for_selector("tr.holder")

        def names() -> list[str]:
            return page.locator("tbody:has(tr.holder) td:first-child").all_inner_texts()

        assert names()[0] == HOSTILE  # the one furthest behind comes first
        page.get_by_role("button", name="substream").click()
        assert names() == sorted(["a", "b", HOSTILE])
        page.get_by_role("button", name="substream").click()
        assert names() == sorted(["a", "b", HOSTILE], reverse=True)
        before = page.locator("tr.holder td").last.inner_text()
        page.wait_for_function(
            "rows => document.querySelector('tr.holder td:last-child').innerText !== rows",
            arg=before,
        )
        assert names() == sorted(["a", "b", HOSTILE], reverse=True)
        page.get_by_role("searchbox").fill("script")
        assert names() == [HOSTILE]
        page.get_by_role("searchbox").fill("nobody")
        page.wait_for_selector("text=0 of 3")
        assert dialogs == []


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
@pytest.mark.parametrize("width", [400, 1600])
def test_it_fits_a_narrow_and_a_wide_window(tab: str, width: int) -> None:
    """Only tables scroll."""
    with driven(tab, width) as page:
        page.wait_for_selector("tr.holder")
        assert page.evaluate("document.getElementById('eventtide').scrollWidth") <= width
