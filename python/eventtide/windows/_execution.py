"""A function that is called with each window, in Spark's Python workers."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

from pyspark.sql.types import StructType

from eventtide import _bridge
from eventtide._text.arguments import choice, of_type
from eventtide._text.schemas import row_type
from eventtide._worker.by_value import ByValue
from eventtide.errors import ArgumentTypeError, pip_install, refused, unready

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from eventtide._worker.tuple_window import TupleWindow

__all__ = ["Execution", "RowsAs"]

RowsAs = Literal["pandas", "arrow"]
"""The format in which a window provides its rows."""

_MOST_IN_MEMORY = 1_000_000  # Storm's default
_SCHEMA = ("columns with their types", "schema='user string, n long'")

# The modules that a worker needs. They are imported lazily, because they need pyarrow.
_OF_WORKERS = (
    "eventtide.errors",
    "eventtide._worker.held",
    "eventtide._worker.returned",
    "eventtide._worker.stage",
    "eventtide._worker.tuple_window",
)


@dataclass(frozen=True, eq=False, repr=False)
class Execution:
    """A function that is called with each window, and the schema of its result."""

    function: Callable[[TupleWindow[Any]], object]
    schema: str | StructType
    rows: RowsAs
    most: int

    @classmethod
    def of(
        cls,
        function: Callable[[TupleWindow[Any]], object],
        schema: str | StructType,
        rows: RowsAs,
        max_events_in_memory: int | None,
    ) -> Execution:
        """Check the arguments of `StormWindow.execute`."""
        if not callable(function):
            problem = f"has type {type(function).__name__}, which cannot be called"
            allowed, fix = "a function of a window", ".execute(top_users, 'user string, n long')"
            raise refused(
                "function", function, problem, allowed=allowed, fix=fix, error=ArgumentTypeError
            )
        choice("rows", rows, get_args(RowsAs))
        of_type("schema", schema, (str, StructType), *_SCHEMA)
        _check_installed("pyarrow", *(["pandas"] if rows == "pandas" else []))
        return cls(function, schema, rows, max_events_in_memory or _MOST_IN_MEMORY)

    def to_options(self) -> dict[str, str]:
        """Return the options for the JVM."""
        return {"result": "rows"}

    def applied(self, lines: DataFrame) -> DataFrame:
        """Return the rows that the function returns for the windows of `RowWindowOutput`."""
        if _bridge.of(lines).schema(lines) is None:
            raise unready(
                "A flow of a pipeline cannot call execute(...), because Spark's mapInArrow asks the"
                " server, which a flow may not do.",
                "Use agg(...), or a streaming query of your own.",
            )
        spark, schema = lines.sparkSession, row_type(self.schema)
        from eventtide._worker.stage import Stage  # noqa: PLC0415 - needs pyarrow

        stage = Stage(
            self.function,
            spark.createDataFrame([], schema).toArrow().schema,
            zone=str(spark.conf.get("spark.sql.session.timeZone")),
            as_pandas=self.rows == "pandas",
            most=self.most,
        )
        return lines.mapInArrow(ByValue(stage, *_OF_WORKERS), schema)

    def __repr__(self) -> str:
        """Return the method call that sets this function."""
        name = getattr(self.function, "__name__", repr(self.function))
        rows = "" if self.rows == "pandas" else f", rows={self.rows!r}"
        schema = self.schema if isinstance(self.schema, str) else self.schema.simpleString()
        return f"execute({name}, {schema!r}{rows})"


def _check_installed(*libraries: str) -> None:
    """Reject missing libraries on the driver, before they fail in a worker."""
    missing = [library for library in libraries if find_spec(library) is None]
    if missing:
        names = " and ".join(missing)
        raise unready(
            f"execute(...) needs {names}, not installed here. Allowed: {' and '.join(libraries)},"
            " on the driver and on every worker.",
            pip_install("storm"),
        )
