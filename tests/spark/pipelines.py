"""A project of Spark Declarative Pipelines, and runs of it as users make them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.jars import PYSPARK
from tests.spark.server import PYTHON, ROOT

if TYPE_CHECKING:
    from tests.spark.server import Server

SPECIFICATION = """\
name: tide
storage: {storage}
database: {database}
libraries:
  - glob:
      include: transformations/**
"""


class Project:
    """A folder with a specification and with files of flows."""

    def __init__(self, folder: Path, database: str, **files: str) -> None:
        """Write the files: `flows_py` becomes flows.py."""
        self.folder, self.database = folder, database
        (folder / "transformations").mkdir(parents=True)
        for name, text in files.items():
            path = folder / "transformations" / name.replace("_", ".")
            path.write_text(text, encoding="utf-8")
        text = SPECIFICATION.format(storage=(folder / "storage").as_uri(), database=database)
        (folder / "spark-pipeline.yml").write_text(text, encoding="utf-8")

    def checkpoint(self, table: str, flow: str = "", run: int = 0) -> str:
        """Return the checkpoint of a flow; each full refresh begins another one."""
        root = self.folder / "storage" / "_checkpoints" / "spark_catalog" / self.database
        return str(root / table / (flow or table) / str(run))

    def start(self, server: Server, *arguments: str) -> subprocess.Popen[str]:
        """Start a run, `dry-run` or another command of `spark-pipelines`."""
        return started(
            self.folder, "spark-pipelines", *(arguments or ["run"]), "--remote", server.url
        )

    def run(self, server: Server, *arguments: str) -> str:
        """Return what a run has printed; it has to succeed."""
        return printed(self.start(server, *arguments))


def started(folder: Path, *command: str) -> subprocess.Popen[str]:
    """Start a command of PySpark, or of the server's Python, in a folder."""
    path = f"{Path(PYTHON).parent}:{PYSPARK / 'bin'}:{os.environ['PATH']}"
    # PySpark's client has put its mode into the variables of this process
    inherited = {key: value for key, value in os.environ.items() if "SPARK_CONNECT" not in key}
    variables = {"SPARK_HOME": str(PYSPARK), "PYSPARK_PYTHON": PYTHON, "PATH": path}
    return subprocess.Popen(  # noqa: S603 - our own command
        command,
        cwd=folder,
        env=inherited | variables | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def printed(run: subprocess.Popen[str]) -> str:
    """Return what a command has printed; it has to succeed."""
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0, said
    return said
