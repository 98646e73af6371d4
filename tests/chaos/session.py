"""Sessions for the campaigns: the installed wheel, and the file system in which calls go wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
from pyspark.sql import SparkSession

from tests.chaos import policy_jar
from tests.jars import ARCHIVE, BESIDE_SPARK, CHAOS, FIRST, SHARED_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.chaos.kinds import Kind

ROOT = Path(__file__).parents[2]
_STREAMING = "spark.sql.streaming"

SETTINGS = {
    "spark.hadoop.fs.chaos.impl": "io.eventtide.chaos.ChaosFileSystem",
    "spark.hadoop.fs.chaos.impl.disable.cache": "true",
    "spark.driver.extraClassPath": FIRST,
    "spark.executor.extraClassPath": FIRST,
    "spark.executor.extraJavaOptions": SHARED_CLASSES,
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.codegen.wholeStage": "false",  # compiling is most of what a short query costs
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    f"{_STREAMING}.stateStore.minDeltasForSnapshot": "2",
    f"{_STREAMING}.stateStore.maintenanceInterval": "500ms",
    f"{_STREAMING}.stateStore.unloadOnCommit": "false",
    # of a cluster, however often executors are killed
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.task.maxFailures": "100",
    "spark.stage.maxConsecutiveAttempts": "100",
}
CHANGELOG = f"{_STREAMING}.stateStore.rocksdb.changelogCheckpointing.enabled"
RETAIN = f"{_STREAMING}.minBatchesToRetain"
# Spark's own operators have no batch without rows after a restart: what is due waits for rows.
NO_DATA = f"{_STREAMING}.noDataMicroBatches.enabled"


FILE_MANAGER = f"{_STREAMING}.checkpointFileManagerClass"


# Of a query in real-time mode: short batches, from Kafka to Kafka.
REAL_TIME = {f"{_STREAMING}.realTimeMode.minBatchDuration": "500"}


def suit(spark: SparkSession, kind: Kind) -> None:
    """Set what queries of a kind need."""
    spark.conf.set(CHANGELOG, str(kind.changelog).lower())
    spark.conf.set(NO_DATA, str(kind.logs).lower())
    spark.conf.set(RETAIN, str(kind.retain))


def session(  # noqa: PLR0913 - a session has that many parts
    master: str = "local[2]",
    *,
    faults: bool = True,
    archives: bool = False,
    real_time: bool = False,
    more: Mapping[str, str] | None = None,
    beside: Sequence[str] = (),
) -> SparkSession:
    """Return a session for short runs.

    With faults, the file manager of the campaigns writes the checkpoints; without, that of
    `et.configure`. A session that archives writes `ARCHIVE` when it ends. There may be more
    settings, and more jars beside Spark's.
    """
    if not CHAOS.is_file():
        raise FileNotFoundError(f"{CHAOS} is missing: dev/chaos makes it")
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    classes = f"-XX:ArchiveClassesAtExit={ARCHIVE}" if archives else SHARED_CLASSES
    builder = SparkSession.builder.master(master).appName("eventtide-chaos")
    settings = SETTINGS | (REAL_TIME if real_time else {}) | dict(more or {})
    for key, value in settings.items():
        builder = builder.config(key, value)
    if jars := [*policy_jar.jars(), *(BESIDE_SPARK if real_time else []), *beside]:
        builder.config("spark.jars", ",".join(jars))
    if faults:
        builder.config(FILE_MANAGER, "io.eventtide.chaos.ChaosFiles")
    builder.config(
        "spark.driver.extraJavaOptions", f"-XX:ReservedCodeCacheSize=256m -Xss4m {classes}"
    )
    spark = et.configure(builder, real_time=real_time).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark
