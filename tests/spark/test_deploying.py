"""A cluster of processes of their own, by the commands of docs/deploying.md as they are there."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
import pyspark

from tests.pages import ROOT, blocks
from tests.spark.two_hosts import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

PAGE = ROOT / "docs" / "deploying.md"
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
        process.wait()


def test_the_commands_of_the_page_run_a_job_on_a_cluster(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Windows, late rows and state come from executors of two workers; a second run goes on."""
    data = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")},
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_CORES": "1",
        "SPARK_WORKER_MEMORY": "1g",
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
        "MASTER": "127.0.0.1",
        "PORT": str(port),
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
    late = et.read_late(spark, f"{data}/checkpoint").select("device", "_reason").collect()
    assert [tuple(row) for row in late] == [("a", "window_closed")]
    executors = list((tmp_path / "work").glob("app-*/*/stderr"))
    assert len(executors) == 4, executors  # two runs on two workers
    assert all("eventtide-spark" in path.read_text(errors="replace") for path in executors)


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
