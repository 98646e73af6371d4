"""The wheel holds what users and clusters need, and says so in its metadata."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import tomli
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
MINORS = ("4.1", "4.2", "4.3")


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    """Return the one place that says what the project is."""
    return tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel() -> Distribution:
    """Return the installed wheel."""
    return distribution("eventtide")


def jars(wheel: Distribution) -> dict[str, Path]:
    """Return the jars in the wheel by name."""
    files = wheel.files or []
    return {file.name: Path(str(file.locate())) for file in files if file.suffix == ".jar"}


def test_version_is_that_of_pyproject(wheel: Distribution, pyproject: dict[str, Any]) -> None:
    """The wheel and the build agree on the version."""
    assert wheel.version == pyproject["project"]["version"]


def test_wheel_fits_every_platform(wheel: Distribution) -> None:
    """Jars and Python files need no compiled part."""
    text = wheel.read_text("WHEEL") or ""
    assert "Tag: py3-none-any" in text
    assert "Root-Is-Purelib: true" in text


def test_only_the_supported_pyspark_is_required(wheel: Distribution) -> None:
    """Nothing but PySpark comes along, in the range that has jars."""
    required = [Requirement(line) for line in wheel.requires or []]
    [pyspark] = [r for r in required if r.marker is None]
    assert pyspark.name == "pyspark"
    assert pyspark.specifier == SpecifierSet(">=4.1,<4.4")
    assert [minor for minor in MINORS if pyspark.specifier.contains(f"{minor}.0")] == list(MINORS)


def test_metadata_names_the_pythons_and_the_licence(wheel: Distribution) -> None:
    """Package indexes show the right Pythons and the licence."""
    metadata = wheel.metadata
    classifiers = metadata.get_all("Classifier") or []
    pythons = {c.removeprefix("Programming Language :: Python :: 3.") for c in classifiers}
    assert metadata["Requires-Python"] == ">=3.10"
    assert {"10", "11", "12", "13"} <= pythons
    assert metadata["License-Expression"] == "Apache-2.0"


def test_types_are_published(wheel: Distribution) -> None:
    """Type checkers read our annotations only beside this marker."""
    assert "eventtide/py.typed" in {str(file) for file in wheel.files or []}


def test_one_jar_for_each_spark_minor(wheel: Distribution) -> None:
    """The wheel holds the jars of this version and no other file of that kind."""
    expected = {f"eventtide-spark-{minor}_2.13-{wheel.version}.jar" for minor in MINORS}
    assert set(jars(wheel)) == expected


@pytest.mark.parametrize("minor", MINORS)
def test_jar_holds_kernel_and_plugin_and_knows_its_version(wheel: Distribution, minor: str) -> None:
    """One jar is enough for a cluster, and it can say what it was built for."""
    with ZipFile(jars(wheel)[f"eventtide-spark-{minor}_2.13-{wheel.version}.jar"]) as jar:
        names = jar.namelist()
        properties = jar.read("eventtide.properties").decode()
    assert any(name.startswith("io/eventtide/kernel/") for name in names)
    assert any(name.startswith("io/eventtide/spark/") for name in names)
    assert not any(name.startswith("scala/") for name in names)
    links = dict(link.split(", ", 1) for link in wheel.metadata.get_all("Project-URL") or [])
    docs = links.get("Documentation", "")
    minors = ", ".join(sorted(name.split("-")[2].split("_")[0] for name in jars(wheel)))
    assert properties.splitlines() == [
        f"version={wheel.version}",
        f"sparkMinor={minor}",
        f"sparkMinors={minors}",
        f"docs={docs}",
    ]


def test_dev_group_repeats_every_extra(pyproject: dict[str, Any]) -> None:
    """The test environment has what each extra brings, in the same range."""
    extras = pyproject["project"]["optional-dependencies"].values()
    assert {line for extra in extras for line in extra} <= set(
        pyproject["dependency-groups"]["dev"]
    )


def test_wheel_without_jars_is_refused(tmp_path: Path, wheel: Distribution) -> None:
    """One sentence says what to run where the jars can neither be found nor built."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("hatch_jars.py", "SparkVersions.scala"):
        (tmp_path / "project").mkdir(exist_ok=True)
        shutil.copy(ROOT / "project" / name, tmp_path / "project")
    package = tmp_path / "python" / "eventtide"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()

    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode != 0
    assert built.stderr.strip() == (
        "The wheel needs exactly these files in python/eventtide/jars, so run dev/wheel first, "
        "which builds them: "
        + ", ".join(f"eventtide-spark-{minor}_2.13-{wheel.version}.jar" for minor in MINORS)
        + "."
    )
