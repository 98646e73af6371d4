"""The package as a whole: its names, its types, its examples."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import pydoc
import re
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import eventtide
import pytest
from eventtide import (
    WatermarkPolicies,
    WindowBuilder,
    WindowTrigger,
    errors,
    observe,
    policies,
    storm,
    tables,
    testing,
    voltsp,
    windows,
)
from eventtide.policies import PunctuationPolicies
from eventtide.voltsp import Windows

if TYPE_CHECKING:
    from types import ModuleType

MODULES = sorted(module.name for module in pkgutil.walk_packages(eventtide.__path__, "eventtide."))
PUBLIC = dir(eventtide)
MODULES_OF_NAMES = (eventtide, errors, observe, policies, storm, tables, testing, voltsp, windows)
HIDDEN = {"__version__"}  # help shows it as VERSION


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    """Every example in a docstring does what it says."""
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF)
    assert failed == 0


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    """Plain values have no docstring of their own."""
    thing = getattr(eventtide, name)
    assert thing.__doc__ or not callable(thing)


def test_public_methods_are_documented() -> None:
    """Each method and property of a public class, inherited ones of ours too.

    Ruff takes modules with an underscore for private, so that it does not ask for these.
    """
    classes = {
        thing
        for module in MODULES_OF_NAMES
        for name in getattr(module, "__all__", PUBLIC)
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


@pytest.mark.parametrize("name", [name for name in dir(WindowBuilder) if name[0] != "_"])
def test_a_method_of_the_builder_has_an_example_and_its_errors(name: str) -> None:
    """`tests/spark/test_docs.py` runs the lines that need a session."""
    member = getattr(WindowBuilder, name)
    doc = inspect.getdoc(member) or ""
    assert "Examples\n--------\n" in doc
    assert "Raises\n------\n" in doc or isinstance(member, property)


REFERENCE = Path(__file__).parents[2] / "docs/reference/api"


@pytest.mark.parametrize("module", MODULES_OF_NAMES)
def test_every_public_name_has_a_place_in_the_reference(module: ModuleType) -> None:
    """And what has a place is public."""
    placed = {
        line.removeprefix("::: ")
        for page in REFERENCE.glob("*.md")
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("::: ")
    }
    things = {id(pkgutil.resolve_name(name)) for name in placed}
    names = set(getattr(module, "__all__", PUBLIC)) - HIDDEN
    public = {name: getattr(module, name) for name in names}
    bare = {name for name, thing in public.items() if id(thing) not in things}
    assert bare - {name for name in bare if inspect.ismodule(public[name])} == set()
    of_module = {name for name in placed if name.rpartition(".")[0] == module.__name__}
    assert {name.rpartition(".")[2] for name in of_module} - names == set()


def test_nothing_but_the_public_names_is_offered() -> None:
    """About thirty functions and classes, and the modules with the others."""
    modules = {name for name in PUBLIC if inspect.ismodule(getattr(eventtide, name))}
    assert modules == {"errors", "observe", "policies", "storm", "tables", "testing", "voltsp"}
    assert len(PUBLIC) - len(modules) <= 37
    names: dict[str, object] = {}
    exec("from eventtide import *", names)  # noqa: S102 - our own package
    loaded = {"cli", "testing", "windows"}  # modules are there as soon as something imports them
    assert {name for name in names if name[0].isalpha()} - loaded == set(PUBLIC) - HIDDEN - loaded


def test_help_fits_on_two_screens() -> None:
    """With every public name, each in its place."""
    text = pydoc.plain(pydoc.render_doc(eventtide))
    assert len(text.splitlines()) <= 2 * 50
    for name in set(PUBLIC) - HIDDEN:
        assert re.search(rf"\b{name}\b", text), name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("StormWindow", "Try: eventtide.storm.StormWindow."),
        ("Window", "Try: eventtide.window."),
        ("CheckpointError", "Try: eventtide.errors.CheckpointError."),
        ("with_watermarks", "Try: eventtide.with_watermark."),
        ("read_stat", "Try: eventtide.read_state."),
        ("TimeConfig", "Try: eventtide.voltsp.TimeConfig."),
        ("PunctuationPolicies", "Try: eventtide.policies.PunctuationPolicies."),
        ("QueryProgress", "Try: eventtide.observe.QueryProgress."),
        ("from_yml", "Try: eventtide.from_yaml."),
    ],
)
def test_a_name_that_is_not_there_is_found_nearby(name: str, hint: str) -> None:
    """Misspelt, or in a module."""
    with pytest.raises(AttributeError, match=f"^eventtide has no {name!r}. {hint}$"):
        getattr(eventtide, name)
    within = hint.removeprefix("Try: eventtide.").removesuffix(".")
    assert attrgetter(within)(eventtide)


def test_a_name_without_a_near_one_is_refused_plainly() -> None:
    """As Python does, so that hasattr and copies work."""
    with pytest.raises(AttributeError, match=r"^eventtide has no '__all__'\.$"):
        getattr(eventtide, "__all__")  # noqa: B009 - a type checker knows that it is not there
    assert not hasattr(eventtide, "xyz")


@pytest.mark.parametrize(
    ("namespace", "name", "hint"),
    [
        (WatermarkPolicies, "fixed_lag", "Try: WatermarkPolicies.with_fixed_lag"),
        (WatermarkPolicies, "with_fixed_lags", "Try: WatermarkPolicies.with_fixed_lag"),
        (WatermarkPolicies, "Storm", "Try: WatermarkPolicies.storm"),
        (PunctuationPolicies, "fixed_lag", "Try: PunctuationPolicies.with_fixed_lag"),
        (WindowTrigger, "onUpdate", "Try: WindowTrigger.on_update"),
        (Windows, "tumbling", "Try: Windows.tumbling_count_window or Windows.tumbling_time"),
        (Windows, "session", "Try: Windows.session_window"),
        (Windows, "xyz", "Known: session_window, sliding_count_window, "),
    ],
)
def test_a_name_that_a_namespace_has_not_is_found_nearby(
    namespace: type, name: str, hint: str
) -> None:
    """Part of a name, or misspelt; otherwise all names are listed."""
    with pytest.raises(AttributeError) as error:
        getattr(namespace, name)
    assert str(error.value).startswith(f"{namespace.__name__} has no {name!r}. {hint}")


def test_the_version_is_that_of_the_package() -> None:
    """It has one source."""
    assert eventtide.__version__ == version("eventtide")


def test_types_are_for_users_too() -> None:
    """Type checkers read the annotations of a package with this file."""
    assert (files("eventtide") / "py.typed").is_file()
