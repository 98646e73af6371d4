"""The package as a whole: its names, its types, its examples."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import eventtide
import pytest
from eventtide import errors, policies, storm, testing, voltsp, windows

MODULES = sorted(module.name for module in pkgutil.walk_packages(eventtide.__path__, "eventtide."))
API = Path(__file__).parents[1] / "typing" / "api.py"


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    """Every example in a docstring does what it says."""
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF)
    assert failed == 0


@pytest.mark.parametrize("name", eventtide.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    """With the version that added it; plain values have no docstring of their own."""
    thing = getattr(eventtide, name)
    if callable(thing) and name != "Duration":
        assert ".. versionadded:: 0.1" in str(thing.__doc__)


def test_public_methods_are_documented() -> None:
    """Each method and property of a public class, inherited ones of ours too.

    Ruff takes modules with an underscore for private, so that it does not ask for these.
    """
    classes = {
        thing
        for module in (eventtide, errors, policies, storm, testing, voltsp, windows)
        for name in module.__all__
        if inspect.isclass(thing := getattr(module, name))
    }
    bare = {
        f"{thing.__name__}.{name}"
        for thing in classes
        for name, member in inspect.getmembers(thing)
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, (property, cached_property)))
        and str(getattr(member, "__module__", "eventtide") or "").startswith("eventtide")
        and not member.__doc__
    }
    assert bare == set()


def test_nothing_but_the_public_names_is_offered() -> None:
    """A star import gives what `__all__` says, sorted, each once."""
    assert sorted(set(eventtide.__all__)) == sorted(eventtide.__all__)
    shadowed = {name for name in eventtide.__all__ if f"eventtide.{name}" in MODULES}
    assert shadowed == set()


def test_the_version_is_that_of_the_package() -> None:
    """It has one source."""
    assert eventtide.__version__ == version("eventtide")


def test_types_are_for_users_too() -> None:
    """Type checkers read the annotations of a package with this file."""
    assert (files("eventtide") / "py.typed").is_file()


def test_a_type_checker_infers_what_users_expect() -> None:
    """`tests/typing/api.py` uses the package as its users do."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(API)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert result.returncode == 0, result.stdout + result.stderr
