"""Runs the commands of docs/how-to/deploy.md against a cluster of several processes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import eventtide as et
import pyspark
import pytest

from tests.pages import ROOT, blocks
from tests.spark.two_hosts import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

PAGE = ROOT / "docs/how-to/deploy.md"
SPARK_HOME = Path(pyspark.__path__[0])


def commands() -> tuple[str, str, str]:
    """Return how the page starts a master, a worker and a job."""
    found = re.findall(
        r"^```bash\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    master, worker, job = found
    return master, worker, job


@contextmanager
def running(command: str, variables: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Run a command until the end of the block, in a folder of its own."""
    folder.mkdir()
    process = subprocess.Popen(  # noqa: S603 - what the page says
        ["/bin/bash", "-c", f"exec {command}"], env=variables, cwd=folder, start_new_session=True
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


@pytest.mark.long
@pytest.mark.thorough
def test_the_commands_of_the_page_run_a_job_on_a_cluster(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Windows, late rows and state come from executors of two workers; a second run goes on."""
    data = tmp_path / "data"
    with ExitStack() as sockets:
        free = [sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        port, page = (each.getsockname()[1] for each in free)
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")},
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_MASTER_WEBUI_PORT": str(page),
        "SPARK_WORKER_CORES": "1",
        "SPARK_WORKER_MEMORY": "1g",
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
        "MASTER_HOST": "127.0.0.1",
        "MASTER_PORT": str(port),
        "JOB_ENV": sys.prefix,
        "DATA": str(data),
    }
    master, worker, job = commands()
    [block] = [one for one in blocks(PAGE) if one.code.startswith("# job.py")]
    (tmp_path / "job.py").write_text(block.code, encoding="utf-8")
    (data / "events").mkdir(parents=True)
    with ExitStack() as cluster:
        cluster.enter_context(running(master, variables, tmp_path / "master"))
        wait_for(port)
        for name in ("one", "two"):
            cluster.enter_context(running(worker, variables, tmp_path / name))
        wait_for_workers(page, 2)
        write(data, 1, [("12:00:07", "a"), ("12:00:30", "b"), ("12:01:20", "a")])
        submit(job, variables, tmp_path)
        write(data, 2, [("12:00:10", "a"), ("12:01:40", "b"), ("12:02:30", "a")])
        submit(job, variables, tmp_path)
    results = spark.read.parquet(f"{data}/windows").selectExpr("date_format(window.start, 'mm')")
    columns = spark.read.parquet(f"{data}/windows").select("device", "n")
    windows = zip(results.collect(), columns.collect(), strict=True)
    assert sorted((start[0], row["device"], row["n"]) for start, row in windows) == [
        ("00", "a", 1),
        ("00", "b", 1),
        ("01", "a", 1),
        ("01", "b", 1),
    ]
    late = et.read_late(f"{data}/checkpoint").select("device", "_reason").collect()
    assert [tuple(row) for row in late] == [("a", "window_closed")]
    executors = list((tmp_path / "work").glob("app-*/*/stderr"))
    assert len(executors) == 4, executors  # two runs on two workers
    assert all("eventtide-spark" in path.read_text(errors="replace") for path in executors)


def wait_for_workers(page: int, count: int) -> None:
    """Wait until the master's web page shows `count` workers."""
    wait_for(page)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        # while the master begins, this page is missing, or is another one
        with (
            suppress(HTTPError, json.JSONDecodeError),
            urlopen(f"http://127.0.0.1:{page}/json/") as answer,
        ):
            if json.load(answer)["aliveworkers"] == count:
                return
        time.sleep(0.1)
    raise TimeoutError("the workers do not come")


def write(data: Path, number: int, events: list[tuple[str, str]]) -> None:
    """Write a file of events."""
    lines = [json.dumps({"ts": f"2024-01-01T{time}Z", "device": key}) for time, key in events]
    (data / "events" / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")


def submit(command: str, variables: Mapping[str, str], folder: Path) -> None:
    """Run the job to its end."""
    done = subprocess.run(  # noqa: S603 - what the page says
        ["/bin/bash", "-ec", command],
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
