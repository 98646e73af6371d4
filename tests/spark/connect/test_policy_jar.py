"""Policies of a jar beside a server: queries of its clients, in Python and SQL, and pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import eventtide as et
import pytest
from eventtide import WatermarkPolicies
from eventtide.errors import InvalidArgumentError, PolicyError
from eventtide.testing import Script
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention

from tests.jars import BESIDE_SPARK
from tests.spark.conftest import SERVER
from tests.spark.pipelines import Project
from tests.spark.policy_jar import compiled
from tests.spark.queries import EVENTS, at, counts, windowed
from tests.spark.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from eventtide import WatermarkPolicy
    from pyspark.sql import DataFrame

LIMITED = WatermarkPolicies.from_jar("limited_lag", lag="5s", limit="20000 days")
FLOW = """
import eventtide as et
from eventtide import WatermarkPolicies
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.getActiveSession()


@dp.table
def windows():
    rows = spark.readStream.schema("ts timestamp, key string")
    rows = rows.option("maxFilesPerTrigger", 1).json("{source}")
    limited = WatermarkPolicies.from_jar("limited_lag", lag="5s", limit="20000 days")
    window = et.window(rows).event_time("ts", limited).key_by("key").tumbling("10s")
    return window.agg(F.count("*").alias("n")).results.select("window.start", "key", "n")
"""


@pytest.fixture(scope="module")
def with_policies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server that has the jar of the policies."""
    folder = tmp_path_factory.mktemp("policies")
    jars = ",".join([*BESIDE_SPARK, str(compiled(folder))])
    with Server(folder / "server", SERVER | {"spark.jars": jars}) as server:
        yield server


@pytest.fixture
def session(with_policies: Server) -> Iterator[SparkSession]:
    """Return a session on it."""
    session = SparkSession.builder.remote(with_policies.url).create()
    yield session
    session.stop()


def by_key(policy: WatermarkPolicy) -> Callable[[DataFrame], DataFrame]:
    """Count in the time of each key, whose policies run in tasks."""

    def query(events: DataFrame) -> DataFrame:
        window = et.window(events).event_time("ts", policy).key_by("key").watermark_scope("key")
        results = window.tumbling("10s").agg(F.count("*").alias("n")).results
        return results.select(F.unix_timestamp("window.start") % 3600, "key", "n")

    return query


def test_it_moves_the_watermark_of_a_query(session: SparkSession) -> None:
    """Of substreams, and after a restart."""
    with Script(counts(LIMITED, substream="key"), EVENTS, session=session) as script:
        script.rows([(at(7), "a"), (at(31), "b")]).expect(watermark=at(2)[:19])
        script.rows([(at(41), "a")]).expect(watermark=at(26)[:19], results=[(0, 1)])
        script.stop().restart().rows([(at(51), "b")]).expect(watermark=at(36)[:19])


def test_it_moves_the_watermarks_of_keys(session: SparkSession) -> None:
    """In the tasks of the server."""
    with Script(by_key(LIMITED), EVENTS, session=session) as script:
        rows = [(at(7), "a"), (at(7), "b"), (at(31), "b")]
        script.rows(rows).expect(results=[(0, "b", 1)])


@pytest.mark.parametrize(
    "written",
    [
        "limited_lag('5s', limit => '20000 days')",
        "'limited_lag', limit => INTERVAL '20000' DAY, lag => '5s'",
    ],
)
def test_it_has_its_name_in_sql(session: SparkSession, written: str) -> None:
    """With its parameters by place and by name."""

    def in_sql(events: DataFrame) -> DataFrame:
        rows = f"eventtide_watermark(TABLE({{events}}), ts, {written}, substream => key)"
        return windowed(session.sql("FROM " + rows, events=events))

    with Script(in_sql, EVENTS, session=session) as script:
        script.rows([(at(7), "a"), (at(31), "b")]).expect(watermark=at(2)[:19])


@pytest.mark.parametrize("query", [counts, by_key])
def test_an_error_of_it_stops_the_query(
    session: SparkSession, query: Callable[[WatermarkPolicy], Callable[[DataFrame], DataFrame]]
) -> None:
    """On the driver, and in tasks."""
    throwing = WatermarkPolicies.from_jar("throwing")
    with Script(query(throwing), EVENTS, session=session) as script:
        script.rows([(at(7), "a")])
        with pytest.raises(PolicyError, match=r"throwing failed: observe .*IllegalStateException"):
            script.rows([(at(13), "a")])


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("limitless", {}, "'limitless'; allowed are with_fixed_lag, "),
        ("limited_lag", {"lag": "5s"}, "'limit' is missing"),
    ],
)
def test_a_wrong_name_or_parameter_is_refused(
    session: SparkSession, name: str, values: dict[str, str], said: str
) -> None:
    """Before the query starts."""
    with pytest.raises(InvalidArgumentError, match=said):
        Script(counts(WatermarkPolicies.from_jar(name, **values)), EVENTS, session=session)


def test_it_moves_the_watermark_of_a_flow(
    with_policies: Server, session: SparkSession, tmp_path: Path
) -> None:
    """Of a pipeline that the server runs."""
    source = tmp_path / "in"
    source.mkdir()
    for name, second in (("1", 7), ("2", 31)):
        (source / name).write_text(f'{{"ts": "{at(second)[:19]}", "key": "a"}}\n', "utf-8")
    session.sql("CREATE DATABASE tide_policies")
    flow = FLOW.format(source=source)
    Project(tmp_path / "tide", "tide_policies", flows_py=flow).run(with_policies)
    [row] = session.table("tide_policies.windows").collect()
    assert (row["key"], row["n"]) == ("a", 1)
