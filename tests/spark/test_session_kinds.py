"""Objects of a classic session and of Spark Connect, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide.errors import SetupError
from eventtide.storm import StormWindow
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.spark.conftest import SERVER
from tests.spark.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

    Call = Callable[[SparkSession, SparkSession], object]

LAG = et.WatermarkPolicies.with_fixed_lag("5s")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return a session of Spark Connect, beside the classic session of all tests."""
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - a client has no other

    server = Server(tmp_path_factory.mktemp("server"), SERVER)
    session = SparkSession.builder.remote(server.url).create()
    yield session  # type: ignore[misc] # of the other kind
    session.stop()
    server.kill()


def stream(spark: SparkSession) -> DataFrame:
    """Return rows that arrive."""
    return spark.readStream.format("rate").load()


def batch(spark: SparkSession) -> DataFrame:
    """Return rows with the columns of the stream."""
    return spark.range(1).selectExpr("timestamp_seconds(id) AS timestamp", "id AS value")


def repaired(one: SparkSession, other: SparkSession, *, moved: str) -> DataFrame:
    """Repair results, with one of the DataFrames of the other session."""
    rows = {"results": batch(one), "late": batch(one), "source": batch(one), moved: batch(other)}
    window = et.window(stream(one)).event_time("timestamp", LAG).tumbling("10s")
    return et.repair(
        rows["results"], rows["late"], window.agg(F.count("*").alias("n")), source=rows["source"]
    )


def started(one: SparkSession, other: SparkSession) -> object:
    """Start a query with a writer of the other session."""
    timed = et.with_watermark(stream(one), "timestamp", LAG)
    return et.start(timed, stream(other).writeStream.format("noop"))


CALLS: dict[str, Call] = {
    "repair: results": lambda one, other: repaired(one, other, moved="results"),
    "repair: late": lambda one, other: repaired(one, other, moved="late"),
    "repair: source": lambda one, other: repaired(one, other, moved="source"),
    "over": lambda one, other: StormWindow().over({"a": stream(one), "b": stream(other)}),
    "start": started,
    "read_checkpoint": lambda one, other: et.read_checkpoint("/x", spark=one, plan=stream(other)),
}


@pytest.mark.parametrize("is_client_first", [False, True], ids=["classic first", "client first"])
@pytest.mark.parametrize("call", CALLS)
def test_objects_of_two_kinds_are_refused(
    spark: SparkSession, client: SparkSession, call: str, *, is_client_first: bool
) -> None:
    """With the reason, before Spark sees them."""
    one, other = (client, spark) if is_client_first else (spark, client)
    with pytest.raises(SetupError, match="belongs to a classic session, and another to Spark"):
        CALLS[call](one, other)
