"""The tab of Spark's history server, of a query that has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

import eventtide as et
import pyspark
import pytest

from tests.jvms import java
from tests.pages import ROOT
from tests.spark.browser import BROWSER, shown
from tests.spark.kafka import PATIENCE
from tests.spark.server import free_port
from tests.spark.ui_job import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

JARS = Path(pyspark.__file__).with_name("jars")
SERVER = "org.apache.spark.deploy.history.HistoryServer"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the event log of an application that has ended."""
    folder = tmp_path_factory.mktemp("events")
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.spark.ui_job", str(folder / "checkpoint"), str(folder)],
        cwd=ROOT,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        check=False,
        timeout=PATIENCE * 2,
    )
    assert done.returncode == 0
    return folder


@pytest.fixture(scope="module")
def tab(log: Path) -> Iterator[str]:
    """Return the address of the tab in a history server."""
    port = free_port()
    paths = f"{JARS}/*:{et.jar_path()}"
    settings = {
        "spark.history.fs.logDirectory": log.as_uri() + "/log",
        "spark.history.ui.port": str(port),
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    opened = ["java.base/sun.nio.ch", "java.base/java.nio", "java.base/java.lang"]
    opens = [f"--add-opens={package}=ALL-UNNAMED" for package in opened]
    server = subprocess.Popen(  # noqa: S603 - Spark's own program
        [java(), *opens, *options, "-cp", paths, SERVER],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    try:
        address = f"http://127.0.0.1:{port}"
        yield f"{address}/history/{application(address)}/eventtide/"
    finally:
        server.kill()
        server.wait()


def application(address: str) -> str:
    """Return the id of the only application, once the server has read it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with urlopen(f"{address}/api/v1/applications") as answer:  # noqa: S310 - of this machine
                found = json.load(answer)
        except URLError:
            found = []
        if found:
            return str(found[0]["id"])
        time.sleep(0.2)
    pytest.fail("the history server has no application")


def data(tab: str) -> dict[str, Any]:
    """Return what the page asks for."""
    with urlopen(f"{tab}json/") as answer:  # noqa: S310 - of this machine
        found: dict[str, Any] = json.load(answer)
    return found


def test_the_last_state_of_a_query_is_kept(tab: str) -> None:
    """The history server has it, although the driver is gone."""
    found = data(tab)
    [query] = found["queries"]
    assert (query["title"], query["running"]) == ("visits", False)
    assert found["query"]["blame"].startswith(f"'{HOSTILE}' holds the watermark")
    assert len(found["query"]["batches"]) > 1
    assert found["query"]["inputs"][0]["substreams"]


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the PATH")
def test_a_browser_shows_it(tab: str) -> None:
    """The page draws it with the server's own files."""
    dom = shown(tab, width=1200)
    assert '<tr class="holder">' in dom
    assert "visits (stopped)" in dom
    assert "<img src=x" not in dom
