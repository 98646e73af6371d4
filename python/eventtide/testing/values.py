"""Row values in a form that can be compared and read: times are text in UTC."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RowLike: TypeAlias = "Mapping[str, Any] | Sequence[Any]"
"""A row as a user writes it: values by column name, or in the order of the columns."""


def time_text(value: str | datetime) -> str:
    """Return a time as ``2024-01-01T00:00:07Z``, with microseconds only where there are any.

    A time without a zone is in UTC.

    Raises
    ------
    ValueError
        Text that is not ISO 8601.
    """
    moment = (
        datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value
    )
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return zoned.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def moment(value: str | datetime) -> datetime:
    """Return a time as an aware datetime in UTC."""
    return datetime.fromisoformat(time_text(value).replace("Z", "+00:00"))


def readable(value: Any, kind: DataType) -> Any:  # noqa: ANN401 - any value a row can hold
    """Return a value of a row, its own or an expected one, in the form that is compared."""
    if value is None:
        return None
    if isinstance(kind, (TimestampType, TimestampNTZType)):
        return time_text(value)
    if isinstance(kind, StructType):
        return readable_row(value, kind)
    if isinstance(kind, ArrayType):
        return [readable(item, kind.elementType) for item in value]
    if isinstance(kind, MapType):
        return {key: readable(item, kind.valueType) for key, item in value.items()}
    return value


def readable_row(row: RowLike, schema: StructType) -> dict[str, Any]:
    """Return a row as a dict by column name.

    Raises
    ------
    ValueError
        A row whose columns are not those of the schema.
    """
    names = schema.fieldNames()
    if isinstance(row, Row):
        given = row.asDict()
    elif isinstance(row, dict):
        given = dict(row)
    else:
        given = dict(zip(names, row, strict=len(row) == len(names)))
    if set(given) != set(names) or (not hasattr(row, "keys") and len(row) != len(names)):
        raise ValueError(f"The row {row!r} does not have the columns {', '.join(names)}.")
    return {field.name: readable(given[field.name], field.dataType) for field in schema.fields}


def storable(row: RowLike, schema: StructType) -> tuple[Any, ...]:
    """Return a row as ``createDataFrame`` wants it, times as aware datetimes."""
    names = schema.fieldNames()
    values = [row.get(name) for name in names] if isinstance(row, dict) else list(row)
    if len(values) != len(names):
        raise ValueError(f"The row {row!r} does not have the columns {', '.join(names)}.")
    return tuple(
        _stored(value, field.dataType) for value, field in zip(values, schema.fields, strict=True)
    )


def _stored(value: Any, kind: DataType) -> Any:  # noqa: ANN401 - any value a row can hold
    if isinstance(value, (str, datetime)):
        if isinstance(kind, TimestampType):
            return moment(value)
        if isinstance(kind, TimestampNTZType):
            return moment(value).replace(tzinfo=None)
    return value
