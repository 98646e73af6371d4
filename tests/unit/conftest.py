"""Fixtures of a suite without a JVM; what they fake stands in fakes.py."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import settings
from pyspark import SparkContext
from pyspark.sql.streaming.query import StreamingQuery

from tests.unit.fakes import SPARK, FakeDoor, FakeFrame, WrappedFrame, called, column

settings.register_profile("unit", deadline=None, max_examples=200)
settings.load_profile("unit")


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> FakeDoor:
    """Return the door of a running session that can run eventtide."""
    door = FakeDoor()
    jvm = SimpleNamespace(**{"io.eventtide.spark.api.PythonApi": door})
    monkeypatch.setattr(SparkContext, "_jvm", jvm)
    monkeypatch.setattr(
        SparkContext, "_active_spark_context", SimpleNamespace(version=f"{SPARK}.0")
    )
    monkeypatch.setattr("eventtide._jvm.DataFrame", WrappedFrame)
    return door


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make columns of names and of SQL text without a JVM."""
    functions = SimpleNamespace(
        col=column, expr=lambda text: column(f"expr {text}"), lit=lambda one: column(f"lit {one}")
    )
    for name in ("count", "sum", "avg", "min", "max"):
        setattr(functions, name, partial(called, name))
    monkeypatch.setattr("eventtide._jvm.F", functions)
    for module in (
        "voltsp._extractors",
        "windows._extractors",
        "storm._model",
        "storm._streams",
        "windows._settings",
        "windows._sql",
    ):
        monkeypatch.setattr(f"eventtide.{module}.F", functions)


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
