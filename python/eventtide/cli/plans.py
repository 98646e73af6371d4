"""A plan that is named on the command line."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import typer
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from eventtide.windows.builder import WindowBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

__all__ = ["check_name", "load_plan", "text_of"]

_ALLOWED = "module:name of a DataFrame, a window, or a function of the session that returns one"


def check_name(name: str | None) -> str | None:
    """Return the name of a plan, if it has the form of one."""
    if name is not None and not all(name.partition(":")):
        raise typer.BadParameter(f"{name!r} is none. Allowed is {_ALLOWED}.")
    return name


def text_of(error: Exception) -> str:
    """Return what an error says; one of the JVM says more than the call that it ended."""
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else str(java.toString())


def load_plan(name: str, spark: SparkSession) -> DataFrame | WindowBuilder:
    """Return what ``module:name`` stands for, looked for from the folder at hand on.

    The module is imported, so that it must start nothing by that.

    Raises
    ------
    typer.BadParameter
        There is no such module or name, it is no plan, or the function has failed.
    """
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")  # and it stays: a function may import too
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError) as missing:
        raise typer.BadParameter(f"--plan is {name!r}: {missing}. Allowed is {_ALLOWED}.") from None
    plan = _made(name, found, spark) if callable(found) else found
    if not isinstance(plan, DataFrame | WindowBuilder):
        kind = type(plan).__name__
        raise typer.BadParameter(f"--plan is {name!r}, of type {kind}. Allowed is {_ALLOWED}.")
    return plan


def _made(name: str, function: Callable[[SparkSession], object], spark: SparkSession) -> object:
    try:
        return function(spark)
    except Exception as error:  # noqa: BLE001 - whatever code of the user's raises
        what = f"{type(error).__name__}: {text_of(error)}".partition("\n")[0]
        hint = " What it reads has to be there for this command, too."
        fix = hint if isinstance(error, AnalysisException) else ""
        raise typer.BadParameter(f"--plan is {name!r}, which fails: {what}.{fix}") from None
