"""Fixtures of a suite without a JVM; what they fake stands in fakes.py."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import settings
from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from tests.unit.fakes import SPARK, FakeDoor, FakeFrame, WrappedFrame, column

settings.register_profile("unit", deadline=None, max_examples=200)
settings.load_profile("unit")


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> FakeDoor:
    """Return the door of a running session that can run eventtide."""
    door = FakeDoor()
    spark = SimpleNamespace(PythonApi=door)
    jvm = SimpleNamespace(io=SimpleNamespace(eventtide=SimpleNamespace(spark=spark)))
    monkeypatch.setattr(SparkContext, "_jvm", jvm)
    monkeypatch.setattr(
        SparkContext, "_active_spark_context", SimpleNamespace(version=f"{SPARK}.0")
    )
    monkeypatch.setattr("eventtide._jvm.DataFrame", WrappedFrame)
    return door


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make columns of names and of SQL text without a JVM."""
    functions = SimpleNamespace(col=column, expr=lambda text: column(f"expr {text}"))
    monkeypatch.setattr("eventtide._jvm.F", functions)


@pytest.fixture
def frame() -> FakeFrame:
    """Return a DataFrame with a few columns."""
    return FakeFrame("ts", "device", "site", "Amount")


@pytest.fixture
def query() -> StreamingQuery:
    """Return a running query."""
    return StreamingQuery(
        SimpleNamespace(
            id=lambda: SimpleNamespace(toString=lambda: "0f6a"),
            sparkSession=lambda: "the java session",
            isActive=lambda: True,
        )
    )
