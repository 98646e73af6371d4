"""The pytest plugin of eventtide: the fixture ``script``.

It is a module of its own because pytest imports it in every run: the package eventtide, and with it
PySpark, is imported when the fixture is used.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eventtide.testing._script import Query, Script
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["ScriptFactory", "script"]


class ScriptFactory(Protocol):
    """The type of the fixture `script`: it takes the arguments of `Script`."""

    def __call__(self, query: Query, schema: str | StructType, **options: Any) -> Script:  # noqa: ANN401 - of Script
        """Start a script, which is closed at the end of the test."""


@pytest.fixture
def script() -> Iterator[ScriptFactory]:
    """Return a function that starts a `Script`; the plugin closes it after the test.

    The scripts use the active Spark session. Without one a local session is started, and stays for
    the tests that follow.

    Examples
    --------
    A test file needs no import::

        def test_a_minute_closes(script):
            minutes = script(counts, "ts timestamp")
            minutes.rows([("2024-01-01 00:00:07",)]).expect(results=[])
    """
    from eventtide.testing._script import Script  # noqa: PLC0415 - see the module

    with ExitStack() as started:

        def start(query: Query, schema: str | StructType, **options: Any) -> Script:  # noqa: ANN401 - of Script
            options.setdefault("session", _session())
            return started.enter_context(Script(query, schema, **options))

        yield start


def _session() -> SparkSession:
    import eventtide as et  # noqa: PLC0415 - see the module
    from pyspark.sql import SparkSession  # noqa: PLC0415 - see the module

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = SparkSession.builder.master("local[2]").appName("eventtide tests")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.ui.enabled", "false")
    return et.configure(builder).getOrCreate()
