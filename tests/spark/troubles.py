"""What may happen to the first attempt of a task, in the middle of its rows.

- ``fail``: it fails;
- ``lose``: its executor is killed;
- ``slow``: it does not get on until Spark has started another attempt beside it.

What has happened has left a file, such as ``fail-id``, the attempt beside a slow one ``again-id``.
"""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TROUBLES = "fail", "lose", "slow"
AFTER = "checkpoint/commits/5"

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # so that some rows pass before
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "200ms",
}


def troubled(rows: DataFrame, column: str, folder: Path, trouble: str | None) -> DataFrame:
    """Let the trouble happen to the tasks that compute a column of whole numbers."""
    if trouble is None:
        return rows
    happens = partial(_same, folder, trouble, column)
    return rows.withColumn(column, F.udf(happens, "long", useArrow=True)(column))


def _same(folder: Path, trouble: str, place: str, value: int | None) -> int | None:
    """Return the value, if there is no trouble before."""
    task = TaskContext.get()
    assert task is not None
    again = folder / f"again-{place}"
    first = folder / f"{trouble}-{place}"
    if task.attemptNumber() > 0:
        again.touch()
    elif task.partitionId() == 0 and _may_happen(folder, value) and _once(first):
        _happen(trouble, again)
    return value


def _may_happen(folder: Path, value: int | None) -> bool:
    """Tell whether there are late rows and something in the state, and perhaps rows before."""
    return value is not None and value % 3 == 2 and (folder / AFTER).exists()


def _happen(trouble: str, again: Path) -> None:
    if trouble == "fail":
        raise RuntimeError("the first attempt fails")
    if trouble == "lose":
        os.kill(_executor(), signal.SIGKILL)
    while trouble == "slow" and not again.exists():
        time.sleep(0.02)


def _once(marker: Path) -> bool:
    """Tell whether this is the first time; all processes see the same file."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _executor() -> int:
    """Return the process that has started the daemon which has forked this one."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text("utf-8")
    return int(status.rpartition(")")[2].split()[1])
