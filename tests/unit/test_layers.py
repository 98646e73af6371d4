"""Layers of the package: import-linter finds what breaks each rule of pyproject.toml."""

from __future__ import annotations

import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import eventtide
import pytest
import tomli

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("errors.py", "from eventtide import cli", "Dependencies point down"),
        ("policies/_base.py", "from eventtide import windows", "Dependencies point down"),
        (
            "windows/_sizes.py",
            "from eventtide.windows import _builder",
            "No modules import each other",
        ),
        ("windows/_sizes.py", "import py4j", "Only _jvm touches py4j"),
        ("errors.py", "import py4j", "Only _jvm touches py4j"),
        ("new_room.py", "", "Dependencies point down"),
    ],
)
def test_what_breaks_a_rule_is_found(module: str, line: str, broken: str, tmp_path: Path) -> None:
    """An import that points up, one that makes a circle, py4j elsewhere, a room in no layer."""
    package = shutil.copytree(
        ROOT / "python/eventtide",
        tmp_path / "eventtide",
        ignore=shutil.ignore_patterns("jars", "__pycache__"),
    )
    file = package / module
    known = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(f"{known}\n{line}\n", encoding="utf-8")
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run(  # noqa: S603 - our own arguments
        [linter, "--no-cache", ROOT / "pyproject.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert f"{broken} BROKEN" in run.stdout


def test_the_rule_for_py4j_names_every_module() -> None:
    """All but `_jvm`, so that a new one is in it too."""
    rules = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = rules["tool"]["importlinter"]["contracts"]
    named = next(rule["source_modules"] for rule in contracts if rule["id"] == "py4j")
    modules = {f"eventtide.{module.name}" for module in pkgutil.iter_modules(eventtide.__path__)}
    assert set(named) == modules - {"eventtide._jvm"}
