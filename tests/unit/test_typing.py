"""The package as type checkers see it: no error in api.py, and one for each mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "typing"
API, MISTAKES = FOLDER / "api.py", FOLDER / "mistakes.py"
MARK = "# type: ignore["


def test_mypy_infers_what_users_expect_and_finds_each_mistake() -> None:
    """In strict mode a mark without an error of its kind is an error."""
    pytest.importorskip("mypy")
    result = run("mypy", "--strict", "--no-incremental", str(API), str(MISTAKES))
    assert result.returncode == 0, result.stdout + result.stderr


def test_pyright_infers_what_users_expect_and_finds_each_mistake(tmp_path: Path) -> None:
    """The marks are those of mypy, and count for nothing here."""
    pytest.importorskip("pyright")
    settings = tmp_path / "pyrightconfig.json"
    settings.write_text('{"enableTypeIgnoreComments": false}')
    options = ["--project", str(settings), "--pythonpath", sys.executable, "--outputjson"]
    result = run("pyright", *options, str(API), str(MISTAKES))
    found = json.loads(result.stdout)["generalDiagnostics"]
    assert [one["message"] for one in found if one["file"] == str(API)] == []
    lines = MISTAKES.read_text("utf-8").splitlines()
    marked = {number for number, line in enumerate(lines) if MARK in line}
    assert {one["range"]["start"]["line"] for one in found} == marked


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a type checker of this environment."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
