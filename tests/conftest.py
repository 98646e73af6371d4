"""What every test relies on: eventtide is the installed wheel, never the source tree."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "python"


def pytest_report_header() -> str:
    """Say what is tested."""
    return f"eventtide {version('eventtide')} on PySpark {version('pyspark')}"


def pytest_sessionstart() -> None:
    """Refuse to start without the wheel."""
    found = importlib.util.find_spec("eventtide")
    if found is None or found.origin is None or Path(found.origin).is_relative_to(SOURCES):
        raise pytest.UsageError("The tests run on the installed wheel: start them with dev/test.")
