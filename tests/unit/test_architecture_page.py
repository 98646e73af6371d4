"""The diagrams of docs/architecture.md: the packages that exist, and the rules between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import tomli

from tests.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
KERNEL = ROOT / "jvm/kernel/src/main/scala/io/eventtide/kernel"
SPARK = ROOT / "jvm/spark/src/main/scala/io/eventtide/spark"
SUITE = ROOT / "jvm/spark/src/test/scala/io/eventtide/spark/ArchitectureSuite.scala"
DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
NODE = r'(\w+)(?:\["([^"]*)"\])?'
ARROW = re.compile(rf"^ *{NODE} --> {NODE}$", flags=re.MULTILINE)


def diagram(of: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return the arrows of the diagram behind a mark, each between two sets of packages."""
    found = DIAGRAM.search(PAGE, PAGE.index(f"<!-- packages: {of} -->"))
    assert found, of
    labels: dict[str, str] = {}
    arrows = []
    for start, start_label, end, end_label in ARROW.findall(found[1]):
        labels |= {key: label for key, label in [(start, start_label), (end, end_label)] if label}
        arrows.append((labels.get(start, start), labels.get(end, end)))
    assert len(arrows) == found[1].count("-->"), "an arrow that this test does not read"
    return [(frozenset(a.split(" | ")), frozenset(b.split(" | "))) for a, b in arrows]


def layers(of: str) -> list[frozenset[str]]:
    """Return the layers of a diagram that is one chain, from top to bottom."""
    arrows = diagram(of)
    chain = [arrows[0][0], *(lower for _, lower in arrows)]
    assert [upper for upper, _ in arrows] == chain[:-1], "the arrows are not one chain"
    return chain


def scala_packages(root: Path) -> set[str]:
    """Return the packages below a folder that have files, with dots."""
    return {
        ".".join(file.parent.relative_to(root).parts)
        for file in root.rglob("*.scala")
        if file.parent != root
    }


def test_the_layers_of_python_are_the_packages_and_the_rules() -> None:
    """Of the folder, and of import-linter."""
    rules = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in rules["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    shown = layers("python/eventtide")
    assert shown == [frozenset(layer.split(" | ")) for layer in contract["layers"]]
    package = ROOT / "python/eventtide"
    modules = {path.stem for path in package.glob("*.py")}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert frozenset().union(*shown) == modules - {"__init__"}


def test_the_layers_of_spark_are_the_packages_and_the_rules() -> None:
    """Of the folder, and of ArchUnit."""
    declared = SUITE.read_text(encoding="utf-8").partition("val Layers = Seq(")[2]
    rules = re.findall(r'"[^"]*" -> Seq\(([^)]*)\)', declared)
    shown = layers("jvm/spark")
    assert shown == [frozenset(re.findall(r'"([^"]+)"', layer)) for layer in rules]
    assert frozenset().union(*shown) == scala_packages(SPARK)


def test_the_arrows_of_the_kernel_are_its_imports() -> None:
    """ArchUnit only forbids cycles there, so the arrows are compared with the sources."""
    packages = scala_packages(KERNEL)
    used = {
        (package, other)
        for package in packages
        for file in (KERNEL / package).rglob("*.scala")
        for other in re.findall(r"io\.eventtide\.kernel\.(\w+)", file.read_text(encoding="utf-8"))
        if other in packages - {package}
    }
    shown = {(*upper, *lower) for upper, lower in diagram("jvm/kernel")}
    assert shown == used
    assert {name for arrow in shown for name in arrow} == packages


@pytest.mark.parametrize("suffix", ["scala", "py"])
def test_files_in_diagrams_exist(suffix: str) -> None:
    """The pages' own test reads prose only."""
    named = {
        name for text in DIAGRAM.findall(PAGE) for name in re.findall(rf"\b\w+\.{suffix}\b", text)
    }
    sources = [*(ROOT / "jvm").rglob(f"*.{suffix}"), *(ROOT / "python").rglob(f"*.{suffix}")]
    assert named
    assert named - {path.name for path in sources} == set()
