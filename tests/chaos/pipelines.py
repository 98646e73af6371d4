"""Real ``kill -9`` of runs of a declarative pipeline, and of the server under them.

A run reads all batches of its stream. The table of its flow and the checkpoint are judged as those
of a query. The stream is not of files: Spark's source of files puts two of them into one batch if
it is killed before it has written an offset.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from tests.chaos.kills import seed_by_seed
from tests.chaos.kinds import KINDS
from tests.chaos.quiet import judged_alone
from tests.chaos.remote import Remote, RemoteVictim, Servers
from tests.chaos.remote_table import TABLE
from tests.chaos.session import ROOT
from tests.chaos.worker import TrialError
from tests.jars import PYSPARK
from tests.spark.pipelines import Project, printed, started

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.chaos.figures import Figures, Limits, Trial
    from tests.chaos.processes import Victim
    from tests.chaos.worker import Worker

FLOWS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from tests.chaos.kinds import KINDS, read

spark = SparkSession.getActiveSession()


@dp.table
def windows():
    return KINDS["{kind}"].make([read(spark, "{source}")], None)[1]
"""
RUNNING = "is RUNNING"  # what a run prints of a flow
FLOWN = "tumbling", "sliding", "panes", "sessions", "late sessions", "counts", "time of keys"


class PipelineVictim(RemoteVictim):
    """The runs of one pipeline."""

    def __init__(self, folder: Path, servers: Servers, kind: str, seed: int, database: str) -> None:
        super().__init__(folder, servers, kind, seed)
        self._running_flows = 0
        [source] = KINDS[kind].sources(folder, seed)
        flows = FLOWS.format(kind=kind, source=source)
        self._project = Project(folder / "project", database, flows_py=flows)
        (folder / "checkpoint").symlink_to(self._project.checkpoint(TABLE))
        self._client()

    def _has_begun(self) -> bool:
        """Tell whether the flow of this run is running."""
        running = self.log.read_text("utf-8", "replace").count(RUNNING)
        new, self._running_flows = running > self._running_flows, running
        return new

    def _command(self, *_: str) -> list[str]:
        specification = str(self._project.folder / "spark-pipeline.yml")
        command = [str(PYSPARK / "bin/spark-pipelines"), "run", "--spec", specification]
        return [*command, "--remote", self._servers.url]

    def collect(self) -> None:
        """Keep what the table has as the results of a batch."""
        self._client(str(self.folder))

    def _client(self, *folder: str) -> None:
        about = self._servers.url, self._project.database, *folder
        client = started(ROOT, sys.executable, "-m", "tests.chaos.remote_table", *about)
        try:
            printed(client)
        except (AssertionError, subprocess.TimeoutExpired) as broken:
            client.kill()
            raise TrialError(f"the table: {broken}") from None


@dataclass(frozen=True)
class Pipeline(Remote):
    """A pipeline of a seed whose runs are killed up to `most` times."""

    def quiet(self, judge: Worker, folder: Path) -> Path:
        """Return the folder of a pipeline that nothing disturbs."""
        victim = PipelineVictim(folder, self.servers, self.kind, self.seed, f"quiet_{self.seed}")
        if error := victim.finish():
            raise TrialError(f"a quiet run: {error}")
        victim.collect()
        if faults := judged_alone(judge, self.kind, folder, None):
            raise TrialError(f"a quiet run: {faults}")
        return folder

    def victim(self, folder: Path) -> PipelineVictim:
        """Return the runs of the pipeline."""
        return PipelineVictim(folder, self.servers, self.kind, self.seed, f"killed_{self.seed}")

    def lived(self, victim: Victim) -> tuple[int, str | None]:
        """Kill it, run it to its end and keep what its table has."""
        kills, error = super().lived(victim)
        if error is None:
            cast("PipelineVictim", victim).collect()
        return kills, error


def command(_: str, figures: Figures, limits: Limits) -> list[Trial]:
    """Kill as often as the command line says, the pipelines of one seed after the other."""

    def trial(judge: Worker, folder: Path, seed: int, most: int) -> dict[str, Any]:
        place = folder.parent / f"{seed}-server"
        with Servers(place, **in_files(place)) as servers:
            return Pipeline(FLOWN[seed % len(FLOWN)], seed, most, servers).trial(judge, folder)

    return seed_by_seed(trial, figures, limits)


def in_files(folder: Path) -> dict[str, str]:
    """Return settings of a server that knows its tables after a restart."""
    warehouse = {"spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}
    return {"spark.sql.catalogImplementation": "hive"} | warehouse
