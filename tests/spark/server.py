"""A Spark Connect server in a process of its own, with eventtide as a server has it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.jars import PYSPARK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

PYTHON = os.environ.get("EVENTTIDE_SERVER_PYTHON", sys.executable)
"""The Python whose PySpark is the server, and whose workers call functions of clients."""

WITH_EVENTTIDE = {
    "spark.sql.extensions": "io.eventtide.spark.EventtideExtensions",
    "spark.connect.extensions.relation.classes": (
        "io.eventtide.spark.connect.EventtideRelationPlugin"
    ),
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "io.eventtide.spark.checkpoint.AtomicCheckpointFileManager"
    ),
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
}

ROOT = Path(__file__).parents[2]  # for functions of tests, which its workers call
_READY = "Spark Connect server started"
_LONGEST = 120  # seconds until a server is ready


class Server:
    """A running server; `url` is for `SparkSession.builder.remote`."""

    def __init__(self, folder: Path, settings: Mapping[str, str], port: int | None = None) -> None:
        """Start it, and wait until it is ready; its log is in the folder."""
        self.port = port or free_port()
        self.url = f"sc://localhost:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "server.log"
        jars = [jar_of_server(), settings["spark.jars"]]
        options = {
            **settings,
            "spark.jars": ",".join(filter(None, jars)),
            "spark.connect.grpc.binding.port": str(self.port),
        }
        command = [f"{PYSPARK}/bin/spark-submit", "--master", "local[2]"]
        for key, value in options.items():
            command += ["--conf", f"{key}={value}"]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        variables = {"SPARK_HOME": str(PYSPARK), "PYSPARK_PYTHON": PYTHON, "PYTHONPATH": str(ROOT)}
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                [*command, "spark-internal"],
                cwd=folder,
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._await_ready()

    def _await_ready(self) -> None:
        end = time.monotonic() + _LONGEST
        while _READY not in (said := self.log.read_text(encoding="utf-8", errors="replace")):
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"The server did not start:\n{said[-3000:]}")
            time.sleep(0.1)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it, also after a test that fails."""
        self.kill()

    def kill(self) -> None:
        """Kill it, as a machine does that fails."""
        self._process.kill()
        self._process.wait()


def jar_of_server() -> str:
    """Return the path of Eventtide's jar, which only the server's Python has."""
    command = [PYTHON, "-c", "import eventtide; print(eventtide.jar_path())"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - our own code


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return int(free.getsockname()[1])
