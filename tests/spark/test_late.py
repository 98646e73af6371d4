"""Reading a late log from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import CheckpointError, InvalidArgumentError
from eventtide.testing import Script

from tests.spark.queries import EVENTS, at, counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICY = et.WatermarkPolicies.with_fixed_lag("0s")


@pytest.mark.smoke
def test_a_checkpoint_without_a_late_log_is_refused(spark: SparkSession) -> None:
    """By its path or by the query that has it, as a table and as a stream."""
    with Script(counts(POLICY), EVENTS) as script:
        script.rows([(at(1), "a")])
        checkpoint = script.checkpoint
        for of in (checkpoint, Path(checkpoint), script.streaming_query):
            with pytest.raises(CheckpointError, match="LATE_LOG_MISSING"):
                et.read_late(spark, of)
        stream = spark.readStream.format("eventtide-late").option("checkpoint", checkpoint)
        with pytest.raises(CheckpointError, match="LATE_LOG_MISSING"), et.named_errors():
            stream.load()
        assert et.progress(script.streaming_query).late == {}


def test_a_stream_without_a_checkpoint_is_refused(spark: SparkSession) -> None:
    """The option has no default."""
    with pytest.raises(InvalidArgumentError, match="'checkpoint' is missing"), et.named_errors():
        spark.readStream.format("eventtide-late").load()
