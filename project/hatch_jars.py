"""Build hook of sdist and wheel: both carry the jar of every Spark version, or are not built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASK = "EVENTTIDE_BUILD_JARS"


class CustomBuildHook(BuildHookInterface[Any]):
    """Take the jars that are there; build them only if that is asked for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run before the files are collected."""
        root = Path(self.root)
        expected = expected_jars(root, self.metadata.version)
        if os.environ.get(ASK) == "1":
            build_jars(root)
        if present_jars(root) != expected:
            sys.exit(
                f"python/eventtide/jars must hold {', '.join(sorted(expected))}: run dev/wheel, "
                f"which builds the jars and the wheel, or set {ASK}=1 to build the jars here "
                "(needs bash, a JDK and a network)."
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
