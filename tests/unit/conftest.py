"""Fakes for a suite without a JVM: a DataFrame, a query and the door that they lead to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from eventtide import __version__
from hypothesis import settings
from pyspark import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

settings.register_profile("unit", deadline=None, max_examples=200)
settings.load_profile("unit")

SPARK = "4.3"


class FakeFrame(DataFrame):
    """A DataFrame that knows its columns and nothing else."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Skip PySpark's dispatch to the classic or the Connect class."""
        return object.__new__(cls)

    def __init__(self, *columns: str) -> None:
        self._columns = list(columns)
        self._jdf = f"frame of {', '.join(columns)}"

    @property
    def columns(self) -> list[str]:
        """The names it was made with."""
        return self._columns

    @property
    def sparkSession(self) -> Any:  # noqa: N802 - PySpark's name
        """A session that has only its Java twin."""
        return SimpleNamespace(_jsparkSession="the java session")


class FakeDoor:
    """Stands in for ``io.eventtide.spark.PythonApi`` and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.versions = (__version__, SPARK)
        self.installed = True
        self.fails_with: BaseException | None = None
        self.answer: Any = "a java frame"

    def version(self) -> str:
        """Return the jar's version."""
        return self.versions[0]

    def sparkVersion(self) -> str:  # noqa: N802 - the JVM's name
        """Return the Spark minor that the jar is for."""
        return self.versions[1]

    def isInstalled(self, session: object) -> bool:  # noqa: N802 - the JVM's name
        """Tell whether the session has the extension."""
        assert session == "the java session"
        return self.installed

    def __getattr__(self, method: str) -> Any:
        """Record any other call and give the prepared answer."""

        def call(*arguments: Any) -> Any:
            if self.fails_with is not None:
                raise self.fails_with
            self.calls.append((method, *arguments))
            return self.answer

        return call


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDoor]:
    """Return the door of a running session that can run eventtide."""
    door = FakeDoor()
    spark = SimpleNamespace(PythonApi=door)
    jvm = SimpleNamespace(io=SimpleNamespace(eventtide=SimpleNamespace(spark=spark)))
    monkeypatch.setattr(SparkContext, "_jvm", jvm)
    monkeypatch.setattr(
        SparkContext, "_active_spark_context", SimpleNamespace(version=f"{SPARK}.0")
    )
    monkeypatch.setattr("eventtide._jvm.DataFrame", _WrappedFrame)
    return door


class _WrappedFrame(FakeFrame):
    """What `_jvm` makes of a Java frame: keeps the Java side to compare with."""

    def __init__(self, jdf: object, session: object) -> None:
        super().__init__()
        self._jdf, self.session = jdf, session


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
        )
    )
