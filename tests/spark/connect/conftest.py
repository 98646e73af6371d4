"""Tests of Spark Connect alone: they run with `dev/test --connect`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from tests.spark.conftest import CONNECT, SERVER
from tests.spark.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

if not CONNECT:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def other_server(tmp_path: Path) -> Iterator[Callable[[dict[str, str | None]], SparkSession]]:
    """Return what starts a server with other settings, and returns a session on it."""
    servers, sessions = [], []

    def start(settings: dict[str, str | None]) -> SparkSession:
        chosen = {key: value for key, value in (SERVER | settings).items() if value is not None}
        server = Server(tmp_path / "other", chosen)
        servers.append(server)
        session = SparkSession.builder.remote(server.url).create()
        sessions.append(session)
        return session

    yield start
    for session in sessions:
        session.stop()
    for server in servers:
        server.kill()
