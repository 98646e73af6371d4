"""Fakes for a suite without a JVM: a DataFrame, the door that it leads to, and its errors."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from eventtide import __version__
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

SPARK = "4.3"
EXCEPTION = "io.eventtide.spark.EventtideException"


class FakeFrame(DataFrame):
    """A DataFrame that knows its columns and nothing else."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Skip PySpark's dispatch to the classic or the Connect class."""
        return object.__new__(cls)

    def __init__(self, *columns: str, streaming: bool = False) -> None:
        self.conf: dict[str, str] = {}
        self._columns = list(columns)
        self._streaming = streaming
        self._jdf = f"frame of {', '.join(columns)}"

    @property
    def columns(self) -> list[str]:
        """The names it was made with."""
        return self._columns

    @property
    def schema(self) -> StructType:
        """Each column as a string."""
        return StructType([StructField(name, StringType()) for name in self._columns])

    @property
    def isStreaming(self) -> bool:  # noqa: N802 - PySpark's name
        """Whether it was made as a stream."""
        return self._streaming

    def withColumn(self, colName: str, col: Column) -> FakeFrame:  # noqa: N802, N803 - PySpark's
        """Return a frame that has one more column and says what is in it."""
        more = FakeFrame(*self._columns, colName, streaming=self._streaming)
        more._jdf = f"{self._jdf}, {colName} as {col!r}"
        return more

    def select(self, *_: Any) -> Any:
        """Return a frame of one column, which is a time."""
        return SimpleNamespace(schema=StructType().add("one", TimestampType()))

    def selectExpr(self, *_: Any) -> FakeFrame:  # noqa: N802 - PySpark's name
        """Return the same frame."""
        return self

    def transform(self, func: Callable[..., DataFrame], *args: Any, **kwargs: Any) -> DataFrame:
        """Return what a function makes of it, as PySpark does."""
        return func(self, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Have no other columns."""
        raise AttributeError(name)

    def groupBy(self, *_: Any) -> Any:  # noqa: N802 - PySpark's name
        """Return groups that any aggregates can be made of."""
        return SimpleNamespace(agg=self.select)

    def __repr__(self) -> str:
        """Return its columns, as PySpark does."""
        return f"DataFrame[{', '.join(self._columns)}]"

    @property
    def sparkSession(self) -> Any:  # noqa: N802 - PySpark's name
        """A session that has only its Java twin and its settings."""
        conf = SimpleNamespace(get=self.conf.get)
        return SimpleNamespace(_jsparkSession="the java session", conf=conf)


def column(text: str) -> Column:
    """Return a column without a JVM, with text in place of its Java twin."""

    class FakeColumn(Column):
        def __new__(cls) -> Self:
            return object.__new__(cls)

        def __init__(self) -> None:
            self._jc = f"java {text}"

        def __repr__(self) -> str:
            return f"Column<'{text}'>"

        def alias(self, *alias: str, **_: Any) -> Column:
            return column(f"{text} AS {alias[0]}")

    return FakeColumn()


def called(function: str, of: str | Column) -> Column:
    """Return what a function of Spark's makes of a column."""
    return column(f"{function}({of if isinstance(of, str) else of._jc})")


class Requested(NamedTuple):
    """A request as `FakeDoor` has received it, without its id."""

    name: str
    rows: object
    options: dict[str, str]
    watermark: dict[str, str]
    columns: dict[str, list[str]]


class FakeDoor:
    """Stands in for ``io.eventtide.spark.api.PythonApi`` and remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
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

    def errorJson(self, error: JavaError | None) -> str | None:  # noqa: N802 - the JVM's name
        """Return the report of the error of eventtide that caused a Java exception."""
        return None if error is None else error.report()

    def request(
        self, rows: object, options: dict[str, str], columns: dict[str, list[str]]
    ) -> object:
        """Record a request, and give the prepared answer."""
        if self.fails_with is not None:
            raise self.fails_with
        assert UUID(options["id"])
        watermark = {
            name.removeprefix("watermark."): value
            for name, value in options.items()
            if name.startswith("watermark.")
        }
        others = {
            name: value
            for name, value in options.items()
            if name not in ("request", "id") and not name.startswith("watermark.")
        }
        given = {name: listed for name, listed in columns.items() if listed}
        self.calls.append(Requested(options["request"], rows, others, watermark, given))
        return self.answer

    def __getattr__(self, method: str) -> Any:
        """Record any other call and give the prepared answer."""

        def call(*arguments: Any) -> Any:
            if self.fails_with is not None:
                raise self.fails_with
            self.calls.append((method, *arguments))
            return self.answer

        return call


class WrappedFrame(FakeFrame):
    """What `_jvm` makes of a Java frame: keeps the Java side to compare with."""

    def __init__(self, jdf: object, session: object) -> None:
        super().__init__()
        self._jdf, self.session = jdf, session


class JavaError:
    """A Java exception as py4j shows it."""

    _target_id = "o1"

    def __init__(self, name: str, cause: JavaError | None = None, error_class: str = "") -> None:
        self.name, self.cause, self.error_class = name, cause, error_class
        self.suppressed: list[JavaError] = []

    def report(self) -> str | None:
        """Return what the JVM tells of the error of eventtide that caused it."""
        if self.name != EXCEPTION:
            causes = ([] if self.cause is None else [self.cause]) + self.suppressed
            return next(filter(None, (cause.report() for cause in causes)), None)
        problem, fix = "lag='-1s' is negative.", "Set it to a duration such as 'PT5S'."
        parameters = {"option": "lag", "value": "-1s"}
        fields = {"condition": "INVALID_DURATION", "parameters": parameters}
        return json.dumps(
            {
                "class": self.error_class,
                "message": problem,
                "problem": problem,
                "fix": fix,
                **fields,
            }
        )


def raised(java: JavaError) -> Py4JJavaError:
    """Return what py4j raises for a Java exception that PySpark does not know."""
    return Py4JJavaError("calling the door", java)


def ours(error_class: str) -> JavaError:
    """Return an exception of eventtide's JVM half."""
    return JavaError(EXCEPTION, error_class=error_class)


class FakeSession(SparkSession):
    """A session that has only its Java twin."""

    def __init__(self) -> None:
        self._jsparkSession = "the java session"
