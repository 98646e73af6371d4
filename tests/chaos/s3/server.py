"""The S3 server of the campaign: begun and ended here, and told what shall go wrong."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.chaos.session import ROOT
from tests.groups import group
from tests.spark.server import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PYTHON = ROOT / ".venv-s3/bin/python"
THREADS = 64
PATIENCE = 60  # seconds


class S3Server:
    """A server that runs; ``s3a://chaos`` is its only bucket.

    Attributes
    ----------
    url : str
        Its address.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Tell the application something, as it describes, and return what it says."""
        body = json.dumps(asked).encode()
        with urlopen(Request(f"{self.url}/-/", body, method="POST"), timeout=PATIENCE) as answer:  # noqa: S310 - ours
            said: dict[str, Any] = json.load(answer)
            return said


@contextmanager
def s3_server(log: Path, *, seed: int, latency: float, trouble: float) -> Iterator[S3Server]:
    """Run a server for a block."""
    address = f"127.0.0.1:{free_port()}"
    command = [str(PYTHON), "-m", "gunicorn", "--bind", address, "--threads", str(THREADS)]
    command += ["--chdir", str(ROOT), "--timeout", "0", "tests.chaos.s3.application:application()"]
    about = {"SEED": seed, "LATENCY": latency, "TROUBLE": trouble}
    with group(command, log, **{f"STORE_{name}": str(value) for name, value in about.items()}):
        server = S3Server(f"http://{address}")
        _await(server)
        yield server


def _await(server: S3Server) -> None:
    until = time.monotonic() + PATIENCE
    while not _answers(server):
        if time.monotonic() > until:
            raise TimeoutError(f"no S3 server at {server.url}")
        time.sleep(0.05)


def _answers(server: S3Server) -> bool:
    try:
        server.ask()
    except URLError:
        return False
    return True
