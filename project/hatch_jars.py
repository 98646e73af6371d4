"""Build hook of the wheel: it carries the jar of every Spark version, or it is not built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Bring the jars up to date where that is possible; refuse a wheel without them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run before the files are collected."""
        root = Path(self.root)
        expected = expected_jars(root, self.metadata.version)
        if shutil.which("bash") and shutil.which("java"):
            build_jars(root)
        if present_jars(root) != expected:
            sys.exit(
                "The wheel needs exactly these files in python/eventtide/jars, so run dev/wheel "
                f"first, which builds them: {', '.join(sorted(expected))}."
            )


def expected_jars(root: Path, version: str) -> set[str]:
    """Return the names of the jars, one for each line of SparkVersions.scala."""
    versions = (root / "project" / "SparkVersions.scala").read_text(encoding="utf-8")
    minors = re.findall(r'SparkVersion\("(\d+\.\d+)\.\d+",', versions)
    return {f"eventtide-spark-{minor}_2.13-{version}.jar" for minor in minors}


def present_jars(root: Path) -> set[str]:
    """Return the names of the jars that would go into the wheel."""
    return {jar.name for jar in (root / "python" / "eventtide" / "jars").glob("*.jar")}


def build_jars(root: Path) -> None:
    """Run dev/jars with the Python that pip runs on, but not in pip's build environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_"))}
    environment["PYTHON"] = sys.executable
    subprocess.run(["bash", "dev/jars"], cwd=root, env=environment, check=False)  # noqa: S607
