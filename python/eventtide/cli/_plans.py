"""The plan of the command-line option ``--plan``."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from typing import TYPE_CHECKING

import typer
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from eventtide._jvm import text_of
from eventtide.windows._builder import WindowBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

__all__ = ["check_name", "load_plan"]

_ALLOWED = "module:name of a DataFrame, a window, or a function of the session that returns one"


def check_name(name: str | None) -> str | None:
    """Return the name of a plan after a check of its form."""
    if name is not None and re.fullmatch(r"[\w-]+(\.[\w-]+)*:\w+", name) is None:
        raise typer.BadParameter(f"{name!r} names no plan. Allowed is {_ALLOWED}.")
    return name


def load_plan(name: str, spark: SparkSession) -> DataFrame | WindowBuilder:
    """Return the plan of ``module:name``; the current folder is searched first.

    The module is imported, so its import must not start a query.

    Raises
    ------
    typer.BadParameter
        The module or name does not exist, is not a plan, or the function has failed.
    """
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")  # not removed, because a function may import too
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise typer.BadParameter(f"--plan is {name!r}: {missing}. Allowed is {_ALLOWED}.") from None
    except Exception as error:  # noqa: BLE001 - any error of user code
        raise _failed(name, "whose module fails when it is imported", error) from None
    if not hasattr(imported, attribute):
        there = f"--plan is {name!r}, but {module} has no {attribute!r}"
        raise typer.BadParameter(f"{there}. Allowed is {_ALLOWED}.")
    found = getattr(imported, attribute)
    plan = _made(name, found, spark) if callable(found) else found
    if not isinstance(plan, DataFrame | WindowBuilder):
        kind = type(plan).__name__
        raise typer.BadParameter(f"--plan is {name!r}, of type {kind}. Allowed is {_ALLOWED}.")
    return plan


def _made(name: str, function: Callable[[SparkSession], object], spark: SparkSession) -> object:
    try:
        return function(spark)
    except Exception as error:  # noqa: BLE001 - any error of user code
        raise _failed(name, "which fails", error) from None


def _failed(name: str, what: str, error: Exception) -> typer.BadParameter:
    """Return the error for a plan whose user code has failed, with the place of the failure."""
    said = f"{type(error).__name__}: {text_of(error)}".partition("\n")[0]
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    where = f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
    hint = " The data that it reads must exist for this command, too."
    fix = hint if isinstance(error, AnalysisException) else ""
    return typer.BadParameter(f"--plan is {name!r}, {what}: {said}{where}.{fix}")


def _is_own(file: str) -> bool:
    """Return whether a file is user code, not library code."""
    libraries = ("site-packages", "dist-packages", "importlib", "<frozen")
    return not any(part in file for part in libraries)
