"""What the function of a bolt returns, as Arrow batches for Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from eventtide.errors import ArgumentTypeError, InvalidArgumentError, sentence

__all__ = ["in_batches", "tables_of"]

_ROWS = 10_000  # of a batch: what windows return is mostly a row or two

_ALLOWED = (
    "a pandas DataFrame, an Arrow table or record batch, a dict, a list of dicts, None, or an"
    " iterator of these"
)
_FIX = "return [{'user': 'ada', 'n': 3}]"


def in_batches(tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Put small tables together."""
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


def tables_of(returned: object, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows that were returned, with the columns and types that were declared.

    Raises
    ------
    ArgumentTypeError
        It is nothing that rows can be made of.
    InvalidArgumentError
        A column is missing, or has values of another type.
    """
    if isinstance(returned, Iterator):
        for one in returned:
            yield from tables_of(one, schema)
        return
    rows = _table(returned, schema)
    if rows is not None and rows.num_rows:
        yield rows


def _table(returned: Any, schema: pa.Schema) -> pa.Table | None:  # noqa: ANN401 - a user's
    if returned is None:
        return None
    if isinstance(returned, Mapping):
        returned = [returned]
    if isinstance(returned, pa.RecordBatch):
        returned = pa.Table.from_batches([returned])
    if isinstance(returned, list) and all(isinstance(row, Mapping) for row in returned):
        names = {name for row in returned for name in row}
        _check_columns(names if names - set(schema.names) else set(schema.names), schema)
        return _made(lambda: pa.Table.from_pylist(returned, schema=schema), returned)
    if isinstance(returned, pa.Table):
        _check_columns(set(returned.column_names), schema)
        return _made(lambda: returned.select(schema.names).cast(schema), returned)
    if type(returned).__name__ == "DataFrame" and hasattr(returned, "columns"):
        _check_columns({str(name) for name in returned.columns}, schema)
        return _made(
            lambda: pa.Table.from_pandas(returned, schema=schema, preserve_index=False), returned
        )
    problem = f"has type {type(returned).__name__}"
    raise ArgumentTypeError(
        sentence("returned rows", returned, problem, allowed=_ALLOWED, fix=_FIX)
    )


def _check_columns(names: set[str], schema: pa.Schema) -> None:
    """Refuse other columns than were declared; those that dicts leave out are null."""
    if names == set(schema.names):
        return
    problem = "are not the columns that execute(...) was told"
    allowed = ", ".join(schema.names)
    fix = f"rows with {allowed}"
    raise InvalidArgumentError(
        sentence("returned columns", sorted(names), problem, allowed=allowed, fix=fix)
    )


def _made(make: Any, returned: object) -> pa.Table:  # noqa: ANN401 - a function of no arguments
    try:
        return make()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        problem = f"do not fit the columns that execute(...) was told: {error}"
        allowed = "values of the declared types"
        raise InvalidArgumentError(
            sentence("returned rows", returned, problem, allowed=allowed, fix="another schema")
        ) from None
