"""`et.watch` in the kernel of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbformat.v4 as nbf
import pytest
from nbclient import NotebookClient

if TYPE_CHECKING:
    from pathlib import Path

STARTS = """
import threading
import time

import eventtide as et
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = et.configure(builder.config("spark.sql.session.timeZone", "UTC")).getOrCreate()
rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
lag = et.WatermarkPolicies.with_fixed_lag("0s")
timed = et.with_watermark(rows, "timestamp", lag)
query = timed.writeStream.format("noop").queryName("visits").start()


def stop_after(watermarks):
    seen = set()
    while len(seen - {None}) < watermarks:
        seen.add(et.progress(query).emitted)
        time.sleep(0.05)
    query.stop()


threading.Thread(target=stop_after, args=(2,)).start()
"""
WATCHES = "et.watch(query, every='50ms')"
ENDS = "print(f'{et.progress(query).emitted:%Y-%m-%d %H:%M:%S}')"


@pytest.mark.long
def test_the_output_of_a_cell_follows_the_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one output, which at the end has the last watermark of the query."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbf.new_notebook(cells=[*map(nbf.new_code_cell, (STARTS, WATCHES, ENDS))])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    _, watched, ended = notebook.cells
    [output] = watched.outputs
    assert output.output_type == "display_data"
    assert "<code>visits  watermark " in output.data["text/html"]
    assert ended.outputs[0].text.strip() in output.data["text/html"]
