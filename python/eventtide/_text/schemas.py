"""The types of rows that users give as text."""

from __future__ import annotations

from pyspark.errors import ParseException
from pyspark.sql.types import StructType

from eventtide.errors import refused

__all__ = ["row_type"]


def row_type(schema: str | StructType, fix: str = "schema='user string, n long'") -> StructType:
    """Return the type of a row from Spark DDL, which needs an active session.

    Raises
    ------
    InvalidArgumentError
        The text is not a schema, or is the schema of a single value.
    """
    if isinstance(schema, StructType):
        return schema
    allowed = "columns with their types"
    try:
        parsed: object = StructType.fromDDL(schema)
    except ParseException as error:
        problem = f"is not a schema: {str(error).strip().partition(chr(10))[0]}"
        raise refused("schema", schema, problem, allowed=allowed, fix=fix) from None
    if not isinstance(parsed, StructType):
        raise refused("schema", schema, "is one type, not a row", allowed=allowed, fix=fix)
    return parsed
