"""What every test relies on: eventtide is the installed wheel, never the source tree."""

from __future__ import annotations

import importlib.util
import os
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide
import pyspark
import pytest
from eventtide import errors

from tests.jvms import threads

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.terminal import TerminalReporter

SOURCES = Path(__file__).parents[1] / "python"


@pytest.fixture(autouse=True)
def _no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let messages end as they do while the package has no address of its docs."""
    package = Message()
    package["Name"] = errors.installed()["Name"]
    monkeypatch.setattr("eventtide.errors.metadata", lambda _: package)


def pytest_report_header() -> str:
    """Say what is tested."""
    return f"eventtide {eventtide.__version__} on PySpark {pyspark.__version__}"


def pytest_sessionstart() -> None:
    """Refuse to start without the wheel."""
    found = importlib.util.find_spec("eventtide")
    if found is None or found.origin is None or Path(found.origin).is_relative_to(SOURCES):
        raise pytest.UsageError("The tests run on the installed wheel: start them with dev/test.")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let both of two processes begin with tests that take long: each gets a half of the list."""
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    half = (len(items) + 1) // 2 - len(long[::2])
    items[:] = [*long[::2], *others[:half], *long[1::2], *others[half:]]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say what the JVMs of a test that waited too long were waiting for."""
    report = yield
    if call.excinfo is not None and str(call.excinfo.value).startswith("Timeout"):
        for process, shown in threads(os.getpid()):
            report.sections.append((f"threads of JVM {process}", shown))
    return report


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Say how many golden cases came out of queries; tests name them by the fixture `golden`."""
    played: dict[str, set[str]] = {"passed": set(), "failed": set(), "skipped": set()}
    for outcome, cases in played.items():
        for report in terminalreporter.stats.get(outcome, []):
            cases |= {
                str(case)
                for name, case in getattr(report, "user_properties", [])
                if name == "golden"
            }
    failed, waiting = played["failed"], played["skipped"]
    if followed := played["passed"] - failed - waiting:
        terminalreporter.write_line(
            f"golden: on queries {len(followed)} followed, {len(waiting)} waiting, "
            f"{len(failed)} failed"
        )
