"""What may happen to the first attempt of a task, in the middle of its rows.

- ``fail``: it fails;
- ``lose``: its executor is killed;
- ``slow``: it does not get on until Spark has started another attempt beside it.

Of several each happens once, one after the other. What has happened has left a file, such as
``slow-id``, and the attempt beside a slow one ``slow-id-twin``.
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
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

TROUBLES = {"fail": 3, "lose": 4, "slow": 5}  # after which batch each may happen

SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # so that some rows pass before
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "200ms",
}


def troubled(rows: DataFrame, column: str, folder: Path, troubles: Sequence[str]) -> DataFrame:
    """Let the troubles happen to the tasks that compute a column of whole numbers."""
    if not troubles:
        return rows
    happens = partial(_same, folder, troubles, column)
    return rows.withColumn(column, F.udf(happens, "long", useArrow=True)(column))


def _same(folder: Path, troubles: Sequence[str], place: str, value: int | None) -> int | None:
    """Return the value, if there is no trouble before."""
    task = TaskContext.get()
    assert task is not None
    for trouble in troubles if task.partitionId() == 0 else ():
        first = folder / f"{trouble}-{place}"
        twin = folder / f"{trouble}-{place}-twin"
        if task.attemptNumber() == 0 and _may_happen(folder, trouble, value) and _once(first):
            _happen(trouble, twin)
        elif trouble == "slow" and task.attemptNumber() > 0 and first.exists():
            twin.touch()
    return value


def _may_happen(folder: Path, trouble: str, value: int | None) -> bool:
    """Tell whether there are late rows and something in the state, and perhaps rows before."""
    commit = folder / f"checkpoint/commits/{TROUBLES[trouble]}"
    return value is not None and value % 3 == 2 and commit.exists()


def _happen(trouble: str, twin: Path) -> None:
    if trouble == "fail":
        raise RuntimeError("the first attempt fails")
    if trouble == "lose":
        os.kill(_executor(), signal.SIGKILL)
    while trouble == "slow" and not twin.exists():
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
