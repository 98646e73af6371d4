"""The function of a bolt, and how it gets its windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pyspark import cloudpickle
from pyspark.errors import ParseException
from pyspark.sql.types import StructType

import eventtide
from eventtide._arguments import choice, of_type
from eventtide.errors import ArgumentTypeError, SetupError, refused, sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from eventtide.storm.tuple_window import TupleWindow

__all__ = ["Execution", "RowsAs"]

RowsAs = Literal["pandas", "arrow"]
"""As what a window gives its rows."""

_MOST_IN_MEMORY = 1_000_000  # Storm's default
_SCHEMA = ("columns with their types", "schema='user string, n long'")


@dataclass(frozen=True, eq=False, repr=False)
class Execution:
    """A function that is called with each window, and what it returns."""

    function: Callable[[TupleWindow], object]
    schema: str | StructType
    rows: RowsAs
    most: int

    @classmethod
    def of(
        cls,
        function: Callable[[TupleWindow], object],
        schema: str | StructType,
        rows: RowsAs,
        max_events_in_memory: int | None,
    ) -> Execution:
        """Check what `StormWindow.execute` was told."""
        if not callable(function):
            problem = f"has type {type(function).__name__}, which cannot be called"
            allowed, fix = "a function of a window", ".execute(top_users, 'user string, n long')"
            raise ArgumentTypeError(
                sentence("function", function, problem, allowed=allowed, fix=fix)
            )
        choice("rows", rows, get_args(RowsAs))
        _check_installed()
        of_type("schema", schema, (str, StructType), *_SCHEMA)
        return cls(function, schema, rows, max_events_in_memory or _MOST_IN_MEMORY)

    def to_options(self) -> dict[str, str]:
        """Return what the JVM reads."""
        return {"result": "rows"}

    def applied(self, lines: DataFrame) -> DataFrame:
        """Return the rows that the function returns for windows; see the JVM's `HandedOut`."""
        from eventtide.storm.stage import Stage  # noqa: PLC0415 - needs pyarrow

        # As the function itself does, it goes to workers that have not installed eventtide.
        cloudpickle.register_pickle_by_value(eventtide)  # type: ignore[no-untyped-call]
        schema = _row_type(self.schema)
        returned = lines.sparkSession.createDataFrame([], schema).toArrow().schema
        as_pandas = self.rows == "pandas"
        stage = Stage(self.function, returned, as_pandas=as_pandas, most=self.most)
        return lines.mapInArrow(stage, schema)

    def __repr__(self) -> str:
        """Return the method call that makes it."""
        name = getattr(self.function, "__name__", repr(self.function))
        rows = "" if self.rows == "pandas" else f", rows={self.rows!r}"
        schema = self.schema if isinstance(self.schema, str) else self.schema.simpleString()
        return f"execute({name}, {schema!r}{rows})"


def _row_type(schema: str | StructType) -> StructType:
    if isinstance(schema, StructType):
        return schema
    allowed, fix = _SCHEMA
    try:
        parsed: object = StructType.fromDDL(schema)
    except ParseException as error:
        problem = f"is none: {str(error).strip().partition(chr(10))[0]}"
        raise refused("schema", schema, problem, allowed=allowed, fix=fix) from None
    if not isinstance(parsed, StructType):
        raise refused("schema", schema, "is one type, not a row", allowed=allowed, fix=fix)
    return parsed


def _check_installed() -> None:
    """Refuse early what would fail in a worker."""
    try:
        import pandas as pd  # noqa: F401, PLC0415 - for rows as pandas, and for numpy
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError as missing:
        raise SetupError(
            f"execute(...) needs {missing.name}, which is not installed. Allowed: pandas and"
            " pyarrow, on the driver and on every worker. Try: pip install 'eventtide[storm]'."
        ) from None
