"""The Spark session of the demonstration."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import eventtide as et
from eventtide.cli._stderr import stderr_to
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["ORDERED", "SETTINGS", "UI", "start", "state_store", "tab"]

_STREAMING = "org.apache.spark.sql.execution.streaming"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
ORDERED = {_PROVIDER: f"{_STREAMING}.state.RocksDBStateStoreProvider", _FORMAT: "2"}

# The time of a micro-batch of fifty rows is mostly overhead, which these settings reduce for every
# query alike. Compiling code is not worthwhile for a batch of a tenth of a second: hence the two
# settings for code generation, and only the JVM's first compiler. There is one partition, because
# there are few rows.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.pollingDelay": "5ms",
    _PROVIDER: f"{_STREAMING}.state.HDFSBackedStateStoreProvider",
    _FORMAT: "1",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=192m -XX:+UseSerialGC"
    ),
}

UI = {"spark.ui.enabled": "true", "spark.ui.port": "0"}
"""Settings for a session with Spark's UI, at a free port."""


def start(
    log: Path, more: Mapping[str, str] | None = None, *, real_time: bool = False
) -> SparkSession:
    """Start a session on two cores whose JVM writes its output into `log`."""
    builder = SparkSession.builder.master("local[2]").appName("eventtide lab")
    for key, value in {**SETTINGS, **(more or {})}.items():
        builder = builder.config(key, value)
    with stderr_to(log):
        spark = et.configure(builder, real_time=real_time).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
    return spark


def tab(spark: SparkSession) -> str:
    """Return the address of the tab of Spark's UI that shows the queries while they run."""
    return f"{spark.sparkContext.uiWebUrl}/eventtide/"


@contextmanager
def state_store(spark: SparkSession, *, ordered: bool) -> Iterator[None]:
    """Use RocksDB, which eventtide windows need, or the default for queries started in this block.

    A query keeps the settings that the session had when it was started.
    """
    default = {key: SETTINGS[key] for key in ORDERED}
    _set(spark, ORDERED if ordered else default)
    try:
        yield
    finally:
        _set(spark, default)


def _set(spark: SparkSession, settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        spark.conf.set(key, value)
