"""Conversion of values that Spark cannot compare to values that it can compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    MapType,
    StructType,
    VariantType,
)

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

__all__ = ["comparable"]


def comparable(value: Column, kind: DataType) -> Column:
    """Return a value of an orderable type that preserves equality.

    A map becomes its sorted entries, a variant its JSON and its type, an interval its text. Arrays
    and structs are converted element by element. A null stays null.
    """
    if isinstance(kind, CalendarIntervalType):
        return value.cast("string")
    if isinstance(kind, VariantType):
        told = F.struct(F.to_json(value), F.schema_of_variant(value))
        return F.when(value.isNotNull(), told)
    if isinstance(kind, MapType):
        entries = F.map_entries(value)
        return F.array_sort(F.transform(entries, lambda entry: _entry(entry, kind)))
    if not _has_unordered(kind):
        return value
    if isinstance(kind, ArrayType):
        element = kind.elementType
        return F.transform(value, lambda one: comparable(one, element))
    return F.when(value.isNotNull(), _fields(value, kind))


def _entry(entry: Column, kind: MapType) -> Column:
    key, value = comparable(entry["key"], kind.keyType), comparable(entry["value"], kind.valueType)
    return F.struct(key.alias("key"), value.alias("value"))


def _fields(value: Column, kind: DataType) -> Column:
    fields = kind.fields if isinstance(kind, StructType) else []
    parts = (comparable(value[field.name], field.dataType) for field in fields)
    return F.struct(*(part.alias(f"_{i}") for i, part in enumerate(parts)))


def _has_unordered(kind: DataType) -> bool:
    if isinstance(kind, ArrayType):
        return _has_unordered(kind.elementType)
    if isinstance(kind, StructType):
        return any(_has_unordered(field.dataType) for field in kind.fields)
    return isinstance(kind, (CalendarIntervalType, MapType, VariantType))
