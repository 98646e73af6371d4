"""The page on pipelines: its files are a project, and its commands and blocks run in order."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import eventtide as et
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.pages import ROOT, Block, blocks, files
from tests.spark.pipelines import printed, started

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pyspark.sql import SparkSession

    from tests.spark.server import Server

PAGE = ROOT / "docs/how-to/pipelines.md"
STEPS = [block for block in blocks(PAGE, "sh", "python") if block.mark != "pipeline"]
DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_page_is_a_pipeline_that_runs(
    spark: SparkSession, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From top to bottom, with the output that it shows.

    Spark 4.1 reads a table of the pipeline in one batch, so that no row is late.
    """
    project, data = tmp_path / "project", f"{tmp_path}/data"

    def here(code: str) -> str:
        return code.replace("/data/", f"{data}/").replace("sc://localhost:15002", server.url)

    def run(step: Block) -> str:
        if step.language == "sh":
            return printed(started(project, "bash", "-e", "-c", here(step.code)))
        exec(here(step.code), {"et": et, "F": F, "spark": spark})  # noqa: S102 - our own docs
        return capsys.readouterr().out

    for name, code in files(PAGE, "pipeline").items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(here(code), encoding="utf-8")
    try:
        for step in STEPS:
            said = run(step)
            if step.prints is not None and not spark.version.startswith("4.1."):
                assert doctest.OutputChecker().check_output(step.prints, said, DOCTEST), said
        checkpoint = f"{data}/storage/_checkpoints/spark_catalog/default/hourly/hourly/1"
        refreshed = et.read_checkpoint(checkpoint, spark=spark).watermark
        assert refreshed is not None
        read = spark.table("reports").count()
        assert refreshed.on_time + sum(refreshed.late.values()) == read
    finally:
        for table in ("reports", "stock", "one_watermark", "hourly", "by_band"):
            spark.sql(f"DROP TABLE IF EXISTS {table}")
