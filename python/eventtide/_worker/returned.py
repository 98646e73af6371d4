"""The return values of a bolt's function, as Arrow batches for Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from eventtide.errors import ArgumentTypeError, refused

__all__ = ["Returned", "in_batches"]

_ROWS = 10_000  # per batch, because a window mostly returns one or two rows
_ALLOWED = (
    "a pandas DataFrame, an Arrow table or record batch, a dict, a list of dicts, None, or an"
    " iterator of these"
)
_FIX = "return [{'user': 'ada', 'n': 3}]"
_MISFITS = (pa.ArrowException, ValueError, TypeError, KeyError, OverflowError, AttributeError)


def in_batches(tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Combine small tables into batches."""
    gathered: list[pa.Table] = []
    rows = 0
    for table in tables:
        gathered.append(table)
        rows += table.num_rows
        if rows >= _ROWS:
            yield from _whole(gathered)
            gathered, rows = [], 0
    yield from _whole(gathered)


def _whole(tables: list[pa.Table]) -> Iterator[pa.RecordBatch]:
    if tables:
        yield from pa.concat_tables(tables).combine_chunks().to_batches()


class Returned:
    """Converts the return values of a function to tables.

    Parameters
    ----------
    schema : pyarrow.Schema
        The declared columns, which all tables have.
    zone : str
        The time zone of times without a zone: the zone of the Spark session.
    """

    def __init__(self, schema: pa.Schema, zone: str) -> None:
        self._schema, self._zone = schema, zone

    def tables(self, returned: object) -> Iterator[pa.Table]:
        """Yield the returned rows as tables.

        Raises
        ------
        ArgumentTypeError
            The value cannot be converted to rows.
        InvalidArgumentError
            A column is missing, or has values of another type.
        """
        if isinstance(returned, Iterator):
            for one in returned:
                yield from self.tables(one)
        elif (rows := self._rows(returned)) is not None and rows.num_rows:
            yield rows

    def _rows(self, returned: Any) -> pa.Table | None:  # noqa: ANN401 - a user's
        if returned is None:
            return None
        if isinstance(returned, Mapping):
            return self._of_dicts([returned])
        if isinstance(returned, pa.RecordBatch):
            return self._of_table(pa.Table.from_batches([returned]))
        if isinstance(returned, pa.Table):
            return self._of_table(returned)
        if type(returned).__name__ == "DataFrame" and hasattr(returned, "columns"):
            return self._made(list(returned.columns), returned.__getitem__, returned)
        if isinstance(returned, list) and all(isinstance(row, Mapping) for row in returned):
            return self._of_dicts(returned)
        problem = f"has type {type(returned).__name__}"
        raise refused(
            "returned rows", returned, problem, allowed=_ALLOWED, fix=_FIX, error=ArgumentTypeError
        )

    def _of_table(self, table: pa.Table) -> pa.Table:
        return self._made(table.column_names, table.column, table)

    def _of_dicts(self, rows: list[Mapping[str, Any]]) -> pa.Table:
        """Return rows from dicts; columns that a dict omits are null."""
        known = self._schema.names
        named = list(dict.fromkeys(name for row in rows for name in row))
        names = known if set(named) <= set(known) else named
        return self._made(names, lambda name: [row.get(name) for row in rows], rows)

    def _made(self, names: list[Any], column: Callable[[str], Any], returned: object) -> pa.Table:
        self._check_columns(names)
        try:
            columns = [self._column(field, column(field.name)) for field in self._schema]
        except _MISFITS as error:
            problem = f"do not match the columns of execute(...): {error}"
            allowed = f"values of {', '.join(f'{f.name} {f.type}' for f in self._schema)}"
            raise refused(
                "returned rows", returned, problem, allowed=allowed, fix="another schema"
            ) from None
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _check_columns(self, names: list[Any]) -> None:
        """Reject columns that differ from the declared columns."""
        if sorted(map(str, names)) == sorted(self._schema.names):
            return
        problem = "are not the columns of execute(...)"
        allowed = ", ".join(self._schema.names)
        raise refused(
            "returned columns", names, problem, allowed=allowed, fix=f"rows with {allowed}"
        )

    def _column(self, field: pa.Field, values: Any) -> Any:  # noqa: ANN401 - of any kind
        """Return values with the declared type; null values of pandas are null."""
        is_time = pa.types.is_timestamp(field.type)
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            made = values
        elif is_time:
            made = pa.array(values, from_pandas=True)
        else:
            return pa.array(values, type=field.type, from_pandas=True)
        if is_time and pa.types.is_integer(made.type):  # the unit is unknown
            raise ValueError(f"{field.name} has whole numbers, and is declared as a time")
        if is_time and _is_naive(made.type) and not _is_naive(field.type):
            made = pc.assume_timezone(made, self._zone, ambiguous="latest", nonexistent="latest")  # pyright: ignore[reportAttributeAccessIssue]
        return made.cast(field.type)


def _is_naive(kind: pa.DataType) -> bool:
    return pa.types.is_timestamp(kind) and kind.tz is None
