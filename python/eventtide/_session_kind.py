"""The kind of session that an object belongs to: classic, or Spark Connect."""

from __future__ import annotations

from eventtide.errors import SetupError, unready

__all__ = ["is_connect", "no_session"]


def is_connect(thing: object) -> bool:
    """Return whether an object belongs to Spark Connect, without importing Spark Connect."""
    return any(base.__module__.startswith("pyspark.sql.connect.") for base in type(thing).__mro__)


def no_session() -> SetupError:
    """Return the error about a session that is needed and not there."""
    fix = "Start one: spark = et.configure(SparkSession.builder).getOrCreate()."
    return unready("No Spark session is active.", fix)
