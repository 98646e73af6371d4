"""The wheel holds what users and clusters need, and says so in its metadata."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
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
    """The test environment has what each extra brings, in the same range; `all` is all of them."""
    extras = dict(pyproject["project"]["optional-dependencies"])
    assert extras.pop("all") == [f"eventtide[{','.join(sorted(extras))}]"]
    groups = pyproject["dependency-groups"]
    installed = {*groups["test"], *(line for line in groups["dev"] if isinstance(line, str))}
    assert {line for extra in extras.values() for line in extra} <= installed


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone without jars, of just the files that a build reads."""
    folder = tmp_path / "clone"
    (folder / "project").mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for file in (*(ROOT / "project").glob("hatch_*.py"), ROOT / "project" / "addresses.toml"):
        shutil.copy(file, folder / "project")
    shutil.copy(ROOT / "project" / "SparkVersions.scala", folder / "project")
    package = folder / "python" / "eventtide"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    shutil.copy(ROOT / "python" / "_eventtide_pytest.py", package.parent)
    return folder


def hatchling(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the build backend in a folder, by default without bash and Java."""
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", "hatchling", *arguments],
        cwd=folder,
        env={"PATH": "", **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("target", ["sdist", "wheel"])
def test_build_without_jars_is_refused(clone: Path, wheel: Distribution, target: str) -> None:
    """One sentence says what to run; nothing is built, although bash is there."""
    (clone / "dev").mkdir()
    (clone / "dev" / "jars").write_text("exit 3\n")

    built = hatchling(clone, "build", "-t", target, PATH=os.environ["PATH"])

    names = ", ".join(f"eventtide-spark-{minor}_2.13-{wheel.version}.jar" for minor in MINORS)
    assert built.returncode != 0
    assert built.stderr.strip() == (
        f"python/eventtide/jars must hold {names}: run dev/wheel, which builds the jars and the "
        "wheel, or set EVENTTIDE_BUILD_JARS=1 to build the jars here (needs bash, a JDK and a "
        "network)."
    )


def test_jars_are_built_when_that_is_asked_for(clone: Path, wheel: Distribution) -> None:
    """The build runs dev/jars, and takes what it has written."""
    lines = ["mkdir -p python/eventtide/jars"]
    for minor in MINORS:
        name = f"eventtide-spark-{minor}_2.13-{wheel.version}.jar"
        lines.append(f"echo {minor} >python/eventtide/jars/{name}")
    (clone / "dev").mkdir()
    (clone / "dev" / "jars").write_text("\n".join(lines))

    built = hatchling(
        clone, "build", "-t", "wheel", PATH=os.environ["PATH"], EVENTTIDE_BUILD_JARS="1"
    )

    assert built.returncode == 0, built.stderr
    with ZipFile(next((clone / "dist").glob("*.whl"))) as file:
        assert sum(name.endswith(".jar") for name in file.namelist()) == len(MINORS)


def test_sdist_carries_the_jars_so_that_its_wheel_needs_no_build(
    tmp_path: Path, wheel: Distribution
) -> None:
    """Without bash and Java on the path a wheel of the sdist is made, and installs as it is."""
    made = hatchling(ROOT, "build", "-t", "sdist", "-d", str(tmp_path))
    assert made.returncode == 0, made.stderr
    [sdist] = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(tmp_path, filter="data")
    assert {"build.sbt", "dev/jars", "project/addresses.toml", "THIRD_PARTY.md"} <= names
    assert any(name.startswith("jvm/kernel/src/main/") for name in names)
    assert not any("/target/" in name or "__pycache__" in name for name in names)

    built = hatchling(sdist.with_suffix("").with_suffix(""), "build", "-t", "wheel")
    assert built.returncode == 0, built.stderr
    [again] = (tmp_path / sdist.name.removesuffix(".tar.gz") / "dist").glob("*.whl")
    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(bare / "bin" / "python")]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", str(again)], check=True)  # noqa: S603
    installed = {path.name for path in bare.rglob("eventtide/jars/*.jar")}
    assert installed == set(jars(wheel))


def test_addresses_are_empty_or_links(tmp_path: Path) -> None:
    """Metadata have the addresses that there are, and no others."""
    known = tomli.loads((ROOT / "project" / "addresses.toml").read_text("utf-8"))
    assert list(known) == ["home", "docs", "source", "issues", "security"]
    assert all(not address or address.startswith("https://") for address in known.values())
    file = tmp_path / "addresses.toml"
    file.write_text('home = "https://example.invalid/"\ndocs = ""\n', encoding="utf-8")

    printed = hatchling(ROOT, "metadata", EVENTTIDE_ADDRESSES=str(file))

    assert json.loads(printed.stdout)["urls"] == {"Homepage": "https://example.invalid/"}
    file.write_text('home = ""\n', encoding="utf-8")
    printed = hatchling(ROOT, "metadata", EVENTTIDE_ADDRESSES=str(file))
    assert "urls" not in json.loads(printed.stdout)
