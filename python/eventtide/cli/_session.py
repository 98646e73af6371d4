"""The Spark session of a command, and its errors."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from pyspark.sql import SparkSession
from rich.console import Console

import eventtide as et
from eventtide._jvm import JVM_ERRORS, text_of
from eventtide.cli._stderr import stderr_to
from eventtide.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Conf", "session"]

Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", help="key=value for Spark, such as the settings of an object store."),
]


@contextmanager
def session(console: Console, conf: list[str] | None) -> Iterator[SparkSession]:
    """Run Spark in this process without log output; print errors without a stack trace."""
    builder = SparkSession.builder.master("local[2]").appName("eventtide")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 2)
    for setting in conf or []:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            allowed = "Allowed is key=value, such as --conf spark.hadoop.fs.s3a.endpoint=..."
            raise typer.BadParameter(f"--conf is {setting!r}. {allowed}")
        builder = builder.config(key, value)
    try:
        with console.status("Starting Spark"):
            spark = _quietly(et.configure(builder))
        try:
            yield spark
        finally:
            spark.stop()
    except InvalidArgumentError as error:
        _fail(str(error), 2)
    except et.EventtideError as error:
        _fail(str(error), 1)
    except JVM_ERRORS as error:  # such as a missing file system
        _fail(text_of(error), 1)


def _fail(sentence: str, code: int) -> NoReturn:
    """Print an error without a stack trace, and exit."""
    Console(stderr=True, soft_wrap=True).print(sentence, markup=False, highlight=False)
    raise typer.Exit(code) from None


def _quietly(builder: SparkSession.Builder) -> SparkSession:
    """Start Spark; the output of its JVM is printed only if the start fails."""
    with TemporaryDirectory(prefix="eventtide-", ignore_cleanup_errors=True) as folder:
        log = Path(folder, "spark.log")
        try:
            with stderr_to(log):
                spark = builder.getOrCreate()
        except Exception:
            sys.stderr.write(log.read_text(encoding="utf-8", errors="replace"))
            raise
    spark.sparkContext.setLogLevel("OFF")
    return spark
