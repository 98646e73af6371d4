"""Two drivers that start a query for the first time, in one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from py4j.protocol import Py4JJavaError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_the_second_one_ends_by_name(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes the query's id within ``start()``, before there is a query."""
    jvm: Any = spark.sparkContext._jvm
    metadata = jvm.org.apache.spark.sql.execution.streaming.runtime.StreamMetadata
    file = jvm.org.apache.hadoop.fs.Path(str(tmp_path / "metadata"))
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    metadata.write(metadata("of the first"), file, conf)
    begun = pytest.raises(et.errors.CheckpointError, match=r"another run has begun")
    with begun as raised, et.named_errors():
        metadata.write(metadata("of the second"), file, conf)
    assert raised.value.condition == "CHECKPOINT_TAKEN_OVER"


def test_other_errors_of_a_start_stay_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    """A checkpoint with a file of that name which is no JSON."""
    (tmp_path / "metadata").write_text("no JSON")
    writer = spark.readStream.format("rate").load().writeStream.format("console")
    with pytest.raises(Py4JJavaError, match="JsonParseException"), et.named_errors():
        writer.option("checkpointLocation", str(tmp_path)).start()
