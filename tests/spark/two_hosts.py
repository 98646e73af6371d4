"""A Spark cluster whose two workers have a name each: on one host Spark never speculates."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPARK_CLASS = Path(pyspark.__path__[0]) / "bin" / "spark-class"
_DEPLOY = "org.apache.spark.deploy"
_HOSTS = "127.0.0.1", "127.0.0.2"  # all of 127.0.0.0/8 is this machine, on Linux


@contextmanager
def two_hosts(folder: Path) -> Iterator[str]:
    """Start a master and two workers of one core each, and yield the master's address."""
    with socket.create_server((_HOSTS[0], 0)) as free:
        port = free.getsockname()[1]
    address = f"spark://{_HOSTS[0]}:{port}"
    processes = [_start("master.Master", _HOSTS[0], "--port", str(port))]
    try:
        wait_for(port)
        for host in _HOSTS:
            size = "--cores", "1", "--memory", "1g", "--work-dir", str(folder / host)
            processes.append(_start("worker.Worker", host, *size, address))
        yield address
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def _start(daemon: str, host: str, *options: str) -> subprocess.Popen[bytes]:
    command = [str(_SPARK_CLASS), f"{_DEPLOY}.{daemon}", "--host", host, "--webui-port", "0"]
    return subprocess.Popen([*command, *options])  # noqa: S603 - Spark's own script


def wait_for(port: int) -> None:
    """Wait until something listens at a port of this machine."""
    until = time.monotonic() + 60
    with socket.socket() as client:
        while client.connect_ex((_HOSTS[0], port)) != 0:
            if time.monotonic() > until:
                raise TimeoutError(f"no master at port {port}")
            time.sleep(0.1)
