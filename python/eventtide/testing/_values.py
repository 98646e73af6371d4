"""Row values in a comparable and readable form: times are text in UTC."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    Row,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from eventtide._text.arguments import of_type
from eventtide.errors import InvalidArgumentError, refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RowLike: TypeAlias = "Mapping[str, Any] | Sequence[Any]"
"""A row in a test: values by column name, or in the order of the columns."""


def time_text(value: str | datetime) -> str:
    """Return a time as ``2024-01-01T00:00:07Z``, with microseconds only if they are not zero.

    A time without a zone is in UTC.

    Raises
    ------
    InvalidArgumentError
        The text is not ISO 8601.
    ArgumentTypeError
        The value is neither text nor a datetime.
    """
    moment = _parsed(value)
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return zoned.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def _parsed(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    allowed, fix = "ISO 8601 text or a datetime", "'2024-01-01 00:00:07'"
    of_type("time", value, str, allowed, fix)
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        raise refused("time", value, "is not a time", allowed=allowed, fix=fix) from None


def moment(value: str | datetime) -> datetime:
    """Return a time as an aware datetime in UTC."""
    return datetime.fromisoformat(time_text(value).replace("Z", "+00:00"))


def readable(value: Any, kind: DataType, *, collected: bool = False) -> Any:  # noqa: ANN401 - any value a row can hold
    """Return a value of an expected or a collected row in comparable form."""
    if value is None:
        return None
    if isinstance(kind, (TimestampType, TimestampNTZType)):
        is_local = collected and isinstance(kind, TimestampType) and isinstance(value, datetime)
        return time_text(value.astimezone(timezone.utc) if is_local else value)
    if isinstance(kind, StructType):
        return readable_row(value, kind, collected=collected)
    if isinstance(kind, ArrayType):
        return [readable(item, kind.elementType, collected=collected) for item in value]
    if isinstance(kind, MapType):
        items = value.items()
        return {key: readable(item, kind.valueType, collected=collected) for key, item in items}
    return value


def readable_row(row: RowLike, schema: StructType, *, collected: bool = False) -> dict[str, Any]:
    """Return a row as a dict by column name.

    A time without a zone is in UTC; in a row that PySpark has collected, it is a time of the
    machine's zone.

    Raises
    ------
    InvalidArgumentError
        The columns of the row differ from the columns of the schema.
    """
    names = schema.fieldNames()
    if isinstance(row, Row):
        given = row.asDict()
    elif isinstance(row, dict):
        given = dict(row)
    elif isinstance(row, str) or not isinstance(row, Sized) or len(row) != len(names):
        raise _other_columns(row, names)
    else:
        given = dict(zip(names, row, strict=True))
    if set(given) != set(names):
        raise _other_columns(row, names)
    return {
        field.name: readable(given[field.name], field.dataType, collected=collected)
        for field in schema.fields
    }


def storable(row: RowLike, schema: StructType) -> tuple[Any, ...]:
    """Return a row in the form that ``createDataFrame`` requires, with aware datetimes.

    Columns that a dict omits are null.

    Raises
    ------
    InvalidArgumentError
        The row has a column that is not in the schema, or another number of values.
    """
    names = schema.fieldNames()
    if isinstance(row, str) or not isinstance(row, Iterable):
        raise _other_columns(row, names)
    if isinstance(row, dict) and not set(row) <= set(names):
        raise _other_columns(row, names)
    values = [row.get(name) for name in names] if isinstance(row, dict) else list(row)
    if len(values) != len(names):
        raise _other_columns(row, names)
    return tuple(
        _stored(value, field.dataType) for value, field in zip(values, schema.fields, strict=True)
    )


def _other_columns(row: RowLike, names: Sequence[str]) -> InvalidArgumentError:
    return refused(
        "row",
        row,
        "does not have the columns of the schema",
        allowed=f"a dict or a tuple of {', '.join(names)}",
        fix="script.rows([(...), (...)]), a list of rows for each batch",
    )


def _stored(value: Any, kind: DataType) -> Any:  # noqa: ANN401 - any value a row can hold
    if isinstance(value, (str, datetime)):
        if isinstance(kind, TimestampType):
            return moment(value)
        if isinstance(kind, TimestampNTZType):
            return moment(value).replace(tzinfo=None)
    return value
