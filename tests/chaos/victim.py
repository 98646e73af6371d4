"""A query in a process of its own: ``python -m tests.chaos.victim FOLDER KIND SEED``.

It goes on where the checkpoint in the folder says, and ends when all is read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.chaos.session import session
from tests.chaos.trial import Run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main() -> int:
    """Run to the end."""
    parser = argparse.ArgumentParser("victim", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind")
    parser.add_argument("seed", type=int)
    parser.add_argument("--cluster", action="store_true", help="with executors of their own")
    parser.add_argument("--archives", action="store_true", help="keeps the classes for later runs")
    options = parser.parse_args()
    master = "local-cluster[2,1,1024]" if options.cluster else "local[2]"
    spark = session(master, faults=False, archives=options.archives)
    if options.cluster:
        _tell_lost_tasks(spark)
    run = Run(spark, options.folder, options.kind, options.seed, scheme="file")
    run.start()
    ended = run.finish()
    if ended.error is not None:
        sys.stderr.write(f"ENDED {ended.named} {ended.error}\n")
        return 3
    if options.archives:
        _await_jvm(spark)
    return 0


def _tell_lost_tasks(spark: SparkSession) -> None:
    """Log why tasks fail, as Spark runs them again."""
    jvm: Any = spark._jvm
    log4j = jvm.org.apache.logging.log4j
    manager = "org.apache.spark.scheduler.TaskSetManager"
    log4j.core.config.Configurator.setLevel(manager, log4j.Level.WARN)


def _await_jvm(spark: SparkSession) -> None:
    """End the JVM, which may have something to write as it ends."""
    context: Any = spark.sparkContext
    process = context._gateway.proc
    spark.stop()
    process.stdin.close()
    process.wait()


if __name__ == "__main__":
    sys.exit(main())
